// A server that dies in the middle of an operation, for each of them, and comes back.
#define BOOST_TEST_MODULE agent_killed
#include <atomic>
#include <functional>
#include <future>
#include <optional>

#include <boost/test/unit_test.hpp>

#include "agent/conversation.h"
#include "base/process/ports.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Kind = AgentError::Kind;

namespace {

const std::string id = "11111111-2222-4333-8444-555555555555";

/// What an operation came to; nullopt: it worked.
using Fault = std::optional<AgentError>;

template <class T>
Fault fault_of(const AgentResult<T>& result) {
    if (result) return std::nullopt;
    return result.error();
}

struct Operation {
    std::string name;
    std::string request;  ///< at which the server dies, as FakeAgentServer::on() takes it
    bool reads = false;   ///< nothing is changed by it
    std::function<Fault(RemoteConversation&)> play;
    std::string version = "1.58.0";
};

const std::vector<Operation>& operations() {
    static const std::vector<Operation> all{
        {"create", "POST /api/conversations", false,
         [](auto& c) { return fault_of(create_conversation(c.calls().server(), "{}")); }},
        {"list", "GET /api/conversations/search", true,
         [](auto& c) { return fault_of(list_conversations(c.calls().server(), 10, "", "")); }},
        {"send", "POST /events", false, [](auto& c) { return fault_of(c.calls().send_message("x", true)); }},
        {"start", "POST /run", false, [](auto& c) { return fault_of(c.start()); }},
        {"run", "POST /run", false, [](auto& c) { return fault_of(c.run()); }},
        {"pause", "POST /pause", false, [](auto& c) { return fault_of(c.calls().pause()); }},
        {"interrupt", "POST /interrupt", false, [](auto& c) { return fault_of(c.calls().interrupt()); }},
        {"respond", "POST /respond_to_confirmation", false,
         [](auto& c) { return fault_of(c.calls().respond(true, "")); }},
        {"policy", "POST /confirmation_policy", false,
         [](auto& c) { return fault_of(c.calls().set_confirmation_policy(R"({"kind":"AlwaysConfirm"})")); }},
        {"analyzer", "POST /security_analyzer", false,
         [](auto& c) { return fault_of(c.calls().set_security_analyzer("null")); }},
        {"secrets", "POST /secrets", false,
         [](auto& c) {
             return fault_of(c.update_secrets({{"A", [] { return Secret("s"); }}}));
         }},
        {"ask", "POST /ask_agent", false, [](auto& c) { return fault_of(c.calls().ask_agent("?")); }},
        {"generate_title", "POST /generate_title", false,
         [](auto& c) { return fault_of(c.calls().generate_title()); }, "1.7.3"},
        {"set_title", "PATCH /" + id, false, [](auto& c) { return fault_of(c.calls().set_title("t")); }},
        {"condense", "POST /condense", false, [](auto& c) { return fault_of(c.calls().condense()); }},
        {"remove", "DELETE /" + id, false, [](auto& c) { return fault_of(c.calls().remove()); }},
        {"final", "GET /agent_final_response", true, [](auto& c) { return fault_of(c.final_response()); }},
        {"info", "GET /" + id, true, [](auto& c) { return fault_of(c.calls().info()); }},
        {"events", "GET /events/search", true, [](auto& c) { return fault_of(c.calls().events()); }},
    };
    return all;
}

/// A server that can die at a request and come back on its port, with what it had.
class Mortal {
  public:
    explicit Mortal(const std::string& version) : version_(version) {
        live({message_event("1", 1, "user", "x")});
    }

    FakeAgentServer& operator*() const { return *server_; }
    FakeAgentServer* operator->() const { return server_.get(); }

    /// From now on it does not answer this request.
    void stop_at(const std::string& request) {
        server_->on(request, [this](const auto&) {
            if (!reached_before_.exchange(true)) reached_.set_value();
            death_.wait();
            return fake_platform::no_reply(fake_platform::Ending::reset);
        });
    }
    /// Waits for the request, and dies in the middle of it.
    void die_there() {
        reached_.get_future().wait();
        auto log = server_->log(id);
        die_.set_value();
        server_.reset();
        log_ = std::move(log);
    }
    /// Comes back. What it had not yet told when it died is in its log.
    void come_back() {
        log_.push_back(message_event("untold", 500, "agent", "x"));
        live(log_);
    }

  private:
    void live(const std::vector<std::string>& log) {
        server_ = std::make_unique<FakeAgentServer>(version_, "key", port_);
        server_->add(id, log);
    }

    const std::string version_;
    const unsigned short port_ = process::free_port();
    std::atomic<bool> reached_before_ = false;  // a read comes twice
    std::promise<void> reached_;
    std::promise<void> die_;
    std::shared_future<void> death_ = die_.get_future().share();
    std::vector<std::string> log_;
    std::unique_ptr<FakeAgentServer> server_;  ///< last: its threads use the above
};

ConversationOptions fast() {
    ConversationOptions options;
    options.socket.backoff_base = 1ms;
    options.socket.backoff_cap = 50ms;
    return options;
}

std::unique_ptr<RemoteConversation> attached(const FakeAgentServer& server, Deadlines deadlines = {}) {
    auto conversation = RemoteConversation::attach(server.client(std::nullopt, deadlines), id, fast());
    if (!conversation) throw std::runtime_error(conversation.error().text);
    return std::move(*conversation);
}

bool has_all_of(const RemoteConversation& conversation, const FakeAgentServer& server) {
    std::vector<std::string> here;
    for (const EventRef& event : conversation.events()) here.push_back(event->id);
    std::vector<std::string> there;
    for (const std::string& event : server.log(id)) there.push_back(parse_event(event)->id);
    return here == there;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_operation_in_whose_middle_the_server_dies_ends_as_unreachable_and_nothing_is_lost) {
    for (const Operation& operation : operations()) {
        BOOST_TEST_CONTEXT(operation.name) {
            Mortal server(operation.version);
            const auto conversation = attached(*server);
            server.stop_at(operation.request);
            auto played = std::async(std::launch::async, [&] { return operation.play(*conversation); });
            server.die_there();
            const Fault fault = played.get();
            BOOST_REQUIRE(fault.has_value());
            BOOST_TEST((fault->kind == Kind::unreachable), name_of(fault->kind) << ": " << fault->text);
            BOOST_TEST(fault->maybe_done == !operation.reads);
            server.come_back();
            eventually("the server's list", [&] { return has_all_of(*conversation, *server); });
            BOOST_TEST(conversation->state().has_value());
            conversation->close();
        }
    }
}

BOOST_AUTO_TEST_CASE(an_operation_that_a_server_never_answers_ends_at_its_deadline) {
    Deadlines soon;
    soon.call = 300ms;
    soon.llm = 300ms;
    for (const Operation& operation : operations()) {
        BOOST_TEST_CONTEXT(operation.name) {
            Mortal server(operation.version);
            const auto conversation = attached(*server, soon);
            server.stop_at(operation.request);
            const Fault fault = operation.play(*conversation);
            BOOST_REQUIRE(fault.has_value());
            BOOST_TEST((fault->kind == Kind::timed_out), name_of(fault->kind) << ": " << fault->text);
            BOOST_TEST(fault->maybe_done == !operation.reads);
            server.die_there();
            conversation->close();
        }
    }
}

BOOST_AUTO_TEST_CASE(a_log_that_is_read_while_the_server_dies_is_read_again_as_a_whole) {
    Mortal server("1.58.0");
    for (int i = 2; i < 250; ++i) server->append(id, message_event(std::to_string(i), i, "agent", "x"));
    server.stop_at("GET /events/search");
    ConversationOptions options = fast();
    options.first_sync = 10ms;
    const auto conversation = RemoteConversation::attach(server->client(), id, options);
    BOOST_REQUIRE(conversation.has_value());
    server.die_there();
    server.come_back();
    eventually("the server's list", [&] { return has_all_of(**conversation, *server); });
    (*conversation)->close();
}
