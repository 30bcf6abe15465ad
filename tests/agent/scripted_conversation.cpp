#include "tests/agent/scripted_conversation.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"

namespace epilogue::testing {

using namespace agent;
using namespace std::chrono_literals;
using Json = nlohmann::json;

std::string with_condenser(const RealServer& server, const std::string& script) {
    Json llm = Json::parse(server.request(script)).at("agent").at("llm");
    llm["usage_id"] = "condenser";
    const Json condenser{
        {"kind", "LLMSummarizingCondenser"}, {"llm", llm}, {"max_size", 20}, {"keep_first", 2}};
    return Json{{"agent", {{"condenser", condenser}}}, {"max_iterations", 12}}.dump();
}

ScriptedConversation::ScriptedConversation(const RealServer& server, const std::string& script,
                                           const std::string& more, std::optional<unsigned short> port)
    : server_(server) {
    ConversationOptions options;
    options.socket.backoff_base = 50ms;
    options.socket.backoff_cap = 500ms;
    options.first_sync = 2s;
    options.callbacks.emplace_back([this](const RemoteEvent& event) {
        const std::lock_guard lock(mutex_);
        if (event.is_stored()) seen_.push_back(event.id);
    });
    conversation_ = expect(
        RemoteConversation::create(server.client(port), server.request(script, more), std::move(options)));
}

ScriptedConversation& ScriptedConversation::send(const std::string& text) {
    expect(conversation_->calls().send_message(text.empty() ? server_.task() : text));
    return *this;
}

RunEnd ScriptedConversation::run() {
    return expect(conversation_->run(run_patience));
}

void ScriptedConversation::start() {
    if (!expect(conversation_->start())) throw std::runtime_error("it works already");
    eventually("the run", run_patience,
               [&] { return expect(conversation_->state()).execution_status() == "running"; });
}

void ScriptedConversation::accept_until_finished() {
    constexpr int most_actions = 8;
    for (int i = 0; i < most_actions; ++i) {
        const std::size_t before = conversation_->events().size();
        expect(conversation_->calls().respond(true, ""));
        eventually("the action was done", run_patience,
                   [&] { return conversation_->events().size() > before + 1; });
        if (expect(conversation_->wait_for_end(run_patience)).status == "finished") return;
    }
    throw std::runtime_error("it has not finished after so many actions");
}

void ScriptedConversation::server_was_killed() {
    const std::lock_guard lock(mutex_);
    seen_before_kill_ = {seen_.begin(), seen_.end()};
}

std::vector<std::string> ScriptedConversation::log() const {
    const auto events = ConversationCalls(server_.client(), conversation_->id()).events();
    if (!events && events.error().text.find("events/event-") != std::string::npos)
        throw LogLost(events.error().text);
    std::vector<std::string> ids;
    for (const EventRef& event : expect(events)) ids.push_back(event->id);
    return ids;
}

std::string ScriptedConversation::differs_now() {
    std::vector<std::string> expected;
    try {
        expected = log();
        expect(conversation_->reconcile(run_patience));
    } catch (const LogLost&) {
        throw;
    } catch (const std::runtime_error& fault) {
        return fault.what();
    }
    std::vector<std::string> listed;
    std::vector<EventRef> unstored;
    for (const EventRef& event : conversation_->events()) {
        if (std::find(expected.begin(), expected.end(), event->id) == expected.end())
            unstored.push_back(event);
        listed.push_back(event->id);
    }
    const std::lock_guard lock(mutex_);
    auto seen = seen_;
    if (unstored.size() == 1 && seen_before_kill_.contains(unstored[0]->id)) {
        std::erase(listed, unstored[0]->id);
        std::erase(seen, unstored[0]->id);
        unstored.clear();
    }
    std::string text;
    for (const EventRef& event : unstored) text += "not in the server's log: " + event->json + ". ";
    if (listed != expected)
        text += "listed " + std::to_string(listed.size()) + " of " + std::to_string(expected.size()) + ". ";
    std::sort(seen.begin(), seen.end());
    std::sort(expected.begin(), expected.end());
    if (seen != expected)
        text += "told " + std::to_string(seen.size()) + " of " + std::to_string(expected.size()) + ". ";
    return text;
}

std::string ScriptedConversation::difference() {
    std::string text;
    try {
        // Statistics come a little after the end.
        eventually("the server's log", [&] { return (text = differs_now()).empty(); });
    } catch (const GaveUp&) {
        return text;
    }
    return "";
}

}  // namespace epilogue::testing
