// The worker, `publish` and `doctor` on a broker that wants to know who they are: each way to prove it, and
// what is said when it fails.
#define BOOST_TEST_MODULE secured_kafka
#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sodium.h>

#include "tests/support/certificates.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_acls.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"
#include "tests/support/unready.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Properties = std::map<std::string, std::string>;

const std::string right_password = std::string("right-") + "password";

KafkaSecurity security(const Certificates& certificates) {
    const std::vector<std::string> tls{
        "ssl.keystore.type=PEM", "ssl.keystore.location=" + certificates.path("server.both"),
        "ssl.truststore.type=PEM", "ssl.truststore.location=" + certificates.path("ca.pem")};
    KafkaListener sasl{"SASL", "SASL_SSL", tls};
    const std::string modules = "org.apache.kafka.common.security.";
    for (const std::string& line :
         {std::string("sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER"),
          "scram-sha-256.sasl.jaas.config=" + modules + "scram.ScramLoginModule required;",
          "scram-sha-512.sasl.jaas.config=" + modules + "scram.ScramLoginModule required;",
          fmt::format("plain.sasl.jaas.config={}plain.PlainLoginModule required user_plain=\"{}\";", modules,
                      right_password),
          "oauthbearer.sasl.jaas.config=" + modules +
              "oauthbearer.OAuthBearerLoginModule required "
              "unsecuredLoginStringClaim_sub=\"broker\";"})
        sasl.properties.push_back(line);
    KafkaListener mutual{"MUTUAL", "SSL", tls};
    mutual.properties.emplace_back("ssl.client.auth=required");
    return {{sasl, mutual},
            {"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
             "super.users=User:ANONYMOUS"},  // the harness
            {fmt::format("SCRAM-SHA-256=[name=scram256,password={}]", right_password),
             fmt::format("SCRAM-SHA-512=[name=scram512,password={}]", right_password)}};
}

/// One broker for all cases.
struct Secured {
    Certificates certificates;
    KafkaBroker broker{security(certificates)};
    KafkaAcls acls{broker.bootstrap()};
};
Secured& secured() {
    static Secured one;
    return one;
}

std::string path(const std::string& file) {
    return secured().certificates.path(file);
}

Properties tls() {
    return {{"security.protocol", "SSL"}, {"ssl.ca.location", path("ca.pem")}};
}

Properties mutual_tls(const std::string& client) {
    Properties properties = tls();
    properties["ssl.certificate.location"] = path(client + ".pem");
    properties["ssl.key.location"] = path(client + ".key");
    return properties;
}

Properties sasl(const std::string& mechanism, const std::string& user, const std::string& password) {
    Properties properties = tls();
    properties["security.protocol"] = "SASL_SSL";
    properties["sasl.mechanism"] = mechanism;
    if (user.empty()) return properties;
    properties["sasl.username"] = user;
    properties["sasl.password"] = password;
    return properties;
}

/// A token that says who it is for and has no signature, which the broker takes here.
std::string unsigned_token(const std::string& subject) {
    const auto encoded = [](const std::string& text) {
        std::string out(sodium_base64_encoded_len(text.size(), sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                        '\0');
        sodium_bin2base64(out.data(), out.size(), reinterpret_cast<const unsigned char*>(text.data()),
                          text.size(), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
        out.pop_back();  // its end
        return out;
    };
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return encoded(R"({"alg":"none"})") + "." +
           encoded(fmt::format(R"({{"sub":"{}","iat":{},"exp":{}}})", subject, now, now + 3600)) + ".";
}

Settings settings(const std::string& listener, const Properties& properties) {
    return {{"kafka.brokers", secured().broker.bootstrap(listener)}, {"kafka.properties", properties}};
}

Rig rig_on(const std::string& name, const Settings& more) {
    return Rig(secured().broker, server_of_this_program(), {.name = name, .partitions = 1, .more = more});
}

KafkaRight right(const std::string& user, const std::string& name, KafkaRight::On on, KafkaRight::To to) {
    return {"User:" + user, on, name, to};
}

/// All that `publish`, a worker and `doctor` need; the group is called as the topic.
void grant_all(const std::string& user, const std::string& name) {
    const auto& acls = secured().acls;
    acls.grant(right(user, name, KafkaRight::On::topic, KafkaRight::To::read));
    acls.grant(right(user, name, KafkaRight::On::topic, KafkaRight::To::write));
    acls.grant(right(user, name, KafkaRight::On::group, KafkaRight::To::read));
}

/// The doctor's findings of Kafka that are not good, one a line.
std::string complaints(const Rig& rig) {
    const auto done = rig.epilogue().run({"doctor", "--json"});
    std::string text;
    const auto document = Json::parse(done.out);
    for (const auto& finding : document.at("findings"))
        if (finding.at("component") == "kafka" &&
            (finding.at("severity") == "error" || finding.at("severity") == "unreachable"))
            text += finding.at("text").get<std::string>() + "\n";
    return text;
}

void check_complains(const Rig& rig, const std::string& reason) {
    const std::string said = complaints(rig);
    BOOST_TEST(contains(said, reason), said);
}

/// Publishes a conversation of one turn by the program, and waits until a worker has posted it.
void check_all_work(const std::string& user, const std::string& name, const Settings& more) {
    grant_all(user, name);
    const Rig rig = rig_on(name, more);
    auto worker = rig.epilogue().worker(60s);
    rig.add_github(name, "o/" + name, 1, "once");
    const auto published =
        rig.epilogue().run({"publish"}, V0Conversation(name).user("Go.").agent_finishes("Done.").lines());
    BOOST_TEST(published.status == 0, published.err);
    eventually(name + " is told", [&] { return !rig.platform().visible().empty(); });
    eventually("the offset has followed", [&] { return rig.committed() == rig.ends(); });
    BOOST_TEST(complaints(rig) == "");
    const auto told = worker.process().err();
    BOOST_TEST(!contains(told, right_password));
    BOOST_TEST(worker.process().stop(30s) == 0);
}

/// No connection can be made: the worker, its log, `doctor` and `publish` say why.
void check_reason(const std::string& name, const Settings& more, const std::string& reason) {
    const Rig rig = rig_on(name, more);
    auto worker = rig.epilogue().start_worker();
    wait_unready(worker, reason);
    eventually("the log says it", 30s, [&] { return contains(worker.process().err(), reason); });
    check_complains(rig, reason);
    const auto published = rig.epilogue().run({"publish"}, V0Conversation(name).user("Go.").lines());
    BOOST_TEST(published.status == 69);
    BOOST_TEST(contains(published.err, reason), published.err);
    BOOST_TEST(worker.process().stop(30s) == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ways_in)

BOOST_AUTO_TEST_CASE(scram_sha_256_lets_worker_publish_and_doctor_in) {
    check_all_work("scram256", "by-scram256",
                   settings("SASL", sasl("SCRAM-SHA-256", "scram256", right_password)));
}

BOOST_AUTO_TEST_CASE(scram_sha_512_lets_worker_publish_and_doctor_in) {
    check_all_work("scram512", "by-scram512",
                   settings("SASL", sasl("SCRAM-SHA-512", "scram512", right_password)));
}

BOOST_AUTO_TEST_CASE(plain_lets_worker_publish_and_doctor_in) {
    check_all_work("plain", "by-plain", settings("SASL", sasl("PLAIN", "plain", right_password)));
}

BOOST_AUTO_TEST_CASE(a_client_certificate_lets_worker_publish_and_doctor_in) {
    check_all_work("CN=client", "by-certificate", settings("MUTUAL", mutual_tls("client")));
}

BOOST_AUTO_TEST_CASE(a_token_from_a_command_lets_worker_publish_and_doctor_in) {
    auto more = settings("SASL", sasl("OAUTHBEARER", "", ""));
    more["kafka.oauth_token_command"] = "printf %s '" + unsigned_token("bearer") + "'";
    check_all_work("bearer", "by-token", more);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(reasons)

BOOST_AUTO_TEST_CASE(a_wrong_authority_is_named) {
    auto properties = mutual_tls("client");
    properties["ssl.ca.location"] = path("foreign-ca.pem");
    check_reason("wrong-ca", settings("MUTUAL", properties), "certificate verify failed");
}

BOOST_AUTO_TEST_CASE(a_missing_client_certificate_is_named) {
    check_reason("no-certificate", settings("MUTUAL", tls()), "alert bad certificate");
}

BOOST_AUTO_TEST_CASE(a_foreign_client_certificate_is_named) {
    check_reason("foreign-certificate", settings("MUTUAL", mutual_tls("foreign-client")), "certificate");
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_named) {
    check_reason("wrong-password", settings("SASL", sasl("SCRAM-SHA-512", "scram512", "no such password")),
                 "invalid credentials");
}

BOOST_AUTO_TEST_CASE(a_client_without_tls_at_a_tls_port_is_named) {
    check_reason("plaintext", settings("MUTUAL", {}), "perhaps the listener wants TLS");
}

BOOST_AUTO_TEST_CASE(a_token_command_that_fails_is_named) {
    auto more = settings("SASL", sasl("OAUTHBEARER", "", ""));
    more["kafka.oauth_token_command"] = "echo the vault is sealed >&2; exit 3";
    check_reason("no-token", more, "the vault is sealed");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rights)

/// Without the right, with it, without it again while a record waits, and with it again.
void check_right_comes_and_goes(const std::string& name, const KafkaRight& right, const std::string& reason) {
    const Rig rig = rig_on(name, settings("SASL", sasl("SCRAM-SHA-512", "scram512", right_password)));
    secured().acls.revoke(right);
    auto worker = rig.epilogue().start_worker();
    wait_unready(worker, reason);
    check_complains(rig, reason);
    secured().acls.grant(right);
    worker.wait_ready(60s);
    BOOST_TEST(complaints(rig) == "");

    secured().acls.revoke(right);
    rig.add_github(name, "o/" + name, 1, "once");
    rig.publish(V0Conversation(name).user("Go.").agent_finishes("Done.").records());
    wait_unready(worker, reason);
    eventually("the log says it", 30s, [&] { return contains(worker.process().err(), reason); });
    secured().acls.grant(right);
    worker.wait_ready(60s);
    eventually(name + " is told", 60s, [&] { return !rig.platform().visible().empty(); });
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(a_right_to_read_the_topic_that_is_missing_or_taken_away_makes_unready_and_is_named) {
    grant_all("scram512", "topic-right");
    check_right_comes_and_goes("topic-right",
                               right("scram512", "topic-right", KafkaRight::On::topic, KafkaRight::To::read),
                               "no right to read the topic topic-right");
}

BOOST_AUTO_TEST_CASE(a_right_to_join_the_group_that_is_missing_or_taken_away_makes_unready_and_is_named) {
    grant_all("scram512", "group-right");
    check_right_comes_and_goes("group-right",
                               right("scram512", "group-right", KafkaRight::On::group, KafkaRight::To::read),
                               "no right to join the consumer group group-right");
}

BOOST_AUTO_TEST_CASE(a_topic_that_is_hidden_is_not_called_missing) {
    secured().acls.grant(right("scram512", "hidden", KafkaRight::On::group, KafkaRight::To::read));
    const Rig rig = rig_on("hidden", settings("SASL", sasl("SCRAM-SHA-512", "scram512", right_password)));
    check_complains(rig, "no right to read the topic hidden");
    auto worker = rig.epilogue().start_worker();
    wait_unready(worker, "no right to read the topic hidden");
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(a_missing_right_to_produce_is_named) {
    const std::string user = "scram512";
    const std::string name = "read-only";
    secured().acls.grant(right(user, name, KafkaRight::On::topic, KafkaRight::To::read));
    secured().acls.grant(right(user, name, KafkaRight::On::group, KafkaRight::To::read));
    secured().broker.create_topic("letters", 1);
    auto more = settings("SASL", sasl("SCRAM-SHA-512", user, right_password));
    more["kafka.dead_letter_topic"] = "letters";
    const Rig rig = rig_on(name, more);
    const auto published = rig.epilogue().run({"publish"}, V0Conversation(name).user("Go.").lines());
    BOOST_TEST(published.status == 1);
    BOOST_TEST(contains(published.err, "authorization failed"), published.err);

    const std::string reason = "no right to produce to the topic letters";
    check_complains(rig, reason);
    auto worker = rig.epilogue().start_worker();
    wait_unready(worker, reason);
    const auto write = right(user, "letters", KafkaRight::On::topic, KafkaRight::To::write);
    secured().acls.grant(write);
    worker.wait_ready(60s);
    secured().acls.revoke(write);
    wait_unready(worker, reason);
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
