#define BOOST_TEST_MODULE email
#include "sinks/email/email.h"

#include <memory>

#include <boost/test/unit_test.hpp>

#include "base/io/smtp.h"
#include "base/mail_server.h"
#include "ops/fake_platform/mail_server.h"
#include "sinks/email/email_answers.h"
#include "sinks/processor.h"
#include "tests/unit/sinks/hostile.h"
#include "tests/unit/sinks/sink_fixture.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;
using fake_platform::PlaceState;

namespace {

const std::string ann = "ann@there.example";
const Summary finished{.headline = "**Finished**", .final_message = "All done — 🚀", .facts = {}, .link = {}};
const Instant ten = *parse_instant("2026-11-24T10:00:00Z");

EmailSettings settings_for(const fake_platform::MailServer& server,
                           EmailUnknown on_unknown = EmailUnknown::park) {
    EmailSettings settings;
    settings.url = "smtp://127.0.0.1:" + std::to_string(server.port());
    settings.must_encrypt = false;
    settings.from = {.name = "Epilogue", .address = "epilogue@us.example"};
    settings.on_unknown = on_unknown;
    settings.now = [] { return ten; };
    return settings;
}

SinkCalls calls(EmailSettings settings, std::chrono::milliseconds timeout = 5s) {
    return {std::make_shared<EmailSink>(std::move(settings)), {.send = with_mail(over_http())}, timeout};
}

Post post_to(EmailTarget target) {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c"),
            .target = std::move(target),
            .body = EmailSink({}).render(finished, id),
            .intent_at = ten};
}

struct Fixture {
    fake_platform::FakePlatform platform;
    fake_platform::MailServer server{platform};
    SinkCalls sink = calls(settings_for(server));
    Post post = post_to({.to = {ann}});

    void rule(Json rule) { platform.rules(Json::array({std::move(rule)}).dump()); }
    ~Fixture() { platform.close(); }
};

std::string field(const std::string& mail, const std::string& name) {
    const auto at = mail.find(name + ": ");
    if (at == std::string::npos) return "none";
    return mail.substr(at + name.size() + 2, mail.find("\r\n", at) - at - name.size() - 2);
}

HttpAnswer replied(int status, const std::string& text, std::string_view phase = phase_message) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = status;
    answer.body = text;
    answer.headers[mail_phase] = phase;
    return answer;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_post_becomes_one_mail_to_each_recipient, Fixture) {
    const auto attempt = sink.create(post_to({.to = {ann, "bob@there.example"}, .subject = "Größe"}));
    BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
    BOOST_TEST(attempt.receipt.remote_id == id.text());
    const auto mails = platform.visible();
    BOOST_REQUIRE(mails.size() == 1U);
    const auto& mail = mails[0].body;
    BOOST_TEST(mails[0].place == ann);
    BOOST_TEST(mails[0].metadata == ann + ",bob@there.example");
    BOOST_TEST(field(mail, "Subject") == "=?UTF-8?B?R3LDtsOfZQ==?=");
    BOOST_TEST(field(mail, "Date") == "Tue, 24 Nov 2026 10:00:00 +0000");
    BOOST_TEST(mail.find("\r\n\r\nFinished\r\n\r\nAll done =E2=80=94 =F0=9F=9A=80\r\n") != std::string::npos);
    BOOST_TEST(mail.find("<p><strong>Finished</strong></p>\r\n") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_mail_has_its_deliverys_id_and_its_conversations_thread, Fixture) {
    sink.create(post);
    sink.create(post);
    Post next = post;
    next.delivery_id = DeliveryId("3c5f2d0b-0d5f-5a53-9c55-0a7c3f6f1b11");
    sink.create(next);
    next.conversation_id = ConversationId("another\r\nBcc: eve@evil.example");
    sink.create(next);
    const auto mails = platform.visible();
    BOOST_REQUIRE(mails.size() == 4U);
    BOOST_TEST(mails[0].thread == "<" + id.text() + "@us.example>");
    BOOST_TEST(mails[1].thread == mails[0].thread);
    BOOST_TEST(mails[2].thread == "<3c5f2d0b-0d5f-5a53-9c55-0a7c3f6f1b11@us.example>");
    const auto thread = field(mails[0].body, "In-Reply-To");
    BOOST_TEST(thread.ends_with("@us.example>"));
    BOOST_TEST(field(mails[0].body, "References") == thread);
    BOOST_TEST(field(mails[2].body, "In-Reply-To") == thread);
    BOOST_TEST(field(mails[3].body, "In-Reply-To") != thread);
    BOOST_TEST(field(mails[0].body, "Subject") == "Conversation c");
    BOOST_TEST(field(mails[3].body, "Subject") == "Conversation another Bcc: eve@evil.example");
    BOOST_TEST(mails[3].body.find("\r\nBcc") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(what_is_refused_before_the_end_is_a_definite_no, Fixture) {
    rule({{"do", "status"}, {"status", 450}, {"answer", "greylisted"}, {"method", "RCPT"}});
    const auto grey = sink.create(post);
    BOOST_TEST(name_of(grey.answer) == "retry");
    BOOST_TEST(grey.cause.starts_with("450 "), grey.cause);
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    platform.set_place("email", ann, PlaceState::missing);
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    BOOST_TEST(name_of(sink.create(post_to({.to = {"bob@there.example", ann}})).answer) == "refused");
    BOOST_TEST(platform.visible().size() == 1U);
    rule({{"do", "reset"}, {"method", "RCPT"}});
    BOOST_TEST(name_of(sink.create(post_to({.to = {"bob@there.example"}})).answer) == "retry");
    BOOST_TEST(platform.visible().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(of_500_mails_whose_reply_is_lost_each_is_unknown_and_parked, Fixture) {
    for (int i = 1; i <= 500; ++i) {
        rule({{"do", i % 2 == 0 ? "apply_then_reset" : "half_answer"}, {"method", "POST"}});
        BOOST_TEST(name_of(sink.create(post).answer) == "unknown", i);
        const auto lookup = sink.find(post);
        BOOST_TEST(lookup.forbidden);
        BOOST_TEST(!lookup.ok);
    }
    BOOST_TEST(platform.visible().size() == 500U);
    BOOST_TEST((sink.duplicate_check() == DuplicateCheck::never));
}

BOOST_FIXTURE_TEST_CASE(a_mail_that_may_be_sent_again_has_the_same_message_id, Fixture) {
    const auto again = calls(settings_for(server, EmailUnknown::again), 500ms);
    rule({{"do", "apply_then_hang"}, {"method", "POST"}});
    BOOST_TEST(name_of(again.create(post).answer) == "unknown");
    platform.release(true);
    const auto lookup = again.find(post);
    BOOST_TEST(lookup.ok);
    BOOST_TEST(lookup.found.empty());
    BOOST_TEST(name_of(calls(settings_for(server, EmailUnknown::again)).create(post).answer) == "sent");
    const auto mails = platform.visible();
    BOOST_REQUIRE(mails.size() == 2U);
    BOOST_TEST(mails[0].thread == mails[1].thread);
}

BOOST_AUTO_TEST_CASE(each_reply_means_what_its_phase_and_code_say) {
    struct Row {
        HttpAnswer answer;
        const char* means;
        const char* cause;
    };
    const Row rows[] = {
        {replied(250, "250 taken\r\n"), "sent", ""},
        {replied(421, "421 busy\r\n"), "retry", "421 busy"},
        {replied(452, "452 mailbox full\r\n"), "retry", "452 mailbox full"},
        {replied(550, "550-no\r\n550 such user\r\n"), "refused", "550-no 550 such user"},
        {replied(554, "554 spam\r\n"), "refused", "554 spam"},
        {replied(530, "530 log in\r\n"), "unauthorised", "530 log in"},
        {replied(535, "no way to log in", phase_login), "unauthorised", "535 no way to log in"},
        {replied(554, "554 not you\r\n", phase_login), "unauthorised", "554 not you"}};
    for (const Row& row : rows) {
        const auto attempt = classify_mail(row.answer);
        BOOST_TEST(name_of(attempt.answer) == row.means, row.answer.body);
        BOOST_TEST(attempt.cause == row.cause);
    }
    HttpAnswer lost;
    lost.cause = "lost";
    BOOST_TEST(name_of(classify_mail(lost).answer) == "unknown");
    lost.outcome = HttpOutcome::not_sent;
    BOOST_TEST(name_of(classify_mail(lost).answer) == "retry");
}

BOOST_FIXTURE_TEST_CASE(without_a_server_or_an_address_nothing_is_asked, Fixture) {
    const auto bare = calls({});
    BOOST_TEST(name_of(bare.create(post).answer) == "unauthorised");
    BOOST_TEST(bare.create(post).cause == "no server: set [email] server and from");
    BOOST_TEST((bare.check_tokens().at(0).state == TokenState::missing));
    BOOST_TEST(name_of(sink.create(post_to({.to = {}})).answer) == "refused");
    post.target = ForeignTarget{};
    BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    BOOST_TEST(!sink.remove(post, {.remote_id = "1", .remote_url = {}}));
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(whether_the_server_takes_us_is_told_and_what_is_done_in_doubt, Fixture) {
    const auto report = sink.check_tokens().at(0);
    BOOST_TEST((report.state == TokenState::accepted), report.cause);
    BOOST_TEST(report.identity == "epilogue@us.example");
    BOOST_TEST((report.in_doubt == InDoubt::parks));
    const auto again = calls(settings_for(server, EmailUnknown::again)).check_tokens().at(0);
    BOOST_TEST((again.in_doubt == InDoubt::sends_again));
    auto away = settings_for(server);
    away.url = "smtp://127.0.0.1:1";
    BOOST_TEST((calls(away).check_tokens().at(0).state == TokenState::unreachable));
    auto encrypted = settings_for(server);
    encrypted.must_encrypt = true;
    BOOST_TEST((calls(encrypted).check_tokens().at(0).state == TokenState::unreachable));
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(no_password_is_in_what_people_see, Fixture) {
    auto settings = settings_for(server);
    settings.user = "bot";
    settings.password = "hunter2hunter2";
    EmailSink locked(settings);
    auto dialogue = locked.create(post);
    BOOST_REQUIRE(dialogue.request() != nullptr);
    std::string shown = dialogue.request()->url + dialogue.request()->body;
    for (const auto& header : dialogue.request()->headers) shown += header;
    BOOST_TEST(shown.find("hunter2") == std::string::npos);
    BOOST_TEST(shown.find("RCPT TO: " + ann) != std::string::npos);
    const auto attempt = calls(settings).create(post);
    BOOST_TEST(attempt.cause.find("hunter2") == std::string::npos, attempt.cause);
    BOOST_TEST(locked.quota(post.target).setting == "[email] password");
    BOOST_TEST(locked.quota(post.target).credential.find("hunter2") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_place_is_one_address_or_some_and_a_subject) {
    const auto place = [](std::string_view json) {
        const auto processor = decode_processor("email", json);
        return processor ? describe(*processor) : processor.error().text;
    };
    BOOST_TEST(place(R"({"to": "a@b.example"})") == "email:a@b.example");
    BOOST_TEST(place(R"({"to": ["a@b.example", "c@d.example", "a@b.example"]})") ==
               "email:a@b.example,c@d.example");
    BOOST_TEST(place(R"({"to": "a@b.example", "subject": "x"})").starts_with("email:a@b.example/"));
    const std::string to =
        R"(processor_json: field "to": expected an address such as "a@b.example", or 1 to 20 of them)";
    for (const char* bad :
         {R"({})", R"({"to": []})", R"({"to": "a"})", R"({"to": ["a@b", 7]})", R"({"to": 7})",
          R"({"to": "a@b\r\nRCPT TO:<eve@evil.example>"})", R"({"to": "A <a@b.example>"})"})
        BOOST_TEST(place(bad) == to, bad);
    for (const char* bad : {R"("x\r\nBcc: eve@evil.example")", R"("\u0000")", "7"})
        BOOST_TEST(
            place(R"({"to": "a@b.example", "subject": )" + std::string(bad) + "}").find("\"subject\"") !=
                std::string::npos,
            bad);
}

BOOST_AUTO_TEST_CASE(a_row_is_written_back_and_another_place_into_it) {
    for (const std::string json :
         {R"({"to": "a@b.example","more":1})", R"({"to":["a@b.example", "c@d.example"],"subject":"x"})"}) {
        const auto processor = decode_processor("email", json);
        BOOST_REQUIRE(processor.has_value());
        BOOST_TEST(encode_processor("email", json, *processor).value() == json);
    }
    Processor moved = *decode_processor("email", R"({"to":"a@b.example","more":1})");
    moved.target = EmailTarget{.to = {"c@d.example", "e@f.example"}, .subject = "y"};
    const auto text = encode_processor("email", R"({"to":"a@b.example","more":1})", moved).value();
    BOOST_TEST(Json::parse(text) ==
               Json({{"to", {"c@d.example", "e@f.example"}}, {"more", 1}, {"subject", "y"}}));
}

BOOST_FIXTURE_TEST_CASE(no_hostile_summary_is_alive_in_a_mail, Fixture) {
    for (const auto& [kind, words, absent] : hostile::cases()) {
        platform.reset();
        post.body = EmailSink({}).render(
            {.headline = "**Finished**", .final_message = words, .facts = words, .link = {}}, id);
        BOOST_TEST_INFO_SCOPE(kind << ": " << words.substr(0, 200));
        BOOST_TEST(hostile::alive_in_markdown(post.body) == "");
        BOOST_TEST(name_of(sink.create(post).answer) == "sent");
        const auto mails = platform.visible();
        BOOST_REQUIRE(mails.size() == 1U);
        for (const char c : mails[0].body)
            BOOST_REQUIRE((c == '\r' || c == '\n' || (c >= ' ' && c < '\x7f')));
        for (const auto& part : absent) BOOST_TEST(mails[0].body.find(part) == std::string::npos, part);
    }
}
