// epilogue conversations send | run | pause | interrupt | ask | final | confirm | close
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/conversation.h"
#include "agent/render.h"
#include "base/bounded_json.h"
#include "ops/cli/conversations.h"

namespace epilogue::cli {
namespace {

struct Run {
    std::shared_ptr<AgentCommon> agent;
    bool detached = false;
    std::int64_t timeout_s = 3600;
};

void run(const Run& options) {
    const auto conversation =
        expect(agent::RemoteConversation::attach(reach_server(*options.agent), options.agent->id));
    if (options.detached) {
        const bool started = expect(conversation->start());
        print_answer("run", started ? "started" : "running already", options.agent->common.json);
        return;
    }
    const auto end = expect(conversation->run(std::chrono::seconds(options.timeout_s)));
    if (options.agent->common.json)
        fmt::print("{}\n", nlohmann::ordered_json{{"status", end.status}, {"reason", end.reason}}.dump(
                               2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    else
        fmt::print("{}\n", agent::printable(end.status + (end.reason.empty() ? "" : ": " + end.reason)));
    if (end.failed()) throw Exit{failed, ""};
}

/// Stops the agent, if it works: at once where the server can do that.
void stop_agent(const agent::ConversationCalls& calls) {
    const auto stopped = expect(calls.server().features()).interrupt ? calls.interrupt() : calls.pause();
    expect(stopped);
}

void close(const AgentCommon& options, bool remove) {
    const agent::ConversationCalls calls = reach_conversation(options);
    const auto info = parse_json(expect(calls.info()));
    if (info.value("execution_status", "") == "running") stop_agent(calls);
    if (remove) expect(calls.remove());
}

}  // namespace

void add_conversation_talk(CLI::App& parent) {
    auto [send_command, send_common] = add_agent_command(parent, "send", "Send a message of the user");
    auto text = std::make_shared<std::string>();
    auto and_run = std::make_shared<bool>(false);
    send_command->add_option("TEXT", *text, "The message, or @FILE (@-: standard input)")->required();
    send_command->add_flag("--run", *and_run, "And let the agent answer");
    send_command->callback([common = send_common, text, and_run] {
        const std::string message = text_or_file(*text);
        expect(reach_conversation(*common).send_message(message, *and_run));
    });

    auto options = std::make_shared<Run>();
    auto [run_command, run_common] = add_agent_command(
        parent, "run", "Let the agent work, and wait for the end; exit code 1 when it fails");
    options->agent = run_common;
    run_command->add_flag("--detach", options->detached, "Do not wait");
    run_command
        ->add_option("--timeout", options->timeout_s, "Wait for so many seconds at most (default: 3600)")
        ->check(CLI::Range(1, 1'000'000));
    run_command->callback([options] { run(*options); });

    auto [pause_command, pause_common] =
        add_agent_command(parent, "pause", "Stop the agent after its present step");
    pause_command->callback([common = pause_common] { expect(reach_conversation(*common).pause()); });

    auto [interrupt_command, interrupt_common] = add_agent_command(
        parent, "interrupt", "Stop the agent in the middle of its step (servers from 1.23.0)");
    interrupt_command->callback(
        [common = interrupt_common] { expect(reach_conversation(*common).interrupt()); });

    auto [ask_command, ask_common] =
        add_agent_command(parent, "ask", "Ask about the conversation, which does not change by it");
    auto question = std::make_shared<std::string>();
    ask_command->add_option("QUESTION", *question, "The question, or @FILE (@-: standard input)")->required();
    ask_command->callback([common = ask_common, question] {
        const std::string asked = text_or_file(*question);
        print_answer("response", expect(reach_conversation(*common).ask_agent(asked)), common->common.json);
    });

    auto [final_command, final_common] = add_agent_command(parent, "final", "Print the agent's last words");
    final_command->callback([common = final_common] {
        const auto conversation =
            expect(agent::RemoteConversation::attach(reach_server(*common), common->id));
        print_answer("response", expect(conversation->final_response()), common->common.json);
    });

    auto [confirm_command, confirm_common] =
        add_agent_command(parent, "confirm", "Accept or reject the actions that wait for confirmation");
    auto accept = std::make_shared<bool>(false);
    auto reject = std::make_shared<bool>(false);
    auto reason = std::make_shared<std::string>();
    auto* accept_flag = confirm_command->add_flag("--accept", *accept, "They may be done; the agent goes on");
    confirm_command->add_flag("--reject", *reject, "They may not")->excludes(accept_flag);
    confirm_command->add_option("--reason", *reason, "Why they are rejected")->excludes(accept_flag);
    confirm_command->callback([common = confirm_common, accept, reject, reason] {
        if (*accept == *reject) throw Exit{usage, "expected --accept or --reject"};
        const std::string why = utf8_or_refuse(*reason, "--reason");
        expect(reach_conversation(*common).respond(*accept, why));
    });

    auto [close_command, close_common] =
        add_agent_command(parent, "close", "Stop the agent if it works; the history stays");
    auto remove = std::make_shared<bool>(false);
    close_command->add_flag("--delete", *remove, "And remove the conversation with its history");
    close_command->callback([common = close_common, remove] { close(*common, *remove); });
}

}  // namespace epilogue::cli
