#include "tests/sim/agent.h"

#include <algorithm>

#include "schemas/summary.h"

namespace epilogue::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = FinalMessageReply::Kind;

Result<std::string> SimFinalMessageSource::server_of(const ConversationId& conversation_id) {
    return std::string(lock_key('a', conversation_id) % 2 == 0 ? "one" : "another");
}

FinalMessageReply SimFinalMessageSource::ask(const FinalMessageQuery& query, milliseconds within,
                                             const std::stop_token&) {
    Schedule& schedule = process_.schedule();
    Faults& faults = schedule.faults;
    process_.pass(Point::agent_asked);
    if (faults.strikes(Fault::agent_away)) return {Kind::unreachable, "", "away"};
    if (faults.strikes(Fault::agent_hangs)) {
        process_.wait(within);
        return {Kind::late, "", "no answer"};
    }
    process_.wait(
        std::min(Micros(within), schedule.random.between(Micros(milliseconds{5}), Micros(seconds{3}))));
    if (faults.strikes(Fault::agent_refuses)) return {Kind::refused, "", "401"};
    if (faults.strikes(Fault::agent_went_on)) return {Kind::not_confirmed, "", "its log goes on"};
    process_.pass(Point::agent_answered);
    const auto known = summary_from_json(database_.summaries.at(query.turn).body);
    return {Kind::confirmed, known->final_message + fmt::format(" (said at {} us)", schedule.now().count()),
            "", "final"};
}

}  // namespace epilogue::sim
