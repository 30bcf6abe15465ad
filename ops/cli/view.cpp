#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "agent/render.h"
#include "base/code_point.h"
#include "base/text.h"
#include "ops/cli/command.h"
#include "ops/cli/output.h"
#include "schemas/decode.h"
#include "worker/history/history_json.h"
#include "worker/serve/history_sources.h"
#include "worker/settings.h"
#include "worker/sources/registry.h"

namespace epilogue::cli {
namespace {

constexpr std::size_t widest_line = 120;
constexpr std::size_t most_lines = 12;  ///< of one text, for a person

struct ViewOptions {
    Common common;
    std::string id;
    std::string url;
    std::string key;
    std::int64_t limit = 20;
    std::int64_t topic_s = 10;
};

/// The place behind which a line of at most `width` characters ends: at its last blank, if it has one.
std::size_t end_of_line(std::string_view text, std::size_t width) {
    std::size_t end = 0;
    std::size_t blank = 0;
    for (std::size_t i = 0; i < width && end < text.size(); ++i) {
        if (text[end] == ' ') blank = end;
        end += first_code_point(text.substr(end)).bytes.size();
    }
    return end == text.size() || blank == 0 ? end : blank;
}

/// Others' text for a terminal, each line behind `margin`, none wider than the lists are; what is longer than
/// most_lines is only said.
void print_text(const std::string& untrusted, const std::string& margin) {
    const std::string clean = replaced(agent::printable(untrusted), "\t", " ");
    std::string_view rest = trimmed(clean);
    std::size_t lines = 0;
    while (!rest.empty()) {
        if (lines++ == most_lines) {
            fmt::print("{}… ({} more characters; --json has all)\n", margin, code_points(rest));
            return;
        }
        const std::string_view line = rest.substr(0, rest.find('\n'));
        const std::size_t end = end_of_line(line, widest_line - margin.size());
        fmt::print("{}{}\n", margin, line.substr(0, end));
        rest.remove_prefix(end);
        if (!rest.empty() && (rest.front() == '\n' || rest.front() == ' ')) rest.remove_prefix(1);
    }
}

std::string clean(const std::string& untrusted) {
    return shown(agent::printable(untrusted));
}

std::optional<std::string> cell(const std::optional<Instant>& at) {
    return at ? std::optional(to_sql(*at)) : std::nullopt;
}

std::string second(Instant at) {
    constexpr std::size_t to_the_second = 19;
    return to_sql(at).substr(0, to_the_second);
}

std::string second(int number) {
    return std::to_string(number);
}

std::string second(const std::string& text) {
    return clean(text);
}

template <class T>
void print_sourced(const char* name, const std::optional<Sourced<T>>& said, const std::string& margin = "") {
    if (!said) return;
    const std::string line = fmt::format("{}: {} [{}]", name, second(said->value), name_of(said->from));
    print_text(line, margin);
}

void print_sources(const ConversationHistory& history) {
    std::vector<SqlRow> rows;
    for (const SourceReport& report : history.sources) {
        std::string what = report.why;
        for (const TopicLog::Part& part : report.parts)
            what += fmt::format("{}partition {}: offsets {} to {} of {}", what.empty() ? "" : "; ",
                                part.partition, part.from, part.to, part.end);
        const bool is_log = report.source != HistorySource::tables && report.state == SourceState::told;
        rows.push_back({std::string(name_of(report.source)), std::string(name_of(report.state)),
                        is_log ? std::optional(std::to_string(report.events)) : std::nullopt,
                        cell(report.first_at), cell(report.last_at), clean(what)});
    }
    fmt::print("\n");
    print_list({{"source", Kind::text, Shown::whole},
                {"state", Kind::text, Shown::whole},
                {"events", Kind::number},
                {"first_at", Kind::time},
                {"last_at", Kind::time},
                {"about"}},
               rows, false);
    for (const SourceReport& report : history.sources)
        if (report.state == SourceState::unavailable || !report.why.empty())
            print_text(fmt::format("{}: {}", name_of(report.source), report.why), "  ");
}

void print_callbacks(const std::vector<KeptCallback>& callbacks) {
    if (callbacks.empty()) return;
    std::vector<SqlRow> rows;
    for (const KeptCallback& callback : callbacks)
        rows.push_back({std::to_string(callback.id.value), callback.status, callback.phase,
                        clean(callback.processor_type), clean(callback.reason), cell(callback.created_at)});
    fmt::print("\n");
    print_list({{"callback", Kind::number, Shown::whole},
                {"status", Kind::text, Shown::whole},
                {"phase"},
                {"processor_type"},
                {"reason"},
                {"created_at", Kind::time}},
               rows, false);
}

void print_turn(const HistoryTurn& turn) {
    std::string known_to;
    for (const HistorySource source : turn.known_to)
        known_to += (known_to.empty() ? "" : ", ") + std::string(name_of(source));
    const std::string verdict =
        turn.verdict ? fmt::format("{} [{}]", name_of(turn.verdict->value), name_of(turn.verdict->from))
                     : "open";
    fmt::print("\n");
    print_text(fmt::format("turn {}: {}; known to {}", clean(turn.key), verdict, known_to), "");
    print_sourced("opened", turn.opened_at, "  ");
    print_sourced("ended", turn.ended_at, "  ");
    if (turn.reason) {
        const auto& [reason, from] = *turn.reason;
        print_text(fmt::format("error [{}]: {}{}{}", name_of(from), reason.code,
                               reason.detail.empty() ? "" : ": ", reason.detail),
                   "  ");
    }
    if (turn.words) {
        fmt::print("  words [{}]:\n", name_of(turn.words->from));
        print_text(turn.words->value, "    ");
    }
    if (turn.summary) {
        const HistorySummary& summary = turn.summary->value;
        fmt::print("  summary [{}]: {}, words of {}\n", name_of(turn.summary->from), name_of(summary.state),
                   clean(summary.source));
        print_text(summary.summary.headline, "    ");
        print_text(summary.summary.facts, "    ");
    }
    for (const KeptDelivery& post : turn.deliveries) {
        fmt::print("  post {}: {}\n", clean(post.id), post.state);
        print_text(post.target, "    ");
        print_text(post.cause, "    ");
        print_text(post.remote_url, "    ");
    }
}

void print_people(const ConversationHistory& history, std::int64_t limit) {
    print_text("conversation " + clean(history.id), "");
    print_sourced("title", history.title);
    print_sourced("status", history.status);
    print_sourced("created_at", history.created_at);
    print_sourced("updated_at", history.updated_at);
    print_sourced("last_event_at", history.last_event_at);
    print_sourced("partition_id", history.partition);
    print_sourced("agent_url", history.agent_url);
    if (history.question)
        print_text(fmt::format("its agent server is still asked ({}): {} tries{}{}", history.question->why,
                               history.question->attempts, history.question->hindrance.empty() ? "" : ", ",
                               history.question->hindrance),
                   "");
    print_sources(history);
    print_callbacks(history.callbacks);
    const std::int64_t count = std::ssize(history.turns);
    const std::int64_t first = std::max<std::int64_t>(count - limit, 0);
    if (first > 0) fmt::print("\n{} before these: --limit {}\n", counted(first, "turn"), count);
    for (std::int64_t i = first; i < count; ++i) print_turn(history.turns[static_cast<std::size_t>(i)]);
    fmt::print("\n{}\n", counted(count, "turn"));
}

/// The servers that the options and the configuration name. The tables' addresses count where they can be
/// had.
AgentDirectory directory_of(const ViewOptions& options, const Config& config, MysqlStore& store) {
    AgentDirectoryRules rules = agent_directory_rules(config);
    const Sealer sealer = session_key_sealer(config.security.keys);
    if (!options.url.empty()) {
        if (!agent::parse_address(options.url))
            throw Exit{usage, "--agent-url: expected http[s]://host[:port][/path]"};
        if (options.url != config.agent_server.url) rules.default_key = Secret();
        rules.default_url = options.url;
    }
    if (!options.key.empty()) rules.default_key = secret_at("--agent-key", options.key);
    const bool is_named = !options.url.empty();
    auto look_up = [is_named, own = endpoints_in(store)](
                       const ConversationId& id) -> Result<std::optional<AgentEndpoint>> {
        if (is_named) return std::optional<AgentEndpoint>();
        auto found = own(id);
        if (!found) return std::optional<AgentEndpoint>();  // the tables' report says why
        return found;
    };
    return {std::move(look_up), sealer, std::move(rules)};
}

/// Ends with what is to be done about an id that no source knows.
void check_known(const ConversationHistory& history) {
    if (history.is_known()) return;
    std::string text = "no source knows conversation " + clean(history.id) + ":";
    for (const SourceReport& report : history.sources)
        text += fmt::format("\n  {}: {}: {}", name_of(report.source), name_of(report.state),
                            agent::printable(report.why));
    text +=
        "\nCheck the id (`epilogue callbacks list` has those that are watched, `epilogue conversations list` "
        "those of an agent server), or name its agent server with --agent-url";
    throw Exit{history.is_incomplete() ? unavailable : failed, text};
}

void view(const ViewOptions& options) {
    const ConversationId id = normalise_conversation_id(options.id);
    if (!key_fault(id.text()).empty())
        throw Exit{usage, "CONVERSATION: expected an id: 1 to 255 bytes of valid UTF-8"};
    const Config config = load(options.common);
    MysqlStore store(mysql_settings(config), StoreObserver{});
    AgentDirectory directory = directory_of(options, config, store);
    HistorySources sources{history_in(store), history_at_servers(directory), nullptr};
    if (options.topic_s > 0) {
        TopicLimits limits;
        limits.within = std::chrono::seconds(options.topic_s);
        sources.topic = history_in_topic(kafka_settings(config), config.kafka.topic, limits);
    }
    HistoryRules rules;
    rules.summary = summary_rules(config.extensions);
    rules.fold.settle = config.worker.settle;
    rules.fold.hook_wait = config.worker.hook_wait;
    ConversationHistory history = history_of(id, sources, rules);
    check_known(history);
    const std::string& asked = options.url.empty() ? config.agent_server.url : options.url;
    if (!history.agent_url && !asked.empty())
        history.agent_url = Sourced<std::string>{asked, HistorySource::agent_server};
    if (options.common.json)
        fmt::print("{}\n", to_json(history));
    else
        print_people(history, options.limit);
    if (history.is_incomplete())
        fmt::print(stderr, "epilogue: a source is missing, or was read only in part: see \"sources\"\n");
}

}  // namespace

void add_view(CLI::App& program) {
    auto* command = program.add_subcommand(
        "view", "Show all that is known of a conversation: from the tables, its agent server and the topic");
    auto options = std::make_shared<ViewOptions>();
    add_common(*command, options->common, true);
    command->add_option("CONVERSATION", options->id, "Conversation id")->required();
    command->add_option(
        "--agent-url", options->url,
        "Its agent server's address (default: what the tables have, else [agent_server] url)");
    command->add_option(
        "--agent-key", options->key,
        "That server's session key, as env:NAME or file:PATH (default: what belongs to the address)");
    command->add_option("--limit", options->limit, "For people: at most so many turns, the newest")
        ->check(CLI::Range(1, 1'000'000));
    command
        ->add_option("--topic-seconds", options->topic_s, "Read the topic for at most so long; 0: not at all")
        ->check(CLI::Range(0, 3600));
    command->callback([options] { view(*options); });
}

}  // namespace epilogue::cli
