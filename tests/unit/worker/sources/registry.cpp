#define BOOST_TEST_MODULE summary_registry
#include "worker/sources/registry.h"

#include <map>

#include <boost/test/unit_test.hpp>

#include "worker/sources/asking_sources.h"

using namespace epilogue;
using namespace std::chrono_literals;
using Kind = FinalMessageReply::Kind;

namespace {

/// Replies as it was told, and counts the questions.
class Told final : public FinalMessageSource {
  public:
    Told(FinalMessageReply reply, std::string server, int& asked)
        : reply_(std::move(reply)), server_(std::move(server)), asked_(asked) {}

    Result<std::string> server_of(const ConversationId&) override { return server_; }
    FinalMessageReply ask(const FinalMessageQuery&, std::chrono::milliseconds,
                          const std::stop_token&) override {
        ++asked_;
        return reply_;
    }

  private:
    const FinalMessageReply reply_;
    const std::string server_;
    int& asked_;
};

/// Notes how long it may take.
class Timed final : public FinalMessageSource {
  public:
    Timed(FinalMessageReply reply, std::vector<std::chrono::milliseconds>& shares)
        : reply_(std::move(reply)), shares_(shares) {}

    Result<std::string> server_of(const ConversationId&) override { return std::string(); }
    FinalMessageReply ask(const FinalMessageQuery&, std::chrono::milliseconds within,
                          const std::stop_token&) override {
        shares_.push_back(within);
        return reply_;
    }

  private:
    const FinalMessageReply reply_;
    std::vector<std::chrono::milliseconds>& shares_;
};

/// Two sources that ask, with one between them that does not: "one", "facts", "two".
struct Asked {
    int one = 0;
    int two = 0;
    FinalMessageReply reply;
};

Asked asked(const FinalMessageReply& one, const FinalMessageReply& two, const std::string& made_by,
            std::chrono::milliseconds within = 10s) {
    Asked result;
    std::vector<AskingSources::Entry> entries;
    entries.push_back({"one", std::make_unique<Told>(one, "", result.one)});
    entries.push_back({"facts", nullptr});
    entries.push_back({"two", std::make_unique<Told>(two, "http://two", result.two)});
    AskingSources sources(std::move(entries));
    BOOST_TEST(sources.server_of(ConversationId("c1")).value() == "http://two");
    result.reply = sources.ask({{ConversationId("c1"), TurnKey("u1")}, "s1", true, made_by}, within, {});
    return result;
}

const FinalMessageReply refused{Kind::refused, "", "401"};
const FinalMessageReply silent{Kind::confirmed, " \n", ""};
const FinalMessageReply with_words{Kind::confirmed, "All done.", ""};

}  // namespace

BOOST_AUTO_TEST_CASE(every_source_has_a_name_of_its_own_and_says_what_its_words_are) {
    std::map<std::string_view, int> names;
    for (const auto* source : summary_source_descriptors()) {
        ++names[source->name];
        BOOST_TEST(!source->doc.empty());
        BOOST_TEST((source->make({}).words_of != nullptr));
    }
    BOOST_TEST(names.size() == summary_source_descriptors().size());
    BOOST_TEST(names.contains("final"));
    BOOST_TEST(names.contains("digest"));
}

BOOST_AUTO_TEST_CASE(the_first_source_with_words_gives_the_reply_and_its_name) {
    const Asked first = asked(with_words, with_words, "two");
    BOOST_TEST(first.reply.source == "one");
    BOOST_TEST(first.two == 0);
    for (const FinalMessageReply& none : {refused, silent}) {
        const Asked second = asked(none, with_words, "two");
        BOOST_TEST(second.one == 1);
        BOOST_TEST(second.reply.source == "two");
        BOOST_TEST(second.reply.words == "All done.");
    }
}

BOOST_AUTO_TEST_CASE(a_source_behind_the_one_that_made_the_summary_is_not_asked) {
    for (const auto* made_by : {"one", "facts"}) {
        const Asked result = asked(refused, with_words, made_by);
        BOOST_TEST(result.two == 0);
        BOOST_TEST((result.reply.kind == Kind::refused));
        BOOST_TEST(result.reply.cause == "401");
    }
}

BOOST_AUTO_TEST_CASE(each_source_that_asks_gets_an_equal_share_of_the_time_that_is_left) {
    std::vector<std::chrono::milliseconds> shares;
    std::vector<std::string> results;
    std::vector<AskingSources::Entry> entries;
    entries.push_back({"one", std::make_unique<Timed>(refused, shares)});
    entries.push_back({"two", std::make_unique<Timed>(silent, shares)});
    entries.push_back({"facts", nullptr});
    entries.push_back({"three", std::make_unique<Timed>(with_words, shares)});
    AskingSources sources(std::move(entries), [&](std::string_view source, std::string_view result) {
        results.push_back(std::string(source) + " " + std::string(result));
    });
    sources.ask({{ConversationId("c1"), TurnKey("u1")}, "s1", true, "three"}, 90s, {});
    BOOST_REQUIRE(shares.size() == 3U);
    BOOST_TEST((shares[0] > 25s && shares[0] <= 30s));
    BOOST_TEST((shares[1] > 40s && shares[1] <= 45s));
    BOOST_TEST((shares[2] > 80s && shares[2] <= 90s));
    const std::vector<std::string> told{"one refused", "two silent", "three confirmed"};
    BOOST_TEST(results == told, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(neither_a_stop_nor_the_deadline_lets_the_next_be_asked) {
    const Asked stopped = asked({Kind::stopped, "", ""}, with_words, "two");
    BOOST_TEST(stopped.two == 0);
    BOOST_TEST((stopped.reply.kind == Kind::stopped));
    const Asked late = asked(with_words, with_words, "two", 0ms);
    BOOST_TEST(late.one + late.two == 0);
    BOOST_TEST((late.reply.kind == Kind::late));
}
