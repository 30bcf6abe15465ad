// A conversation's history from its id alone: what each source adds, what is believed, and what is said of a
// source that is not to be had.
#define BOOST_TEST_MODULE history
#include "worker/history/history.h"

#include <boost/test/unit_test.hpp>

#include "tests/unit/worker/core/fold_run.h"
#include "worker/core/conversation_row.h"
#include "worker/history/replayed_log.h"

namespace {

using namespace epilogue;
using namespace std::chrono_literals;

/// One turn that finishes ten seconds after it was opened.
std::vector<Event> turn(const std::string& n, Micros at) {
    return {user_says("u" + n, at), status("r" + n, at + 1s, "running"),
            agent_finishes("f" + n, at + 9s, "Done " + n + "."), status("s" + n, at + 10s, "finished")};
}

std::vector<Event> joined(std::vector<Event> first, const std::vector<Event>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

ServerLog server_log(std::vector<Event> events, const std::string& now = "finished") {
    ServerLog log{std::move(events), now};
    log.title = "Mend it";
    log.created_at = fold_start;
    return log;
}

TopicLog topic_log(const std::vector<Event>& events) {
    TopicLog log;
    log.parts = {{3, 10, 20, 20}};
    for (const Event& event : events) log.entries.push_back({event, *event.timestamp});
    return log;
}

/// What tables keep of a conversation of which these events were applied.
KeptConversation kept(const std::vector<Event>& events) {
    KeptConversation kept;
    FoldRun fold_run;
    fold_run.read(events).settles();
    kept.conversation = fold_run.conversation();
    kept.partition = 3;
    for (const TurnEnd& end : fold_run.ended()) {
        KeptSummary summary;
        summary.turn_key = end.turn_key;
        summary.source = "final";
        summary.summary.headline = "**Finished**";
        summary.summary.final_message = "As posted: " + end.final_message.value_or("");
        summary.status_event = end.status_event;
        kept.summaries.push_back(summary);
        KeptDelivery delivery;
        delivery.id = DeliveryId("d-" + end.turn_key.text());
        delivery.turn_key = end.turn_key;
        delivery.verdict = end.verdict;
        delivery.state = "SENT";
        kept.deliveries.push_back(delivery);
    }
    return kept;
}

template <class T>
auto answering(T answer) {
    return [answer = std::move(answer)](auto&&...) -> SourceAnswer<T> { return answer; };
}
template <class T>
auto failing(SourceState state, const std::string& why) {
    return [state, why](auto&&...) -> SourceAnswer<T> { return tl::unexpected(SourceFault{state, why}); };
}

ConversationHistory told_by(const HistorySources& sources) {
    HistoryRules rules;
    rules.now = [] { return fold_start + 1h; };
    return history_of(ConversationId("c"), sources, rules);
}

std::string keys_of(const ConversationHistory& history) {
    std::string keys;
    for (const HistoryTurn& turn : history.turns) {
        keys += (keys.empty() ? "" : " ") + turn.key.text() + ":" + (turn.is_open ? "open" : "ended") + ":";
        for (const HistorySource source : turn.known_to) keys += name_of(source).front();
    }
    return keys;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_thing_is_of_the_first_source_that_has_it) {
    const auto events = joined(turn("1", 0s), turn("2", 100s));
    const auto history =
        told_by({answering(kept(events)), answering(server_log(events)), answering(topic_log(events))});
    BOOST_TEST(keys_of(history) == "u1:ended:tat u2:ended:tat");
    BOOST_TEST(history.is_known());
    BOOST_TEST(!history.is_incomplete());
    const HistoryTurn& first = history.turns.at(0);
    BOOST_TEST(first.words->value == "As posted: Done 1.");
    BOOST_TEST((first.words->from == HistorySource::tables));
    BOOST_TEST((first.summary->value.state == SummaryState::frozen));
    BOOST_TEST((first.ended_at->value == fold_start + 10s));
    BOOST_TEST((first.ended_at->from == HistorySource::agent_server));
    BOOST_TEST(first.deliveries.size() == 1U);
    BOOST_TEST((history.status->from == HistorySource::tables));
    BOOST_TEST((history.title->from == HistorySource::agent_server));
    BOOST_TEST((history.events.size() == events.size()));
}

BOOST_AUTO_TEST_CASE(a_log_alone_tells_turns_verdicts_words_and_a_summary_made_just_now) {
    auto events = joined(turn("1", 0s), {user_says("u2", 100s), agent_says("m2", 101s, "Which one?"),
                                         status("s2", 102s, "finished")});
    events = joined(events, {user_says("u3", 200s), status("s3", 201s, "running"),
                             status("e3", 202s, "error"), error_detail("d3", 202s, "LLMError", "no answer"),
                             user_says("u4", 300s), status("s4", 301s, "running")});
    const std::vector<HistorySources> alone{{failing<KeptConversation>(SourceState::unavailable, "down"),
                                             answering(server_log(events, "running")), nullptr},
                                            {nullptr, nullptr, answering(topic_log(events))}};
    for (const HistorySources& sources : alone) {
        const auto history = told_by(sources);
        const std::string letter = sources.topic ? "t" : "a";
        BOOST_TEST(keys_of(history) == "u1:ended:" + letter + " u2:ended:" + letter + " u3:ended:" + letter +
                                           " u4:open:" + letter);
        BOOST_TEST((history.turns.at(1).verdict->value == Verdict::awaiting_user_input));
        BOOST_TEST(history.turns.at(1).words->value == "Which one?");
        BOOST_TEST(history.turns.at(2).reason->value.code == "LLMError");
        BOOST_TEST((history.turns.at(2).summary->value.state == SummaryState::made));
        BOOST_TEST((history.turns.at(2).summary->value.summary.headline.find("Ended with an error") !=
                    std::string::npos));
        BOOST_TEST(!history.turns.at(3).summary.has_value());
        BOOST_TEST((history.turns.at(3).opened_at->value == fold_start + 300s));
    }
}

BOOST_AUTO_TEST_CASE(what_a_source_did_not_see_opening_is_the_same_turn) {
    const auto whole = turn("1", 0s);
    const std::vector<Event> tail(whole.begin() + 1, whole.end());
    // Ended: known by the status that ended it. Open: the newest there is.
    BOOST_TEST(keys_of(told_by({answering(kept(tail)), answering(server_log(whole)), nullptr})) ==
               "start:ended:ta");
    const std::vector<Event> open(whole.begin(), whole.begin() + 3);
    const std::vector<Event> open_tail(whole.begin() + 1, whole.begin() + 3);
    BOOST_TEST(keys_of(told_by({answering(kept(open_tail)), answering(server_log(open, "running")),
                                nullptr})) == "start:open:ta");
    BOOST_TEST(keys_of(told_by({answering(kept(open_tail)), answering(server_log(whole)), nullptr})) ==
               "start:ended:ta");
}

BOOST_AUTO_TEST_CASE(a_notice_stands_with_the_turn_that_it_is_of) {
    KeptConversation tables = kept(turn("1", 0s));
    KeptSummary summary;
    summary.turn_key = TurnKey("notice:w1");
    summary.summary.about.turn = "u1";
    summary.summary.about.verdict = "waiting_for_confirmation";
    tables.summaries.insert(tables.summaries.begin(), summary);
    KeptDelivery delivery;
    delivery.turn_key = TurnKey("notice:w1");
    delivery.verdict = Verdict::waiting_for_confirmation;
    tables.deliveries.insert(tables.deliveries.begin(), delivery);
    HistorySources sources;
    sources.tables = answering(tables);
    const ConversationHistory history = told_by(sources);
    BOOST_REQUIRE(history.turns.size() == 1U);
    BOOST_TEST(history.turns[0].key == "u1");
    BOOST_TEST(history.turns[0].deliveries.size() == 2U);
    BOOST_TEST(name_of(history.turns[0].verdict->value) == "finished");
    BOOST_TEST(history.turns[0].summary->value.summary.headline == "**Finished**");
}

BOOST_AUTO_TEST_CASE(turns_stand_in_the_order_of_the_most_complete_log) {
    // What the tables alone still know stands before what they know with others; clocks do not count.
    KeptConversation tables;
    for (const char* key : {"u0", "u2"}) {
        KeptDelivery& delivery = tables.deliveries.emplace_back();
        delivery.turn_key = TurnKey(key);
        delivery.created_at = fold_start + 1000h;
    }
    const auto all = joined(turn("1", 0s), turn("2", 100s));
    BOOST_TEST(keys_of(told_by({answering(tables), answering(server_log(all)), nullptr})) ==
               "u0:ended:t u1:ended:a u2:ended:ta");
    BOOST_TEST(keys_of(told_by({answering(tables), nullptr, answering(topic_log(turn("1", 0s)))})) ==
               "u0:ended:t u2:ended:t u1:ended:t");
    // A summary without a delivery has its place by when it was made.
    KeptSummary& summary = tables.summaries.emplace_back();
    summary.turn_key = TurnKey("u-1");
    summary.created_at = fold_start;
    BOOST_TEST(keys_of(told_by({answering(tables), nullptr, nullptr})) ==
               "u-1:ended:t u0:ended:t u2:ended:t");
}

BOOST_AUTO_TEST_CASE(what_the_tables_have_lost_comes_from_the_logs) {
    const auto all = joined(turn("1", 0s), turn("2", 100s));
    const auto history = told_by({answering(kept(turn("1", 0s))), answering(server_log(all)),
                                  failing<TopicLog>(SourceState::unavailable, "no broker")});
    BOOST_TEST(keys_of(history) == "u1:ended:ta u2:ended:a");
    BOOST_TEST((history.turns.at(1).words->from == HistorySource::agent_server));
    BOOST_TEST(history.is_incomplete());
    BOOST_TEST((history.sources.at(2).state == SourceState::unavailable));
    BOOST_TEST(history.sources.at(2).why == "no broker");
}

BOOST_AUTO_TEST_CASE(a_finished_that_may_be_taken_back_has_not_ended_its_turn) {
    TopicLog cut = topic_log(turn("1", 0s));
    cut.cut = "read for 1 s only";
    cut.parts.front().to = 15;
    const auto history = told_by({nullptr, nullptr, answering(cut)});
    BOOST_TEST(keys_of(history) == "u1:open:t");
    BOOST_TEST(history.is_incomplete());
    // The server does not confirm it: something is on its way.
    BOOST_TEST(keys_of(told_by({nullptr, answering(server_log(turn("1", 0s), "running")), nullptr})) ==
               "u1:open:a");
}

BOOST_AUTO_TEST_CASE(nobody_knows_it) {
    const auto unknown =
        told_by({failing<KeptConversation>(SourceState::unknown, "no table has it"),
                 failing<ServerLog>(SourceState::not_asked, "no agent server is known of it"),
                 answering(TopicLog{})});
    BOOST_TEST(!unknown.is_known());
    BOOST_TEST(!unknown.is_incomplete());
    BOOST_TEST((unknown.sources.at(2).state == SourceState::unknown));
    BOOST_TEST(unknown.turns.empty());
}

BOOST_AUTO_TEST_CASE(the_topic_is_read_from_where_the_conversation_can_have_begun) {
    TopicHint asked;
    HistorySources sources{answering(kept(turn("1", 0s))), answering(server_log(turn("1", 0s))),
                           [&](auto&&, const TopicHint& hint) -> SourceAnswer<TopicLog> {
                               asked = hint;
                               return TopicLog{};
                           }};
    told_by(sources);
    BOOST_TEST((asked.since == fold_start - 10min));
    BOOST_TEST((asked.partition == 3));
    KeptConversation registered;
    registered.callbacks.push_back({{7}, "ACTIVE", "watching", "log", "", fold_start + 48h});
    sources.tables = answering(registered);
    sources.agent_server = nullptr;
    told_by(sources);
    BOOST_TEST((asked.since == fold_start + 24h));
    sources.tables = nullptr;
    told_by(sources);
    BOOST_TEST(!asked.since.has_value());
    BOOST_TEST(!asked.partition.has_value());
}

BOOST_AUTO_TEST_CASE(secrets_are_taken_out_of_what_others_wrote) {
    const std::string secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    ServerLog log = server_log({user_says("u1", 0s), agent_says("m1", 1s, "The key is " + secret),
                                status("s1", 2s, "error"), error_detail("e1", 2s, "LLMError", secret)},
                               "error");
    log.title = "Use " + secret;
    KeptConversation tables;
    tables.callbacks.push_back({{7}, "ERROR", "error", "log", "refused: " + secret, std::nullopt});
    const auto history = told_by({answering(tables), answering(log), nullptr});
    BOOST_TEST(history.title->value.find(secret) == std::string::npos);
    BOOST_TEST(history.callbacks.at(0).reason.find(secret) == std::string::npos);
    BOOST_TEST(history.turns.at(0).reason->value.detail.find(secret) == std::string::npos);
}
