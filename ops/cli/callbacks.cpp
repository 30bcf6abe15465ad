#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/calls.h"
#include "base/ids.h"
#include "ops/cli/command.h"
#include "ops/cli/output.h"
#include "sinks/port/descriptor.h"
#include "sinks/registry.h"
#include "worker/agents/agent_log.h"
#include "worker/apply/registration.h"
#include "worker/serve/callback_listing.h"
#include "worker/serve/registration_form.h"
#include "worker/settings.h"

namespace epilogue::cli {
namespace {

struct AddOptions {
    Common common;
    RegistrationForm form;
    std::string json_file;  ///< --processor-json-file; empty: not given
    std::string agent_key;  ///< --agent-key: where it is
    std::optional<std::string> idempotency_key;
};

std::string text_in(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw Exit{usage, "--processor-json-file " + path + ": cannot be read"};
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What would keep the agent server from answering a worker is said while the user is there to mend it.
void warn_of_silent_server(const RegistrationForm& form, const Config& config) {
    auto address = agent::parse_address(form.agent_url);
    if (!address) return;
    address->egress = agent_egress_rules(config);
    constexpr std::chrono::milliseconds longest{5000};
    const std::chrono::milliseconds within =
        std::min<std::chrono::milliseconds>(config.worker.http_timeout, longest);
    const auto server = std::make_shared<const agent::AgentServer>(
        *address, form.agent_key, agent::Deadlines{.reach = within, .call = within});
    const auto hindrance = look_once({server, normalise_conversation_id(form.conversation)}, within);
    if (!hindrance) return;
    fmt::print(stderr,
               "epilogue: warning: {}; workers go on asking (epilogue callbacks show says how it goes)\n",
               shown(hindrance->text));
}

void add(AddOptions& options) {
    const Config config = load(options.common);
    if (!options.agent_key.empty()) options.form.agent_key = secret_at("--agent-key", options.agent_key);
    if (!options.json_file.empty()) options.form.processor_json = text_in(options.json_file);
    auto request = expect(request_of(options.form, config, watch_rules(config)));
    if (options.idempotency_key) request.kept = expect(kept_request(*options.idempotency_key, options.form));
    const auto store = open_store(config);
    const Registered registered =
        expect(register_callback(*store, expect(planner_for(config, *store)), request));
    const std::int64_t id = registered.callback_id.value;
    const bool was_there = registered.existed || registered.is_equal;
    if (options.common.json)
        fmt::print("{{\"id\": {}, \"already_registered\": {}}}\n", id, was_there);
    else
        fmt::print("{}\n", id);
    if (!options.common.json && was_there)
        fmt::print(stderr, "epilogue: nothing was added: callback {} {}\n", id,
                   registered.existed
                       ? "was registered with this --idempotency-key"
                       : "is the same registration and still to report (--again adds another)");
    std::fflush(stdout);
    warn_of_silent_server(options.form, config);
}

struct ListOptions {
    Common common;
    CallbackFilter filter;
};

void list(const ListOptions& options) {
    const Config config = load(options.common);
    const auto store = open_store(config);
    auto filter = options.filter;
    const auto up_to = [&](std::int64_t limit) -> const CallbackFilter& {
        filter.limit = limit;
        return filter;
    };
    print_page(callback_list_columns(),
               {"callback", options.filter.limit,
                [&](std::int64_t limit) { return expect(list_callbacks(*store, up_to(limit))); },
                [&](std::int64_t limit) { return expect(count_callbacks(*store, up_to(limit))); }},
               options.common.json);
}

void show(const Common& common, CallbackId id) {
    const Config config = load(common);
    const auto store = open_store(config);
    const auto row = expect(find_callback(*store, id));
    if (!row) throw Exit{failed, no_callback(id)};
    print_one(callback_columns(), *row, common.json);
}

/// Does it, and says so; false when there is no such callback.
using StepCallback = bool (*)(const Config&, MysqlStore&, CallbackId);

bool cancel(const Config&, MysqlStore& store, CallbackId id) {
    const bool known = expect(cancel_callback(store, id));
    if (known) fmt::print("cancelled {}\n", id.value);
    return known;
}

bool wake(const Config& config, MysqlStore& store, CallbackId id) {
    const Woken woken =
        expect(wake_callback(store, expect(planner_for(config, store)), id, watch_rules(config)));
    switch (woken) {
        case Woken::unknown:
            return false;
        case Woken::over:
            fmt::print("left {}: it is not ACTIVE\n", id.value);
            break;
        case Woken::awake:
            fmt::print("left {}: it was awake, and there is nothing to ask an agent server\n", id.value);
            break;
        case Woken::asked:
            fmt::print("woken {}: its agent server is asked now\n", id.value);
            break;
        case Woken::woken:
            fmt::print("woken {}\n", id.value);
            break;
    }
    return true;
}

void step_each(const Common& common, const std::vector<std::int64_t>& ids, StepCallback step) {
    const Config config = load(common);
    const auto store = open_store(config);
    bool all_known = true;
    for (const std::int64_t id : ids) {
        const bool known = step(config, *store, {id});
        if (!known) fmt::print(stderr, "epilogue: {}\n", no_callback({id}));
        all_known = all_known && known;
    }
    if (!all_known) throw Exit{failed, ""};
}

void add_step(CLI::App& parent, const char* name, const char* help, StepCallback step, bool several) {
    auto* command = parent.add_subcommand(name, help);
    auto common = std::make_shared<Common>();
    auto ids = std::make_shared<std::vector<std::int64_t>>();
    add_common(*command, *common, false);
    auto* option = command->add_option("ID", *ids, "Callback id")->required();
    if (!several) option->expected(1);
    command->callback([=] { step_each(*common, *ids, step); });
}

}  // namespace

void add_callbacks(CLI::App& program) {
    auto* parent = program.add_subcommand("callbacks", "Who is told about which conversation");
    parent->require_subcommand(1);

    auto* add_command = parent->add_subcommand("add", "Register a callback and print its id");
    auto options = std::make_shared<AddOptions>();
    add_common(*add_command, options->common, true);
    add_command->add_option("--conversation", options->form.conversation, "Conversation id")->required();
    add_command
        ->add_option("--processor", options->form.processor,
                     "A sink's name (forms below), or an upstream class name")
        ->required();
    auto* json = add_command->add_option("--processor-json", options->form.processor_json,
                                         "Where to: the processor's JSON (forms below)");
    std::string forms =
        "Forms of --processor-json (what has a ? may be left out; OpenHands' own forms are taken, too):";
    for (const SinkDescriptor* sink : sink_descriptors())
        forms += fmt::format("\n  {:<8}{}", sink->name, sink->form);
    forms += "\nEach may say \"only_from_here\": true: only turns that came from that place are reported.";
    add_command->footer(forms);
    add_command->add_option("--processor-json-file", options->json_file, "The same, read from a file")
        ->excludes(json);
    add_command->add_option("--mode", options->form.mode, "once, until_done or every_turn");
    add_command->add_option(
        "--triggers", options->form.triggers,
        "Verdicts to report, separated by commas (default: all of them), and notices of a "
        "turn that waits: waiting_for_confirmation, paused");
    add_command->add_option("--from", options->form.from,
                            "last: report the last end too when no turn is open; next: only later ones");
    add_command->add_option("--agent-url", options->form.agent_url,
                            "Base URL of the conversation's own agent server (default: [agent_server] url)");
    add_command->add_option("--agent-key", options->agent_key,
                            "Its session key: env:NAME or file:PATH; it is kept sealed with [security] keys");
    add_command->add_flag("--again", options->form.again,
                          "Another callback, also where an equal one is still to report");
    add_command->add_option("--idempotency-key", options->idempotency_key,
                            "A name for this request: repeated within a day, it registers nothing more");
    add_command->callback([options] { add(*options); });

    auto* list_command = parent->add_subcommand("list", "List callbacks");
    auto list_options = std::make_shared<ListOptions>();
    add_common(*list_command, list_options->common, true);
    list_command->add_option("--status", list_options->filter.status, "ACTIVE, COMPLETED or ERROR")
        ->check(CLI::IsMember(callback_statuses()));
    list_command->add_option("--conversation", list_options->filter.conversation, "Conversation id");
    list_command->add_flag("--dormant", list_options->filter.dormant,
                           "Only those that sleep until they are woken");
    list_command->add_option("--limit", list_options->filter.limit, "At most so many")
        ->check(CLI::Range(1, 1'000'000));
    list_command->add_option("--after", list_options->filter.after.value, "Only ids above this one");
    list_command->callback([list_options] { list(*list_options); });

    auto* show_command = parent->add_subcommand("show", "Show one callback");
    auto show_common = std::make_shared<Common>();
    auto show_id = std::make_shared<std::int64_t>(0);
    add_common(*show_command, *show_common, true);
    show_command->add_option("ID", *show_id, "Callback id")->required();
    show_command->callback([=] { show(*show_common, {*show_id}); });

    add_step(*parent, "cancel", "Stop a callback; a post that is under way is finished", cancel, false);
    add_step(
        *parent, "wake",
        "Wake dormant callbacks; of those that are awake the agent server is asked at once, where it did "
        "not answer",
        wake, true);
}

}  // namespace epilogue::cli
