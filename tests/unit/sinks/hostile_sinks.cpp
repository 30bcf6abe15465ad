// What every sink of the registry sends of a hostile text, judged by the rules of where it is read. A new
// sink fails here until it has a place.
#define BOOST_TEST_MODULE hostile_sinks
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/io/http.h"
#include "base/mail_server.h"
#include "base/text.h"
#include "ops/fake_platform/fake_platform_server.h"
#include "sinks/email/email_section.h"
#include "sinks/format/format.h"
#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/jira/jira_section.h"
#include "sinks/jira/wiki_markup.h"
#include "sinks/linear/linear_section.h"
#include "sinks/port/descriptor.h"
#include "sinks/port/topic_request.h"
#include "sinks/processor.h"
#include "sinks/registry.h"
#include "sinks/slack/mrkdwn.h"
#include "sinks/slack/slack_section.h"
#include "sinks/topic/topic_section.h"
#include "sinks/webhook/webhook_section.h"
#include "tests/unit/sinks/growth.h"
#include "tests/unit/sinks/hostile.h"
#include "tests/unit/sinks/sink_calls.h"

using namespace epilogue;
using nlohmann::json;

namespace {

const DeliveryId id{"2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11"};

/// What reached the place: as it stands there, and the request that brought it.
struct Arrived {
    std::string shown;
    std::string sent;
};

/// What is alive in it, "" for nothing; and what a reader can see of it.
struct Judgement {
    std::string alive;
    std::string seen;
};

Judgement as_markdown(const Arrived& arrived) {
    return {hostile::alive_in_markdown(arrived.shown), arrived.shown};
}

Judgement as_slack_message(const Arrived& arrived) {
    const auto text = json::parse(arrived.sent).at("text").get<std::string>();
    return {hostile::alive_in_markdown(arrived.shown) + hostile::alive_in_mrkdwn(text), arrived.shown + text};
}

Judgement as_wiki_markup(const Arrived& arrived) {
    return {hostile::alive_in_wiki_markup(arrived.shown), replaced(arrived.shown, "\\", "")};
}

Judgement as_outcome(const Arrived& arrived) {
    const json summary = json::parse(arrived.shown).at("data").at("summary");
    const auto markdown = summary.at("markdown").get<std::string>();
    const auto text = summary.at("text").get<std::string>();
    return {hostile::alive_in_markdown(markdown) + hostile::unseen_in(text), markdown + text};
}

/// Its text is shown nowhere but in a log: mentions and tags stay, what acts on a terminal does not.
Judgement as_line(const Arrived& arrived) {
    if (arrived.shown.find('\n') != std::string::npos) return {"a second line", arrived.shown};
    auto judgement = as_outcome(arrived);
    judgement.alive += hostile::unseen_in(json::parse(arrived.shown).at("summary").get<std::string>());
    return judgement;
}

/// The part of that type of a mail, decoded (quoted-printable, RFC 2045 §6.7).
std::string part_of(const std::string& mail, const std::string& type) {
    const auto head = mail.find("Content-Type: " + type);
    const auto begin = mail.find("\r\n\r\n", head);
    BOOST_REQUIRE((head != std::string::npos && begin != std::string::npos));
    const auto part = replaced(mail.substr(begin, mail.find("\r\n--=_", begin) - begin), "=\r\n", "");
    std::string decoded;
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] != '=') {
            decoded += part[i];
            continue;
        }
        decoded += static_cast<char>(std::stoi(part.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    return replaced(decoded, "\r", "");
}

Judgement as_mail(const Arrived& arrived) {
    const auto html = part_of(arrived.shown, "text/html");
    const auto text = part_of(arrived.shown, "text/plain");
    return {hostile::alive_in_html(html) + hostile::unseen_in(text), html + text};
}

struct Place {
    std::string processor_json;
    Judgement (*judge)(const Arrived& arrived) = as_markdown;
    bool is_looked_up = true;
};

/// By the sink's name.
const std::map<std::string_view, Place>& places() {
    static const std::map<std::string_view, Place> all{
        {"email", {R"({"to": "ann@there.example"})", as_mail, false}},
        {"github", {R"({"repo": "octo/cat", "number": 7})"}},
        {"gitlab", {R"({"project": 4455, "iid": 7, "kind": "issue"})"}},
        {"jira", {R"({"issue_key": "PROJ-12"})", as_wiki_markup}},
        {"linear", {R"({"issue_key": "ENG-12"})"}},
        {"log", {"{}", as_line, false}},
        {"slack", {R"({"channel": "C1", "thread_ts": "1763715600.000100"})", as_slack_message}},
        {"topic", {"{}", as_outcome}},
        {"webhook", {R"({"endpoint": "ci"})", as_outcome, false}},
    };
    return all;
}

SinkSettings settings_for(const FakePlatformServer& platform) {
    SinkSettings settings;
    const Secret token("token");
    settings.sections.edit<EmailSection>().server = "mail.example";
    settings.sections.edit<EmailSection>().from = "epilogue@us.example";
    settings.sections.edit<GithubSection>() = {.api_url = platform.url("/github"), .token = token};
    settings.sections.edit<GitlabSection>() = {.api_url = platform.url("/gitlab"), .token = token};
    settings.sections.edit<JiraSection>().usual = {
        .api_url = platform.url("/jira"), .email = {}, .token = token};
    settings.sections.edit<LinearSection>() = {.api_url = platform.url("/linear"), .token = token};
    settings.sections.edit<OutcomesSection>().topic = "outcomes";
    settings.sections.edit<SlackSection>() = {.api_url = platform.url("/slack"), .token = token};
    settings.sections.edit<WebhookSection>().endpoints["ci"] = {
        platform.url("/webhook/ci"), {Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")}};
    settings.mac_key = "key";
    settings.version = "0.1.0";
    return settings;
}

/// That the time for a post of each sink grows with the length of its words.
void check_every_sink(const std::vector<std::string>& pieces, std::size_t bytes) {
    SinkSettings settings;
    settings.mac_key = "key";
    settings.version = "0.1.0";
    for (const auto& [name, sink] : make_sinks(settings)) {
        BOOST_TEST_INFO_SCOPE(name);
        for (const auto& piece : pieces)
            growth::check_linear(piece, bytes, [&renders = *sink](const std::string& text) {
                renders.render({.headline = "**Finished**", .final_message = text, .facts = {}, .link = {}},
                               id);
            });
    }
}

/// All sinks, and everything that they send to wherever.
class World {
  public:
    /// What arrives when `words` are posted; fails the test unless it was one post, found again.
    Arrived post(const SinkDescriptor& descriptor, const Place& place, const std::string& words) {
        platform_.reset();
        kept_.clear();
        const sink_test::SinkCalls sink(*sinks_.at(std::string(descriptor.name)), transport_,
                                        std::chrono::seconds{20});
        Post post{.delivery_id = id,
                  .conversation_id = ConversationId("c"),
                  .target = decode_processor(descriptor.name, place.processor_json).value().target,
                  .body = {},
                  .intent_at = system_now()};
        post.body =
            sink.render({.headline = "**Finished**", .final_message = words, .facts = words, .link = {}}, id);
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
        const std::size_t found = sink.find(post).found.size();
        BOOST_TEST(found == (place.is_looked_up ? 1U : 0U));
        const auto visible = platform_.visible();
        BOOST_REQUIRE(visible.size() + kept_.size() == 1U);
        if (!kept_.empty()) return {kept_.front(), kept_.front()};
        // GitLab's stand-in takes out every line that it would run.
        BOOST_TEST(visible[0].body == post.body);
        return {visible[0].body, platform_.log().at(0).body};
    }

  private:
    /// A topic of one record.
    HttpAnswer topic(const HttpRequest& request) {
        HttpAnswer answer;
        answer.outcome = HttpOutcome::answered;
        const auto record = topic_record_in(request);
        const bool is_there = !kept_.empty() && kept_.front() == record.value;
        answer.status = is_there ? found_status : absent_status;
        if (request.method == produce_method) kept_.push_back(record.value);
        return answer;
    }
    /// A mail server that takes everything.
    HttpAnswer web_or_mail(const HttpRequest& request) {
        if (request.method != mail_method) return over_http_(request);
        kept_.push_back(request.body);
        HttpAnswer answer;
        answer.outcome = HttpOutcome::answered;
        answer.status = 250;
        answer.headers[mail_phase] = phase_message;
        return answer;
    }
    bool line(const std::string& text) {
        kept_.push_back(text);
        return true;
    }

    FakePlatformServer platform_;
    std::vector<std::string> kept_;  // lines, records and mails
    const std::function<HttpAnswer(const HttpRequest&)> over_http_ = over_http();
    const std::map<std::string, std::unique_ptr<Sink>> sinks_ = make_sinks(settings_for(platform_));
    const Transport transport_{
        .send = with_topics(with_lines([this](const HttpRequest& request) { return web_or_mail(request); },
                                       [this](const std::string& text) { return line(text); }),
                            [this](const HttpRequest& request) { return topic(request); })};
};

/// Calls `each` with every sink of the registry and its place; fails for one without a place.
template <class Each>
void for_each_sink(const Each& each) {
    for (const SinkDescriptor* sink : sink_descriptors()) {
        const auto place = places().find(sink->name);
        BOOST_REQUIRE_MESSAGE(place != places().end(), sink->name << " has no place in this test");
        each(*sink, place->second);
    }
}

/// A secret as it stands in an agent's words.
struct Planted {
    std::string before;
    std::string secret;
    std::string after{};
};

std::vector<Planted> planted() {
    const std::string drawn = "9f8Zq2LkVb7Xw3TnRs5Yc1Md";
    const std::string digits = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
    return {
        {"pushed with ", "ghp_" + digits + "0000"},
        {"and ", "github_pat_" + drawn.substr(0, 22) + "_" + digits + drawn + "abc"},
        {"as an App ", "ghs_" + digits + "0000"},
        {"cloned by ", "glpat-" + drawn.substr(0, 20)},
        {"said ", "xoxb-123456789012-1234567890123-" + drawn},
        {"and as a user ", "xoxp-123456789012-123456789012-123456789012-" + digits},
        {"the key is ", "AKIAQ3EGRT5WNJY2LZ7K"},
        {"asked with ", "sk-ant-api03-" + drawn + digits + drawn + digits.substr(0, 12) + "-AA"},
        {"issue by ", "lin_api_" + digits + "12345678"},
        {"charged by ", "sk_live_" + drawn},
        {"token: ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"},
        {"export PASSWORD=", "correct-horse-" + digits},
        {"Authorization: Bearer ", digits + drawn},
        {"https://deploy:", "pa55-" + digits, "@git.example.com/octo/cat"},
    };
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_sink_posts_anything_that_is_alive) {
    BOOST_TEST(hostile::cases().size() >= 200U);
    World world;
    for_each_sink([&](const SinkDescriptor& sink, const Place& place) {
        for (const auto& [kind, words, absent] : hostile::cases()) {
            BOOST_TEST_INFO_SCOPE(sink.name << ", " << kind << ": " << words.substr(0, 200));
            const auto [alive, seen] = place.judge(world.post(sink, place, words));
            BOOST_TEST(alive == "", seen.substr(0, 300));
            for (const auto& part : absent)
                BOOST_TEST(hostile::visible(seen).find(part) == std::string::npos, part);
        }
    });
}

BOOST_AUTO_TEST_CASE(no_sink_posts_a_secret_that_an_agent_had_in_its_words) {
    World world;
    BOOST_TEST(planted().size() >= 12U);
    for_each_sink([&](const SinkDescriptor& sink, const Place& place) {
        for (const auto& [before, secret, after] : planted())
            for (const std::string rest : {"", " twice.\n\n> and quoted"}) {
                const auto arrived = world.post(sink, place, "I have " + before + secret + after + rest);
                BOOST_TEST_INFO_SCOPE(sink.name << ": " << arrived.sent.substr(0, 400));
                const auto bare = hostile::visible(replaced(arrived.sent, "\\", ""));
                BOOST_TEST(arrived.sent.find(secret) == std::string::npos, secret);
                BOOST_TEST(bare.find(secret) == std::string::npos, secret);
                BOOST_TEST((arrived.sent.find("twice") == std::string::npos) == rest.empty());
            }
    });
}

BOOST_AUTO_TEST_CASE(every_sink_makes_posts_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 2000;  // four times as much is cut by no platform
    check_every_sink(growth::pieces(), bytes);
}

BOOST_AUTO_TEST_CASE(every_sink_cuts_what_is_too_long_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 100'000;  // more than any platform takes
    check_every_sink({"![a](b)\n\n", "<i>\n\n", "[", "token=", "|a|b|\n|-|-|\n", "``` a\n```\n"}, bytes);
}

BOOST_AUTO_TEST_CASE(slacks_and_jiras_markup_is_made_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 4000;
    for (const auto& piece : growth::pieces()) {
        growth::check_linear(piece, bytes, [](const std::string& text) { mrkdwn(sanitise(text)); });
        growth::check_linear(piece, bytes, [](const std::string& text) { wiki_markup(sanitise(text)); });
    }
}
