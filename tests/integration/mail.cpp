// Mails to a server that has none of our code, read by a parser that has none either.
#define BOOST_TEST_MODULE mail
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/io/http.h"
#include "base/io/smtp.h"
#include "sinks/email/email.h"
#include "sinks/port/transport.h"
#include "tests/support/certificates.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const DeliveryId id{"2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11"};

class RealServer {
  public:
    RealServer()
        : process_(
              {{EPILOGUE_STACK_PYTHON, std::string(EPILOGUE_SOURCE_DIR) + "/tests/integration/mail_server.py",
                certificates_.path("server.pem"), certificates_.path("server.key")}}) {
        ::setenv("SSL_CERT_FILE", certificates_.path("ca.pem").c_str(), 1);
        port_ = told(1).at(0).at("port").get<int>();
    }
    ~RealServer() { ::unsetenv("SSL_CERT_FILE"); }
    RealServer(const RealServer&) = delete;
    RealServer& operator=(const RealServer&) = delete;

    /// The first `count` lines that it has said.
    std::vector<Json> told(std::size_t count) {
        return eventually("the mail server says more",
                          [&] {
                              if (!process_.running())
                                  throw std::runtime_error("the mail server ended: " + process_.err());
                              std::vector<Json> lines;
                              std::istringstream out(process_.out());
                              for (std::string line;
                                   lines.size() < count && std::getline(out, line) && !out.eof();)
                                  lines.push_back(Json::parse(line));
                              return lines.size() == count ? std::optional(lines) : std::nullopt;
                          })
            .value();
    }

    EmailSettings settings(const std::string& password = "right") const {
        EmailSettings settings;
        settings.url = "smtp://127.0.0.1:" + std::to_string(port_);
        settings.user = "bot";
        settings.password = password;
        settings.from = {.name = "Größe, Ltd.", .address = "epilogue@us.example"};
        return settings;
    }

  private:
    Certificates certificates_;
    Process process_;
    int port_ = 0;
};

Attempt send(EmailSettings settings, std::vector<std::string> to, const std::string& subject = "") {
    EmailSink sink(std::move(settings));
    const Post post{.delivery_id = id,
                    .conversation_id = ConversationId("c"),
                    .target = EmailTarget{.to = std::move(to), .subject = subject},
                    .body = "**Finished**\n\n.\n\n.. café =20 [page](https://a.example/x)\n\nFrom here",
                    .intent_at = system_now()};
    return run(sink.create(post), {.send = with_mail(over_http())}, 20s);
}

TokenState state_of(EmailSettings settings) {
    EmailSink sink(std::move(settings));
    return run(std::move(sink.check_tokens().at(0)), {.send = with_mail(over_http())}, 20s).state;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_server_of_others_stores_what_was_sent_and_its_words_are_understood) {
    RealServer server;
    const std::string subject =
        "Größe \xF0\x9F\x9A\x80 of a subject that is longer than a line of a mail may be, all in all";
    const auto sent = send(server.settings(), {"ann@there.example", "bob@there.example"}, subject);
    BOOST_TEST(name_of(sent.answer) == "sent", sent.cause);
    const Json mail = server.told(2).at(1);
    BOOST_TEST(mail.at("defects") == Json::array());
    BOOST_TEST(mail.at("recipients") == Json({"ann@there.example", "bob@there.example"}));
    BOOST_TEST(mail.at("to") == mail.at("recipients"));
    BOOST_TEST(mail.at("from") == "epilogue@us.example");
    BOOST_TEST(mail.at("name") == "Größe, Ltd.");
    BOOST_TEST(mail.at("subject") == subject);
    BOOST_TEST(mail.at("id") == "<" + id.text() + "@us.example>");
    BOOST_TEST(mail.at("thread").get<std::string>().starts_with("<conversation."));
    BOOST_TEST(mail.at("fields") == 10);
    BOOST_TEST(mail.at("text") == "Finished\n\n.\n\n.. café =20 page <https://a.example/x>\n\nFrom here\n");
    BOOST_TEST(mail.at("html").get<std::string>().find(
                   "<p>.. café =20 <a href=\"https://a.example/x\">page</a></p>") != std::string::npos);

    const auto grey = send(server.settings(), {"grey@there.example"});
    BOOST_TEST(name_of(grey.answer) == "retry");
    BOOST_TEST(grey.cause == "451 4.7.1 greylisted, come again");
    BOOST_TEST(name_of(send(server.settings(), {"grey@there.example"}).answer) == "sent");

    const auto dropped = send(server.settings(), {"drop@there.example"});
    BOOST_TEST(name_of(dropped.answer) == "unknown", dropped.cause);
    BOOST_TEST(server.told(4).at(3).at("id") == mail.at("id"));

    const auto stranger = send(server.settings("wrong"), {"ann@there.example"});
    BOOST_TEST(name_of(stranger.answer) == "unauthorised", stranger.cause);
    BOOST_TEST((state_of(server.settings()) == TokenState::accepted));
    BOOST_TEST((state_of(server.settings("wrong")) == TokenState::refused));
}
