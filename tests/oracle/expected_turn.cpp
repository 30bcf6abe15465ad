#include "tests/oracle/expected_turn.h"

namespace epilogue::testing {

std::vector<ExpectedTurn> reported_turns(const std::vector<ExpectedTurn>& triggering, std::string_view mode) {
    std::vector<ExpectedTurn> reported;
    for (const ExpectedTurn& turn : triggering) {
        reported.push_back(turn);
        const bool goes_on =
            mode == "every_turn" || (mode == "until_done" && turn.verdict == Verdict::awaiting_user_input);
        if (!goes_on) break;
    }
    return reported;
}

std::string headline_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::finished:
            return "**Finished**";
        case Verdict::awaiting_user_input:
            return "**Waiting for you**";
        case Verdict::error:
            return "**Ended with an error**";
        case Verdict::stuck:
            return "**Got stuck**";
        case Verdict::rejected:
            return "**Rejected**";
        case Verdict::stopped:
            return "**Stopped**";
        case Verdict::timeout:
            return "**No sign of life**";
        case Verdict::waiting_for_confirmation:
        case Verdict::paused:
            break;  // they end no turn
    }
    return "";
}

}  // namespace epilogue::testing
