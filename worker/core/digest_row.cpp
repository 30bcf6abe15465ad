#include "worker/core/digest_row.h"

#include <vector>

#include "base/enum_names.h"
#include "schemas/json_reader.h"
#include "schemas/json_writer.h"

namespace epilogue {
namespace {

using Check = Digest::Check;
using Problem = Digest::Problem;

constexpr EnumNames<Check::Result, 3> result_names{{"unknown", "passed", "failed"}};
static_assert(result_names.ends_with(Check::Result::failed));
constexpr EnumNames<Problem::Kind, 3> problem_names{{"command", "edit", "tool"}};
static_assert(problem_names.ends_with(Problem::Kind::tool));

void write(JsonWriter& json, const std::string& text) {
    json.text(text);
}

void write(JsonWriter& json, const Digest::File& file) {
    json.text("path", file.path);
    if (file.created) json.flag("created", true);
    if (file.deleted) json.flag("deleted", true);
    if (file.lines) {
        json.number("added", file.lines->added);
        json.number("removed", file.lines->removed);
    }
}

void write(JsonWriter& json, const Check& check) {
    json.text("text", check.text);
    if (check.kind == CheckKind::build) json.flag("build", true);
    json.text("result", result_names.of(check.result));
    if (check.exit_code) json.number("exit", *check.exit_code);
    if (check.counts) {
        json.number("passed", check.counts->passed);
        json.number("failed", check.counts->failed);
        json.number("skipped", check.counts->skipped);
        if (check.counts->of_packages) json.flag("packages", true);
    }
    if (!check.error.empty()) json.text("error", check.error);
    if (check.failed_before) json.flag("failed_before", true);
    if (!check.folder.empty()) json.text("folder", check.folder);
}

void write(JsonWriter& json, const Problem& problem) {
    json.text("kind", problem_names.of(problem.kind));
    json.text("subject", problem.subject);
    json.text("text", problem.text);
    if (problem.exit_code) json.number("exit", *problem.exit_code);
}

void write(JsonWriter& json, const Digest::Branch& branch) {
    json.text("name", branch.name);
    json.text("hash", branch.hash);
    if (branch.is_pushed) json.flag("pushed", true);
    if (branch.is_committed) json.flag("committed", true);
}

void write(JsonWriter& json, const Digest::Step& step) {
    json.text("text", step.text);
}

template <class Entry>
void write_all(JsonWriter& json, std::string_view name, const std::vector<Entry>& entries) {
    if (entries.empty()) return;
    json.name(name);
    json.begin_array();
    for (const Entry& entry : entries) {
        if constexpr (std::is_same_v<Entry, std::string>) {
            write(json, entry);
        } else {
            json.begin_object();
            write(json, entry);
            json.number("order", entry.order);
            json.end_object();
        }
    }
    json.end_array();
}

void write_usage(JsonWriter& json, std::string_view name, const std::optional<UsageTold>& usage) {
    if (!usage) return;
    json.name(name);
    json.begin_object();
    json.number("cost", usage->cost);
    json.number("in", usage->tokens_in);
    json.number("out", usage->tokens_out);
    json.end_object();
}

const WantedPart& wanted_of_digest() {
    static const std::vector<WantedPart> usage{{"cost"}, {"in"}, {"out"}};
    static const WantedPart wanted{
        "",
        {{"changed", {{"path"}, {"created"}, {"deleted"}, {"added"}, {"removed"}, {"order"}}},
         {"checks",
          {{"text"},
           {"build"},
           {"result"},
           {"exit"},
           {"passed"},
           {"failed"},
           {"skipped"},
           {"packages"},
           {"error"},
           {"failed_before"},
           {"folder"},
           {"order"}}},
         {"problems", {{"kind"}, {"subject"}, {"text"}, {"exit"}, {"order"}}},
         {"branches", {{"name"}, {"hash"}, {"pushed"}, {"committed"}, {"order"}}},
         {"links", {{"text"}}},
         {"steps", {{"text"}, {"order"}}},
         {"folders", {{"text"}}},
         {"unfinished"},
         {"unfinished_order"},
         {"refusal"},
         {"falls_short"},
         {"goal", {{"capped"}, {"rounds"}, {"max_rounds"}}},
         {"step_count"},
         {"usage_before", usage},
         {"usage", usage},
         {"seconds"},
         {"newest"},
         {"cut"},
         {"files", {{"text"}}},
         {"commands", {{"id"}, {"text"}, {"test"}, {"exit"}}},
         {"errors", {{"id"}, {"text"}}}}};
    return wanted;
}

class DigestReader {
  public:
    Result<Digest> read(const std::string& text) {
        thread_local JsonReader reader;
        const auto json = reader.read(text, wanted_of_digest());
        if (!json) return poisonous("a digest cannot be read: " + json.error().detail);
        if (json->type != JsonPart::Type::object) return poisonous("a digest cannot be read: no object");
        Digest digest = read_digest(*json);
        if (!fault_.empty()) return poisonous("a digest cannot be read: " + fault_);
        return digest;
    }

  private:
    Digest read_digest(const JsonPart& json) {
        Digest digest;
        for (const JsonPart& entry : elements(json["changed"]))
            digest.files.push_back({text(entry, "path"), entry["created"].is_true(),
                                    entry["deleted"].is_true(), lines(entry), number(entry, "order")});
        for (const JsonPart& entry : elements(json["checks"])) digest.checks.push_back(check(entry));
        for (const JsonPart& entry : elements(json["problems"])) digest.problems.push_back(problem(entry));
        for (const JsonPart& entry : elements(json["branches"]))
            digest.branches.push_back({text(entry, "name"), text(entry, "hash"), entry["pushed"].is_true(),
                                       entry["committed"].is_true(), number(entry, "order")});
        for (const JsonPart& entry : elements(json["steps"]))
            digest.steps.push_back({text(entry, "text"), number(entry, "order")});
        digest.links = texts(json["links"]);
        digest.folders = texts(json["folders"]);
        digest.unfinished = json["unfinished"].string_or_empty();
        digest.unfinished_order = json["unfinished_order"].integer().value_or(0);
        digest.refusal = json["refusal"].string_or_empty();
        digest.falls_short = json["falls_short"].is_true();
        if (const JsonPart& goal = json["goal"]; goal.is_given())
            digest.goal =
                Digest::Goal{goal["capped"].is_true(), number(goal, "rounds"), number(goal, "max_rounds")};
        digest.figures.steps = json["step_count"].integer().value_or(0);
        digest.figures.usage_before = usage(json["usage_before"]);
        digest.figures.usage = usage(json["usage"]);
        digest.figures.seconds = json["seconds"].integer();
        digest.newest = json["newest"].integer().value_or(0);
        digest.cut = json["cut"].is_true();
        read_older(json, digest);
        return digest;
    }

    /// What versions before 0.2 wrote: names of files, and each command by itself.
    void read_older(const JsonPart& json, Digest& digest) {
        for (const std::string& path : texts(json["files"])) add(digest, FileChanged{path}, 0);
        for (const JsonPart& entry : elements(json["commands"])) {
            const std::string id = text(entry, "id");
            const std::string command = text(entry, "text");
            if (!entry["test"].is_true()) continue;
            if (const auto exit = entry["exit"].integer())
                add(digest, CommandEnded{id, static_cast<int>(*exit), command});
            else
                add(digest, CommandStarted{id, command});
        }
    }

    Check check(const JsonPart& entry) {
        Check check;
        check.text = text(entry, "text");
        check.kind = entry["build"].is_true() ? CheckKind::build : CheckKind::test;
        check.result = result_names.named(text(entry, "result")).value_or(Check::Result::unknown);
        if (entry["exit"].is_given()) check.exit_code = static_cast<int>(number(entry, "exit"));
        if (entry["passed"].is_given())
            check.counts = TestCounts{number(entry, "passed"), number(entry, "failed"),
                                      number(entry, "skipped"), entry["packages"].is_true()};
        check.error = entry["error"].string_or_empty();
        check.failed_before = entry["failed_before"].is_true();
        check.folder = entry["folder"].string_or_empty();
        check.order = number(entry, "order");
        return check;
    }
    Problem problem(const JsonPart& entry) {
        const auto kind = problem_names.named(text(entry, "kind"));
        Problem problem{kind.value_or(Problem::Kind::tool), text(entry, "subject"), text(entry, "text"),
                        std::nullopt, number(entry, "order")};
        if (entry["exit"].is_given()) problem.exit_code = static_cast<int>(number(entry, "exit"));
        return problem;
    }
    std::optional<LineChange> lines(const JsonPart& entry) {
        if (!entry["added"].is_given()) return std::nullopt;
        return LineChange{number(entry, "added"), number(entry, "removed")};
    }
    std::optional<UsageTold> usage(const JsonPart& entry) {
        if (!entry.is_given()) return std::nullopt;
        return UsageTold{number(entry, "cost"), number(entry, "in"), number(entry, "out")};
    }

    void note(std::string_view fault) {
        if (fault_.empty()) fault_ = fault;
    }
    std::string text(const JsonPart& object, std::string_view name) {
        const auto text = object[name].string();
        if (!text) note(name);
        return std::string(text.value_or(""));
    }
    std::int64_t number(const JsonPart& object, std::string_view name) {
        const auto number = object[name].integer();
        if (!number) note(name);
        return number.value_or(0);
    }
    /// The elements of an array; none when there is no array.
    const std::vector<JsonPart>& elements(const JsonPart& array) {
        static const std::vector<JsonPart> none;
        if (array.type == JsonPart::Type::array) return array.parts;
        if (array.type != JsonPart::Type::absent) note("what should be a list");
        return none;
    }
    std::vector<std::string> texts(const JsonPart& array) {
        std::vector<std::string> texts;
        for (const JsonPart& element : elements(array)) {
            if (!element.string()) note("what should be a list of texts");
            texts.push_back(element.text);
        }
        return texts;
    }

    std::string fault_;  ///< the first that was met
};

}  // namespace

std::string to_json(const Digest& digest) {
    JsonWriter json;
    json.begin_object();
    write_all(json, "changed", digest.files);
    write_all(json, "checks", digest.checks);
    write_all(json, "problems", digest.problems);
    write_all(json, "branches", digest.branches);
    write_all(json, "links", digest.links);
    write_all(json, "steps", digest.steps);
    write_all(json, "folders", digest.folders);
    if (!digest.unfinished.empty()) json.text("unfinished", digest.unfinished);
    if (digest.unfinished_order != 0) json.number("unfinished_order", digest.unfinished_order);
    if (!digest.refusal.empty()) json.text("refusal", digest.refusal);
    if (digest.falls_short) json.flag("falls_short", true);
    if (digest.goal) {
        json.name("goal");
        json.begin_object();
        json.flag("capped", digest.goal->is_capped);
        json.number("rounds", digest.goal->rounds);
        json.number("max_rounds", digest.goal->max_rounds);
        json.end_object();
    }
    if (digest.figures.steps != 0) json.number("step_count", digest.figures.steps);
    write_usage(json, "usage_before", digest.figures.usage_before);
    write_usage(json, "usage", digest.figures.usage);
    if (digest.figures.seconds) json.number("seconds", *digest.figures.seconds);
    if (digest.newest != 0) json.number("newest", digest.newest);
    if (digest.cut) json.flag("cut", true);
    json.end_object();
    return json.take();
}

Result<Digest> digest_from_json(const std::string& json) {
    return DigestReader().read(json);
}

}  // namespace epilogue
