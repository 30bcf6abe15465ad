#define BOOST_TEST_MODULE summariser
#include "worker/agents/summariser.h"

#include <boost/test/unit_test.hpp>

#include "schemas/summary.h"
#include "worker/core/conversation.h"
#include "worker/store/freeze.h"
#include "worker/store/summary_rows.h"

namespace {

using namespace epilogue;
using namespace std::chrono_literals;
using Kind = FinalMessageReply::Kind;

SummaryRow row_with(const std::string& words) {
    SummaryRow row{ConversationId("c1"), TurnKey("u1"), words.empty() ? "digest" : "final",
                   to_json(Summary{"**Finished**", words, "- Changed: `a.py`", ""})};
    row.owed = true;
    return row;
}

Summary summary_in(const SummaryRow& row) {
    return summary_from_json(row.body).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_confirmed_ends_words_take_the_place_of_the_logs) {
    const SummaryRow row = with_words_of({Kind::confirmed, "All done.", "", "final"}, row_with("")).value();
    BOOST_TEST(row.source == "final");
    BOOST_TEST((summary_in(row) == Summary{"**Finished**", "All done.", "- Changed: `a.py`", ""}));
}

BOOST_AUTO_TEST_CASE(without_a_confirmation_or_words_the_logs_own_stay) {
    for (const FinalMessageReply& reply :
         {FinalMessageReply{Kind::confirmed, "", ""}, FinalMessageReply{Kind::confirmed, " \n", ""},
          FinalMessageReply{Kind::not_confirmed, "x", ""}, FinalMessageReply{Kind::refused, "x", ""},
          FinalMessageReply{Kind::unreachable, "x", ""}, FinalMessageReply{Kind::late, "x", ""}}) {
        BOOST_TEST(with_words_of(reply, row_with("mine")).value().body == row_with("mine").body);
        BOOST_TEST(with_words_of(reply, row_with("")).value().source == "digest");
    }
}

BOOST_AUTO_TEST_CASE(a_servers_words_lose_their_secrets_and_are_bounded) {
    const std::string secret = "ghp_0123456789abcdef0123456789abcdef0123";
    const auto redacted =
        with_words_of({Kind::confirmed, "The token is " + secret, ""}, row_with("")).value();
    BOOST_TEST(redacted.body.find(secret) == std::string::npos);
    const auto cut = with_words_of({Kind::confirmed, std::string(1'000'000, 'x'), ""}, row_with("")).value();
    BOOST_TEST(summary_in(cut).final_message.size() <= max_final_bytes);
}

BOOST_AUTO_TEST_CASE(words_lack_when_there_are_none_or_when_they_may_have_been_cut) {
    BOOST_TEST(lacks_words(row_with("")));
    BOOST_TEST(!lacks_words(row_with("some")));
    BOOST_TEST(!lacks_words(row_with(std::string(max_message_bytes - 100, 'x'))));
    BOOST_TEST(lacks_words(row_with(std::string(max_message_bytes, 'x'))));
    BOOST_TEST(lacks_words(row_with(std::string(max_message_bytes - 3, 'x'))));
    BOOST_TEST(lacks_words(row_with("some\n\n… (74 more characters)")));
}

BOOST_AUTO_TEST_CASE(a_post_that_waited_for_its_summary_is_not_overdue_but_one_that_was_late_before_is) {
    const Instant now{100h};
    SummaryRow row = row_with("");
    row.created_at = now - 10min;
    BOOST_TEST((due_since(row, now) == now));
    row.ended_at = row.created_at - 59s;
    BOOST_TEST((due_since(row, now) == now));
    row.ended_at = row.created_at - 61s;
    BOOST_TEST((due_since(row, now) == *row.ended_at));
}
