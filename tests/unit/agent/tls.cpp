// The agent client over TLS: a stand-in behind certificates that the test makes itself.
#define BOOST_TEST_MODULE agent_tls
#include <atomic>
#include <cstdlib>

#include <boost/test/unit_test.hpp>

#include "agent/conversation.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/agent/tls_front.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Kind = AgentError::Kind;

namespace {

const std::string id = "11111111-2222-4333-8444-555555555555";

/// The authority that this process trusts: OpenSSL's environment says so, before anybody asks.
const Authority& trusted() {
    static const Authority authority;
    return authority;
}

struct TrustedAuthority {
    TrustedAuthority() { BOOST_REQUIRE(setenv("SSL_CERT_FILE", trusted().certificate().c_str(), 1) == 0); }
};

std::string url(const std::string& host, const TlsFront& front) {
    return "https://" + host + ":" + std::to_string(front.port());
}

std::shared_ptr<AgentServer> client(const std::string& url) {
    return std::make_shared<AgentServer>(parse_address(url).value(), Secret("key"));
}

ConversationOptions fast() {
    ConversationOptions options;
    options.socket.backoff_base = 1ms;
    options.socket.backoff_cap = 50ms;
    return options;
}

/// Neither a call nor a socket says anything to a server that shows `identity` to who asks for `host`.
void check_refused(const std::string& host, const Identity& identity) {
    FakeAgentServer server;
    server.add(id);
    const TlsFront front(server.port(), identity);
    const auto call = ConversationCalls(client(url(host, front)), id).send_message("a secret");
    BOOST_TEST((call.error().kind == Kind::unreachable));
    BOOST_TEST(!call.error().maybe_done);
    std::atomic<int> downs = 0;
    std::atomic<int> others = 0;
    {
        EventSocket socket({parse_address(url(host, front)).value(), id, Secret("key"), SocketAuth::query},
                           {[&] { ++others; }, [&](const std::string&) { ++others; },
                            [&](const std::string& cause) {
                                if (cause.find("certificate verify failed") == std::string::npos) ++others;
                                ++downs;
                            },
                            [&](const AgentError&) { ++others; }},
                           fast().socket);
        eventually("two tries", [&] { return downs >= 2; });
    }
    BOOST_TEST(others == 0);
    BOOST_TEST(server.seen().empty());
}

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(TrustedAuthority);

BOOST_AUTO_TEST_CASE(calls_and_socket_reach_a_server_whose_authority_is_trusted) {
    for (const std::string host : {"localhost", "127.0.0.1"}) {
        FakeAgentServer server;
        server.add(id, {message_event("1", 1, "user", "please")});
        server.on_run([&](const std::string&) {
            server.emit(id, status_event("2", 2, "running"));
            server.emit(id, status_event("3", 3, "finished"));
        });
        const TlsFront front(server.port(), trusted().issue((host == "localhost" ? "DNS:" : "IP:") + host));
        const auto conversation = RemoteConversation::attach(client(url(host, front)), id, fast());
        BOOST_REQUIRE_MESSAGE(conversation.has_value(), conversation.error().text);
        BOOST_TEST((*conversation)->is_live());
        BOOST_TEST((*conversation)->run().value().status == "finished");
        BOOST_TEST((*conversation)->events().size() == 3U);
        // A name is asked for, so that one address can have many; an address is none (RFC 6066).
        for (const std::string& name : front.names()) BOOST_TEST(name == (host == "localhost" ? host : ""));
        (*conversation)->close();
    }
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_host_is_refused) {
    check_refused("localhost", trusted().issue("DNS:elsewhere.example"));
    check_refused("127.0.0.1", trusted().issue("DNS:localhost"));
    check_refused("127.0.0.1", trusted().issue("IP:127.0.0.2"));
}

BOOST_AUTO_TEST_CASE(a_certificate_of_an_unknown_authority_is_refused) {
    check_refused("localhost", Authority().issue("DNS:localhost"));
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_not_spoken_to) {
    const FakeAgentServer server;
    const auto answer = client("https://localhost:" + std::to_string(server.port()))->features();
    BOOST_TEST((answer.error().kind == Kind::unreachable));
    BOOST_TEST(server.seen().empty());
}
