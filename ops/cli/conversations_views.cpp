// epilogue conversations create | list | show | events
#include <condition_variable>
#include <csignal>
#include <mutex>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/conversation.h"
#include "agent/render.h"
#include "base/bounded_json.h"
#include "base/ids.h"
#include "base/json_text.h"
#include "ops/cli/conversations.h"
#include "ops/cli/output.h"
#include "ops/cli/signal_watch.h"

namespace epilogue::cli {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<Column> columns{{"id", Kind::text, Shown::whole},
                                  {"execution_status"},
                                  {"title"},
                                  {"created_at", Kind::time},
                                  {"updated_at", Kind::time}};
const std::vector<Column> details{{"workspace", Kind::json},
                                  {"persistence_dir"},
                                  {"confirmation_policy", Kind::json},
                                  {"security_analyzer", Kind::json},
                                  {"max_iterations"}};

void print(const Json& document) {
    fmt::print("{}\n", json_indented(document));
}

/// The columns of one conversation's information.
SqlRow row_of(const Json& info, const std::vector<Column>& wanted) {
    SqlRow row;
    for (const Column& column : wanted) {
        const auto found = info.find(column.name);
        if (found == info.end() || found->is_null())
            row.emplace_back(std::nullopt);
        else
            row.emplace_back(found->is_string() ? found->get<std::string>() : json_line(*found));
    }
    return row;
}

struct Creation {
    std::shared_ptr<AgentCommon> agent;
    std::string request = "{}";
    std::string id;
    std::string message;
    std::string workspace;
    std::int64_t max_iterations = 0;
    bool remember = false;
};

/// The request's own id of the conversation; one is made up when it has none.
std::string id_in(Json& request) {
    Json& id = request["conversation_id"];
    if (id.is_null()) id = random_uuid();
    if (!id.is_string()) throw Exit{usage, "--request: expected a UUID as conversation_id"};
    return id.get<std::string>();
}

/// The conversation is there by now, whatever becomes of this.
void keep(const EndpointMemory& memory, const std::string& id) {
    try {
        memory.keep();
    } catch (const Exit& fault) {
        throw Exit{fault.code, agent::printable(id) + " was created, and is not remembered: " + fault.text +
                                   "; try epilogue conversations remember"};
    }
}

void create(const Creation& options) {
    Json request = parse_ordered_json(text_or_file(options.request));
    if (!request.is_object()) throw Exit{usage, "--request: expected a JSON object"};
    if (!options.id.empty()) request["conversation_id"] = utf8_or_refuse(options.id, "--id");
    if (!options.workspace.empty())
        request["workspace"] = {{"kind", "LocalWorkspace"},
                                {"working_dir", utf8_or_refuse(options.workspace, "--workspace")}};
    if (options.max_iterations > 0) request["max_iterations"] = options.max_iterations;
    if (!options.message.empty())
        request["initial_message"] = {
            {"role", "user"},
            {"content", Json::array({{{"type", "text"}, {"text", text_or_file(options.message)}}})},
            {"run", true}};
    const Config config = load(options.agent->common);
    const auto server = reach_server(*options.agent, config);
    std::optional<EndpointMemory> memory;
    if (options.remember) memory.emplace(*server, id_in(request), config);
    const auto info = parse_ordered_json(expect(agent::create_conversation(*server, request.dump())));
    if (memory) keep(*memory, info.value("id", ""));
    if (options.agent->common.json)
        print(info);
    else
        fmt::print("{}\n", agent::printable(info.value("id", "")));
}

void list(const AgentCommon& options, const std::string& status, std::size_t limit) {
    const auto server = reach_server(options);
    Json all = Json::array();
    std::string page_id;
    bool has_more = false;
    do {
        const auto page = expect(agent::list_conversations(*server, 100, status, page_id));
        for (const std::string& item : page.items) {
            has_more = all.size() == limit;
            if (!has_more) all.push_back(parse_ordered_json(item));
        }
        page_id = page.next_page_id;
    } while (!page_id.empty() && all.size() < limit);
    has_more = has_more || !page_id.empty();
    const std::string text = counted(std::ssize(all), "conversation") + "; there are more: --limit N";
    if (options.common.json) {
        print(all);
        if (has_more) fmt::print(stderr, "epilogue: {}\n", text);
        return;
    }
    std::vector<SqlRow> rows;
    for (const Json& info : all) rows.push_back(row_of(info, columns));
    print_list(columns, rows, false);
    fmt::print("{}\n", has_more ? text : counted(std::ssize(all), "conversation"));
}

void show(const AgentCommon& options) {
    const Json info = parse_ordered_json(expect(reach_conversation(options).info()));
    if (options.common.json) {
        print(info);
        return;
    }
    auto wanted = columns;
    wanted.insert(wanted.end(), details.begin(), details.end());
    print_one(wanted, row_of(info, wanted), false);
}

/// Prints one event: for a person, or as a line of JSON.
void print_event(const agent::RemoteEvent& event, bool json) {
    const std::string text = json ? event.json : agent::render(event);
    if (!text.empty()) fmt::print("{}\n", text);
}

void print_events(const AgentCommon& options) {
    const auto log = expect(reach_conversation(options).events());
    if (!options.common.json) {
        for (const auto& event : log) print_event(*event, false);
        return;
    }
    Json all = Json::array();
    for (const auto& event : log) all.push_back(parse_ordered_json(event->json));
    print(all);
}

/// Prints what is there and what comes, until SIGINT or SIGTERM.
void follow_events(const AgentCommon& options) {
    std::mutex mutex;
    std::condition_variable asked;
    bool over = false;
    const SignalWatch signals({SIGINT, SIGTERM}, [&](int) {
        const std::lock_guard lock(mutex);
        over = true;
        asked.notify_all();
    });
    agent::ConversationOptions conversation;
    conversation.callbacks.emplace_back([json = options.common.json](const agent::RemoteEvent& event) {
        if (event.is_full_state()) return;
        print_event(event, json);
        std::fflush(stdout);
    });
    conversation.look_after = std::chrono::seconds(5);
    const auto followed =
        expect(agent::RemoteConversation::attach(reach_server(options), options.id, std::move(conversation)));
    std::unique_lock lock(mutex);
    constexpr std::chrono::seconds look_every{1};
    bool complained = false;
    while (!asked.wait_for(lock, look_every, [&] { return over; })) {
        if (const auto ended = followed->ended()) fail(*ended);
        const auto fault = followed->log_fault();
        if (fault && !complained)
            fmt::print(stderr, "epilogue: the log cannot be read now ({}); what comes is shown\n",
                       agent::printable(fault->text));
        complained = fault.has_value();
    }
}

}  // namespace

void add_conversation_views(CLI::App& parent) {
    auto creation = std::make_shared<Creation>();
    auto [create_command, create_common] =
        add_agent_command(parent, "create", "Create a conversation; print its id", false);
    creation->agent = create_common;
    create_command->add_option(
        "--request", creation->request,
        "The server's StartConversationRequest as JSON, or @FILE (@-: standard input)");
    create_command->add_option("--id", creation->id, "A UUID of your own");
    create_command->add_option("--message", creation->message,
                               "First message, or @FILE; the agent starts at once");
    create_command->add_option("--workspace", creation->workspace, "Working folder on the server");
    create_command->add_option("--max-iterations", creation->max_iterations, "Steps of one run, at most")
        ->check(CLI::Range(1, 1'000'000));
    create_command->add_flag("--remember", creation->remember,
                             "And tell workers which server it is on, as `remember` does");
    create_command->callback([creation] { create(*creation); });

    auto [list_command, list_common] = add_agent_command(parent, "list", "List conversations", false);
    auto status = std::make_shared<std::string>();
    auto limit = std::make_shared<std::size_t>(100);
    list_command->add_option("--status", *status, "Only those with this execution status");
    list_command->add_option("--limit", *limit, "At most so many")->check(CLI::Range(1, 1'000'000));
    list_command->callback([common = list_common, status, limit] { list(*common, *status, *limit); });

    auto [show_command, show_common] = add_agent_command(parent, "show", "Show one conversation");
    show_command->callback([common = show_common] { show(*common); });

    auto [events_command, events_common] = add_agent_command(parent, "events", "Print its events");
    auto follow = std::make_shared<bool>(false);
    events_command->add_flag("--follow", *follow, "Go on as they come; with --json, one object a line");
    events_command->callback([common = events_common, follow] {
        if (*follow)
            follow_events(*common);
        else
            print_events(*common);
    });
}

}  // namespace epilogue::cli
