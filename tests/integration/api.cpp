// The API of callbacks, as scripts use it: registration over HTTP on a worker's one server.
#define BOOST_TEST_MODULE api
#include <array>
#include <set>
#include <thread>

#include <boost/test/unit_test.hpp>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/eventually.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

const std::string api_key = "a key of the tests";
constexpr std::size_t max_body_bytes = std::size_t{1} << 20U;

struct Ask {
    std::string method = "GET";
    std::string path = "/api/callbacks";
    std::string body = "";
    std::vector<std::string> headers = {};
    std::string key = api_key;  ///< "": no such header
};

HttpAnswer ask(const WorkerProcess& worker, const Ask& what) {
    HttpRequest request;
    request.method = what.method;
    request.url = worker.url(what.path);
    request.headers = what.headers;
    if (!what.key.empty()) request.headers.push_back("X-Session-API-Key: " + what.key);
    request.body = what.body;
    request.timeout = 60s;
    return HttpClient().send(request);
}

HttpAnswer post(const WorkerProcess& worker, const Json& body, const std::string& idempotency_key = "") {
    Ask what{.method = "POST", .body = body.dump(), .headers = {"Content-Type: application/json"}};
    if (!idempotency_key.empty()) what.headers.push_back("Idempotency-Key: " + idempotency_key);
    return ask(worker, what);
}

Json log_for(const std::string& conversation) {
    return {{"conversation", conversation}, {"processor", "log"}};
}

std::int64_t id_in(const HttpAnswer& answer) {
    return Json::parse(answer.body).at("id").get<std::int64_t>();
}

std::set<std::int64_t> ids_in(const HttpAnswer& answer) {
    std::set<std::int64_t> ids;
    for (const auto& row : Json::parse(answer.body)) ids.insert(row.at("id").get<std::int64_t>());
    return ids;
}

/// What the worker answers to a registration whose body comes byte by byte, one each `pause`, and never ends.
std::string answer_to_trickle(const WorkerProcess& worker, std::chrono::milliseconds pause) {
    const std::string address = worker.url();
    const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    there.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    BOOST_REQUIRE(::connect(peer, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0);
    const auto send = [peer](const std::string& bytes) {
        return ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
    };
    BOOST_REQUIRE(
        send("POST /api/callbacks HTTP/1.1\r\nHost: worker\r\nContent-Type: application/json\r\n"
             "Content-Length: 100000\r\nX-Session-API-Key: " +
             api_key + "\r\n\r\n"));
    constexpr int most = 200;
    pollfd reply{peer, POLLIN, 0};
    for (int sent = 0; sent < most && ::poll(&reply, 1, static_cast<int>(pause.count())) == 0; ++sent)
        if (!send(" ")) break;
    std::string answer;
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = ::recv(peer, bytes.data(), bytes.size(), 0)) > 0;)
        answer.append(bytes.data(), static_cast<std::size_t>(count));
    ::close(peer);
    return answer;
}

/// One worker for the cases that need no other.
struct ApiEnvironment {
    Rig rig{"api", 1, {{"worker.api_key", api_key}}};
    WorkerProcess worker = rig.epilogue().worker();

    std::int64_t callbacks() const { return rig.number("SELECT COUNT(*) FROM conversation_callbacks"); }
};
ApiEnvironment& environment() {
    static ApiEnvironment one;
    return one;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_registered_is_what_the_commands_show) {
    auto& [rig, worker] = environment();
    const auto added = post(worker, {{"conversation", "7D1F0E0A-9d7b-4c56-a1b2-c3d4e5f60718"},
                                     {"processor", "github"},
                                     {"processor_json", {{"repo", "o/r"}, {"number", 7}, {"more", {1, 2}}}},
                                     {"mode", "every_turn"},
                                     {"triggers", {"finished", "error"}}});
    BOOST_TEST(added.status == 201, added.body);
    const auto id = std::to_string(id_in(added));
    BOOST_TEST(added.headers.at("location") == "/api/callbacks/" + id);
    BOOST_TEST(added.headers.at("content-type") == "application/json");
    BOOST_TEST(Json::parse(added.body).at("conversation_id").get<std::string>() ==
               "7d1f0e0a9d7b4c56a1b2c3d4e5f60718");

    const auto shown = rig.epilogue().run({"callbacks", "show", id, "--json"});
    BOOST_TEST((Json::parse(added.body) == Json::parse(shown.out)));
    BOOST_TEST((Json::parse(ask(worker, {.path = "/api/callbacks/" + id}).body) == Json::parse(shown.out)));
    const auto listed = rig.epilogue().run({"callbacks", "list", "--json"});
    BOOST_TEST((Json::parse(ask(worker, {}).body) == Json::parse(listed.out)));
}

BOOST_AUTO_TEST_CASE(an_agent_server_comes_with_the_registration_and_its_key_is_never_shown) {
    auto& [rig, worker] = environment();
    Json wanted = log_for("agent");
    wanted["agent_url"] = "https://agents.example.com";
    wanted["agent_key"] = "hidden-key";
    const auto added = post(worker, wanted);
    BOOST_TEST(added.status == 201, added.body);
    BOOST_TEST(Json::parse(added.body).at("agent_url").get<std::string>() == "https://agents.example.com");
    BOOST_TEST(Json::parse(added.body).at("agent_key").get<std::string>() == "sealed");
    BOOST_TEST(added.body.find("hidden-key") == std::string::npos);
    wanted["agent_url"] = "https://user@agents.example.com";
    const auto refused = post(worker, wanted);
    BOOST_TEST(refused.status == 422, refused.body);
    BOOST_TEST(refused.body.find("agent_url: expected") != std::string::npos, refused.body);
}

BOOST_AUTO_TEST_CASE(delete_cancels_and_may_be_repeated) {
    auto& worker = environment().worker;
    const auto path = "/api/callbacks/" + std::to_string(id_in(post(worker, log_for("cancelled"))));
    for (int i = 0; i < 2; ++i) {
        const auto answer = ask(worker, {.method = "DELETE", .path = path});
        BOOST_TEST(answer.status == 200, answer.body);
        BOOST_TEST(Json::parse(answer.body).at("status").get<std::string>() == "COMPLETED");
        BOOST_TEST(Json::parse(answer.body).at("phase").get<std::string>() == "cancelled");
    }
    for (const char* method : {"GET", "DELETE"}) {
        const auto answer = ask(worker, {.method = method, .path = "/api/callbacks/987654"});
        BOOST_TEST(answer.status == 404);
        BOOST_TEST(contains(Json::parse(answer.body).at("detail").get<std::string>(), "987654"));
    }
}

BOOST_AUTO_TEST_CASE(the_list_takes_the_filters_of_the_command) {
    auto& worker = environment().worker;
    std::vector<std::int64_t> ids;
    for (const char* conversation : {"la", "la", "lb", "lc"}) {
        Json wanted = log_for(conversation);
        wanted["again"] = true;
        ids.push_back(id_in(post(worker, wanted)));
    }
    ask(worker, {.method = "DELETE", .path = "/api/callbacks/" + std::to_string(ids[1])});
    const auto after = "&after=" + std::to_string(ids[0] - 1);
    const auto listed = [&](const std::string& query) {
        return ids_in(ask(worker, {.path = "/api/callbacks?" + query + after}));
    };
    BOOST_TEST((listed("") == std::set<std::int64_t>{ids[0], ids[1], ids[2], ids[3]}));
    BOOST_TEST((listed("conversation=la") == std::set<std::int64_t>{ids[0], ids[1]}));
    BOOST_TEST((listed("conversation_id=la") == std::set<std::int64_t>{ids[0], ids[1]}));
    BOOST_TEST((listed("status=COMPLETED") == std::set<std::int64_t>{ids[1]}));
    BOOST_TEST((listed("status=ACTIVE&conversation=la") == std::set<std::int64_t>{ids[0]}));
    BOOST_TEST((listed("limit=2") == std::set<std::int64_t>{ids[0], ids[1]}));
    BOOST_TEST(listed("dormant=true").empty());
    for (const char* wrong : {"status=active", "limit=0", "limit=1001", "limit=x", "after=-1",
                              "after=", "dormant=maybe", "colour=red"}) {
        const auto answer = ask(worker, {.path = std::string("/api/callbacks?") + wrong});
        BOOST_TEST(answer.status == 422, wrong);
        BOOST_TEST(!Json::parse(answer.body).at("detail").get<std::string>().empty());
    }
}

BOOST_AUTO_TEST_CASE(wrong_input_is_refused_with_the_reason_and_leaves_nothing) {
    auto& worker = environment().worker;
    const auto before = environment().callbacks();
    struct Wrong {
        Ask what;
        int status = 0;
        std::string named;
    };
    const auto body = [](const std::string& text, const std::string& type = "application/json") {
        return Ask{.method = "POST", .body = text, .headers = {"Content-Type: " + type}};
    };
    const std::string good = log_for("w").dump();
    std::vector<Wrong> wrong{
        {body("{"), 400, "not_json"},
        {body(std::string(100'000, '[')), 400, "too_deep"},
        {body("[]"), 400, "object"},
        {body("{}"), 422, "conversation"},
        {body(R"({"conversation": "", "processor": "log"})"), 422, "conversation"},
        {body(R"({"conversation": "w", "processor": "pigeon"})"), 422, "pigeon"},
        {body(R"({"conversation": "w", "processor": "github", "processor_json": {"repo": "o/r"}})"), 422,
         "number"},
        {body(R"({"conversation": "w", "processor": "log", "mode": "twice"})"), 422, "twice"},
        {body(R"({"conversation": "w", "processor": "log", "triggers": ["bored"]})"), 422, "bored"},
        {body(R"({"conversation": "w", "processor": "log", "from": "first"})"), 422, "from"},
        {body(R"({"conversation": "w", "processor": "log", "trigger": "x"})"), 422, "triggers"},
        {body(R"({"conversation": ")" + std::string(256, 'x') + R"(", "processor": "log"})"), 422,
         "conversation"},
        {body(good, "text/plain"), 415, "application/json"},
        {body(good, "application/x-www-form-urlencoded"), 415, "application/json"},
        {body(std::string(max_body_bytes, ' ') + good), 413, "1048576"},
        {Ask{.method = "PUT", .body = good}, 405, "POST"},
        {Ask{.method = "DELETE"}, 405, "POST"},
        {Ask{.method = "POST", .path = "/api/callbacks/1", .body = good}, 405, "DELETE"},
        {Ask{.path = "/api/callbacks/"}, 404, "path"},
        {Ask{.path = "/api/callbacks/x"}, 404, "path"},
        {Ask{.path = "/api/callbacks/99999999999999999999"}, 404, "path"},
        {Ask{.path = "/api/other"}, 404, "path"},
        {Ask{.method = "POST", .path = "/api/other", .body = good}, 404, "path"}};
    auto chunked = body(std::string(max_body_bytes, ' ') + good);
    chunked.headers.emplace_back("Transfer-Encoding: chunked");
    wrong.push_back({chunked, 413, "1048576"});
    auto long_key = body(good);
    long_key.headers.push_back("Idempotency-Key: " + std::string(256, 'k'));
    wrong.push_back({long_key, 400, "Idempotency-Key"});
    for (const auto& [what, status, named] : wrong) {
        const auto answer = ask(worker, what);
        BOOST_TEST_CONTEXT(what.method << " " << what.path << " " << what.body.substr(0, 80)) {
            BOOST_TEST(answer.status == status, answer.cause);
            const auto detail = Json::parse(answer.body, nullptr, false);
            BOOST_TEST((detail.is_object() && contains(detail.at("detail").get<std::string>(), named)),
                       answer.body);
            if (status == 405) BOOST_TEST(contains(answer.headers.at("allow"), "GET"));
        }
    }
    BOOST_TEST(environment().callbacks() == before);
    BOOST_TEST(ask(worker, {.method = "POST", .path = "/metrics", .body = good}).status == 405);
    BOOST_TEST(worker.get("/healthz").status == 200);
}

BOOST_AUTO_TEST_CASE(a_body_that_trickles_in_for_more_than_ten_seconds_is_refused) {
    const auto& [rig, worker] = environment();
    const auto before = environment().callbacks();
    const auto began = std::chrono::steady_clock::now();
    const std::string answer = answer_to_trickle(worker, 500ms);
    BOOST_TEST(answer.starts_with("HTTP/1.1 408"), answer);
    BOOST_TEST(contains(answer, R"({"detail":"the body did not come in time"})"), answer);
    BOOST_TEST((std::chrono::steady_clock::now() - began >= 10s));
    BOOST_TEST(environment().callbacks() == before);
}

BOOST_AUTO_TEST_CASE(nobody_gets_in_without_the_key) {
    auto& worker = environment().worker;
    const auto before = environment().callbacks();
    for (const std::string& key : {std::string(), std::string("a key of the test"), api_key + "x"}) {
        for (const char* path : {"/api/callbacks", "/api/callbacks/1", "/api/other"}) {
            const auto answer = ask(worker, {.path = path, .key = key});
            BOOST_TEST(answer.status == 401);
            BOOST_TEST(contains(answer.body, "X-Session-API-Key"), answer.body);
            BOOST_TEST(!contains(answer.body, api_key));
        }
        const auto answer = ask(worker, {.method = "POST",
                                         .body = log_for("w").dump(),
                                         .headers = {"Content-Type: application/json"},
                                         .key = key});
        BOOST_TEST(answer.status == 401);
    }
    BOOST_TEST(environment().callbacks() == before);
    BOOST_TEST(worker.get("/metrics").status == 200);  // that one is open to who can reach it
}

BOOST_AUTO_TEST_CASE(without_a_key_it_is_off_and_says_what_to_set) {
    const Rig rig("api_off", 1);
    const auto worker = rig.epilogue().worker();
    for (const std::string& key : {std::string(), api_key}) {
        const auto answer = ask(worker, {.method = "POST",
                                         .body = log_for("w").dump(),
                                         .headers = {"Content-Type: application/json"},
                                         .key = key});
        BOOST_TEST(answer.status == 403);
        BOOST_TEST(contains(answer.body, "api_key"), answer.body);
    }
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks") == 0);
}

BOOST_AUTO_TEST_CASE(a_repeated_request_registers_once_and_its_key_takes_no_other_body) {
    auto& [rig, worker] = environment();
    const auto first = post(worker, log_for("once"), "key-1");
    const auto again = post(worker, log_for("once"), "key-1");
    BOOST_TEST(first.status == 201);
    BOOST_TEST(again.status == 200);
    BOOST_TEST(again.headers.at("idempotent-replayed") == "true");
    BOOST_TEST(id_in(first) == id_in(again));
    const auto other = post(worker, log_for("twice"), "key-1");
    BOOST_TEST(other.status == 422);
    BOOST_TEST(contains(other.body, "Idempotency-Key"), other.body);
    Json second = log_for("once");
    second["again"] = true;
    BOOST_TEST(post(worker, second, "key-2").status == 201);
    BOOST_TEST(post(worker, {{"conversation", "w"}, {"processor", "pigeon"}}, "key-3").status == 422);
    BOOST_TEST(post(worker, log_for("mended"), "key-3").status == 201);  // what was refused took no key

    // A day later the key says nothing any more.
    rig.query("UPDATE kept_requests SET created_at=created_at - INTERVAL 25 HOUR");
    rig.query("UPDATE callback_progress SET phase='cancelled' WHERE conversation_id='once'");
    const auto next_day = post(worker, log_for("once"), "key-1");
    BOOST_TEST(next_day.status == 201);
    BOOST_TEST(id_in(next_day) != id_in(first));
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM kept_requests") == 1);
}

BOOST_AUTO_TEST_CASE(an_equal_registration_answers_with_the_first_one_and_says_so) {
    auto& worker = environment().worker;
    const auto first = post(worker, log_for("equal"));
    BOOST_TEST(first.status == 201);
    BOOST_TEST(first.headers.count("already-registered") == 0U);
    const Json by_shown_names{{"conversation_id", "equal"},
                              {"processor_type", "log"},
                              {"options", {{"mode", "once"}}},
                              {"again", false}};
    for (const auto& equal : {post(worker, log_for("equal")), post(worker, by_shown_names, "equal-key")}) {
        BOOST_TEST(equal.status == 200, equal.body);
        BOOST_TEST(id_in(equal) == id_in(first));
        BOOST_TEST(equal.headers.at("already-registered") == "true");
        BOOST_TEST(equal.headers.count("idempotent-replayed") == 0U);
        BOOST_TEST(equal.headers.at("location") == "/api/callbacks/" + std::to_string(id_in(first)));
    }
    Json again = log_for("equal");
    again["again"] = true;
    const auto second = post(worker, again);
    BOOST_TEST(second.status == 201, second.body);
    BOOST_TEST(id_in(second) != id_in(first));
}

BOOST_AUTO_TEST_CASE(equal_registrations_at_many_workers_at_once_make_one_callback) {
    auto& [rig, worker] = environment();
    const auto second = rig.epilogue().worker();
    for (int round = 0; round < 5; ++round) {
        const auto conversation = "at-once-" + std::to_string(round);
        std::vector<HttpAnswer> answers(8);
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < answers.size(); ++i)
                threads.emplace_back(
                    [&, i] { answers[i] = post(i % 2 == 0 ? worker : second, log_for(conversation)); });
        }
        std::multiset<int> statuses;
        for (const auto& answer : answers) statuses.insert(answer.status);
        BOOST_TEST(statuses.count(201) == 1U);
        BOOST_TEST(statuses.count(200) == answers.size() - 1);
        BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks WHERE conversation_id='" +
                              conversation + "'") == 1);
    }
}

BOOST_AUTO_TEST_CASE(one_key_at_many_workers_at_once_makes_one_callback) {
    auto& [rig, worker] = environment();
    const auto second = rig.epilogue().worker();
    constexpr int clients = 4;
    for (int round = 0; round < 5; ++round) {
        const auto key = "round-" + std::to_string(round);
        std::vector<HttpAnswer> answers(2 * clients);
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < answers.size(); ++i)
                threads.emplace_back([&, i] {
                    // The last one comes with another body: its own callback or none, never a second.
                    const auto body = log_for(i + 1 == answers.size() ? key + "-other" : key);
                    answers[i] = post(i % 2 == 0 ? worker : second, body, key);
                });
        }
        std::multiset<int> statuses;
        std::set<std::int64_t> ids;
        for (const auto& answer : answers) {
            statuses.insert(answer.status);
            if (answer.status < 300) ids.insert(id_in(answer));
        }
        BOOST_TEST(statuses.count(201) == 1U);
        BOOST_TEST(statuses.count(200) + statuses.count(422) == answers.size() - 1);
        BOOST_TEST(ids.size() == 1U);
        BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks WHERE conversation_id LIKE '" +
                              key + "%'") == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_database_that_does_not_answer_is_a_503_and_the_metrics_are_served_meanwhile) {
    const std::string name = "api_stalled";
    FaultProxy proxy(server_of_this_program().port());
    const Rig rig(name, 1, {{"worker.api_key", api_key}, {"database.port", std::int64_t{proxy.port()}}});
    const auto worker = rig.epilogue().worker();
    BOOST_TEST(post(worker, log_for("before"), "k").status == 201);
    eventually("the gauges show what the database tells",
               [&] { return contains(worker.get("/metrics").body, "\nepilogue_undelivered{"); });
    proxy.set({.stalls = true});
    std::vector<HttpAnswer> answers(40);  // more than the server has threads
    {
        std::vector<std::jthread> threads;
        for (auto& answer : answers)
            threads.emplace_back([&] { answer = post(worker, log_for("during"), "d"); });
        for (int i = 0; i < 5; ++i) BOOST_TEST(worker.get("/metrics").status == 200);
    }
    eventually("what the database tells is left out of the metrics, and not shown as 0",
               [&] { return !contains(worker.get("/metrics").body, "\nepilogue_undelivered{"); });
    for (const auto& answer : answers) {
        BOOST_TEST(answer.status == 503, answer.cause);
        BOOST_TEST(std::stoi(answer.headers.at("retry-after")) >= 1);
        BOOST_TEST(!Json::parse(answer.body).at("detail").get<std::string>().empty());
    }
    BOOST_TEST(ask(worker, {}).status == 503);
    BOOST_TEST(ask(worker, {.method = "DELETE", .path = "/api/callbacks/1"}).status == 503);
    proxy.set({});
    proxy.cut_all();
    eventually("it takes registrations again",
               [&] { return post(worker, log_for("during"), "d").status < 300; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks WHERE conversation_id='during'") == 1);
}

BOOST_AUTO_TEST_CASE(a_row_that_somebody_keeps_locked_holds_no_client_for_long) {
    auto& [rig, worker] = environment();
    BOOST_TEST(post(worker, log_for("locked")).status == 201);
    auto settings = server_of_this_program().administrator();
    settings.database = rig.name();
    auto blocker = MysqlSession::open(settings);
    BOOST_REQUIRE(blocker);
    BOOST_REQUIRE((*blocker)->run("BEGIN"));
    BOOST_REQUIRE((*blocker)->query("SELECT 1 FROM conversations WHERE conversation_id='locked' FOR UPDATE"));
    const auto answer = post(worker, log_for("locked"), "l");
    BOOST_TEST(answer.status == 503, answer.body);
    (void)(*blocker)->run("ROLLBACK").has_value();
    BOOST_TEST(post(worker, log_for("locked"), "l").status == 200);
}
