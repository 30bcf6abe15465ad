// epilogue conversations send | run | pause | interrupt | ask | final | confirm | close
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/conversation.h"
#include "agent/last_words.h"
#include "agent/render.h"
#include "base/bounded_json.h"
#include "base/json_text.h"
#include "ops/cli/conversations.h"
#include "ops/cli/signal_watch.h"

namespace epilogue::cli {
namespace {

struct Run {
    std::shared_ptr<AgentCommon> agent;
    bool detached = false;
    std::int64_t timeout_s = 3600;
};

/// Ends the program by `signal`, as it would have without us, and says what goes on without it.
[[noreturn]] void leave_run(int signal, const std::string& id, bool asked) {
    const std::string shown = agent::printable(id);
    const std::string text =
        asked ? fmt::format(
                    "the agent works on; epilogue conversations run {0} waits for its end again, "
                    "epilogue conversations pause {0} stops it",
                    shown)
              : "nothing was started";
    fmt::print(stderr, "epilogue: not waiting any longer: {}\n", text);
    std::fflush(nullptr);
    sigset_t set{};
    sigemptyset(&set);
    sigaddset(&set, signal);
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(signal);
    std::_Exit(failed);
}

/// Only who runs it needs to know how it ends: the log is not read. The time runs from here on.
agent::ConversationOptions only_to_run(std::chrono::steady_clock::time_point until) {
    agent::ConversationOptions options;
    options.until = until;
    options.reads_log = false;
    return options;
}

void run(const Run& options) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::seconds(options.timeout_s);
    const auto left = [until] {
        return std::max(std::chrono::milliseconds(1),
                        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()));
    };
    std::atomic<bool> asked = false;
    const SignalWatch signals({SIGINT, SIGTERM},
                              [&, id = options.agent->id](int signal) { leave_run(signal, id, asked); });
    const auto server = reach_server(*options.agent, left());
    const auto conversation =
        expect(agent::RemoteConversation::attach(server, options.agent->id, only_to_run(until)));
    asked = true;
    if (options.detached) {
        const bool started = expect(conversation->start());
        print_answer("run", started ? "started" : "running already", options.agent->common.json);
        return;
    }
    const auto end = expect(conversation->run(left()));
    if (options.agent->common.json)
        fmt::print("{}\n",
                   json_indented(nlohmann::ordered_json{{"status", end.status}, {"reason", end.reason}}));
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
        const std::string words = expect(agent::last_words_of(reach_conversation(*common)));
        print_answer("response", words, common->common.json);
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
