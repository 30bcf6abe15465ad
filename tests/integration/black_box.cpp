// The whole program from the outside: two workers, every recorded conversation, three callbacks each.
#define BOOST_TEST_MODULE black_box
#include <algorithm>
#include <cctype>
#include <cmath>
#include <future>
#include <iostream>
#include <regex>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/integration/contract_post.h"
#include "tests/integration/recording_set.h"
#include "tests/support/eventually.h"
#include "tests/support/position_watch.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using epilogue::Instant;
using Json = nlohmann::json;
using Counts = std::map<std::string, std::int64_t>;

constexpr int partitions = 6;
const std::string every_repo = "octo/every";
const std::string once_repo = "octo/once";

/// The recordings as they are replayed here, each with its callbacks.
struct Replayed {
    RecordedConversation conversation;
    std::int64_t number = 0;  ///< of its issue, in both repositories
    std::int64_t every_turn = 0;
    std::int64_t once = 0;
    std::int64_t log = 0;

    /// Contract §3: an id means the same in either form.
    std::string written() const {
        if (number % 3 != 0) return conversation.id;
        std::string id = with_dashes(conversation.id);
        std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::toupper(c); });
        return id;
    }
    std::vector<Record> records(Instant at) const {
        auto records = records_of(conversation, at);
        for (Record& record : records) record.key = written();
        return records;
    }
};

void add_callbacks(const Rig& rig, Replayed& replayed) {
    const auto id = replayed.written();
    replayed.every_turn = rig.add_github(id, every_repo, replayed.number, "every_turn");
    replayed.once = rig.add_github(replayed.conversation.id, once_repo, replayed.number, "once");
    replayed.log = rig.add_callback({"--conversation", id, "--processor", "log", "--mode", "until_done"});
}

std::vector<Replayed> replay_all(const Rig& rig) {
    std::vector<Replayed> all;
    for (auto& conversation : recordings_with_new_ids(
             std::chrono::time_point_cast<Instant::duration>(std::chrono::system_clock::now())))
        all.push_back({std::move(conversation), static_cast<std::int64_t>(all.size()) + 1});
    constexpr std::size_t at_once = 4;
    std::vector<std::future<void>> parts;
    for (std::size_t part = 0; part < at_once; ++part)
        parts.push_back(std::async(std::launch::async, [&, part] {
            for (std::size_t i = part; i < all.size(); i += at_once) add_callbacks(rig, all[i]);
        }));
    for (auto& part : parts) part.get();
    return all;
}

/// What cannot be used, and by what reason; a tombstone, which is no dead letter, among it.
std::vector<Record> useless_records() {
    return {{.value = R"({"id": 1, "source": "user", "action": "message"})", .partition = 0},
            {.key = "", .value = "{}", .partition = 1},
            {.key = "\xff", .value = "{}", .partition = 2},
            {.key = std::string(256, 'k'), .value = "{}", .partition = 3},
            {.key = "useless", .value = "no json"},
            {.key = "useless", .value = "[]"},
            {.key = "useless", .value = R"({"neither": "of both"})"},
            {.key = "useless", .value = ""},
            {.key = "useless"}};
}
const Counts useless_reasons{
    {"no_key", 1},   {"key_empty", 1},     {"key_not_utf8", 1},      {"key_too_long", 1},
    {"not_json", 1}, {"not_an_object", 1}, {"neither_v0_nor_v1", 1}, {"empty", 1}};

/// A metric over both workers, and what it should equal.
class Sums {
  public:
    explicit Sums(const std::vector<WorkerProcess*>& workers) {
        for (const auto* worker : workers) all_.push_back(worker->metrics());
    }
    std::int64_t operator()(const std::string& name, const std::vector<std::string>& labels = {}) const {
        double sum = 0;
        for (const auto& metrics : all_) sum += total(metrics, name, labels);
        return std::llround(sum);
    }
    /// By the value of one label; zeros left out.
    Counts by(const std::string& name, const std::string& label) const {
        Counts counts;
        const std::regex value(label + "=\"([^\"]*)\"");
        for (const auto& metrics : all_)
            for (const auto& [series, number] : metrics)
                if (std::smatch found;
                    series.starts_with(name + "{") && number > 0 && std::regex_search(series, found, value))
                    counts[found[1]] += std::llround(number);
        return counts;
    }
    /// How many workers export a series of this name, with this label if one is named.
    std::int64_t exporters(const std::string& name, const std::string& label = "") const {
        return std::count_if(all_.begin(), all_.end(), [&](const Metrics& metrics) {
            return std::any_of(metrics.begin(), metrics.end(), [&](const auto& series) {
                return series.first.substr(0, series.first.find('{')) == name &&
                       series.first.find(label) != std::string::npos;
            });
        });
    }

  private:
    std::vector<Metrics> all_;
};

Counts counts_of(const Rig& rig, const std::string& sql) {
    Counts counts;
    for (const Row& row : rig.query(sql)) counts[row.at(0).value()] = std::stoll(row.at(1).value());
    return counts;
}

/// The comments of each place, oldest first.
std::map<std::string, std::vector<std::string>> comments_of(const FakePlatformProcess& platform) {
    std::map<std::string, std::vector<std::string>> comments;
    for (const auto& comment : platform.visible()) comments[comment.path].push_back(comment.body);
    return comments;
}

void check_comment(const std::string& body, const RecordedTurn& turn, const std::string& marker) {
    // A zero-width space is all that may be put between the agent's own words: it breaks mentions.
    const std::string plain = without_problems(epilogue::replaced(body, "\u200b", ""));
    BOOST_TEST(plain.starts_with(start_of_post(turn)), body << "\nstarts not with\n" << start_of_post(turn));
    BOOST_TEST(body.substr(body.rfind('\n') + 1) == marker);
    BOOST_TEST(body.find("<!--") == body.rfind("<!--"));
}

void check_posts(const Rig& rig, const std::vector<Replayed>& all) {
    const auto installation = rig.query("SELECT installation_id FROM installation").at(0).at(0).value();
    const auto comments = comments_of(rig.platform());
    std::size_t seen = 0;
    for (const Replayed& replayed : all) {
        const auto& conversation = replayed.conversation;
        const auto check = [&](const std::string& repo, std::int64_t callback, const std::string& mode) {
            const auto turns = reported_turns(conversation, mode);
            const auto found = comments.find(repo + "#" + std::to_string(replayed.number));
            const auto bodies = found == comments.end() ? std::vector<std::string>() : found->second;
            BOOST_TEST(bodies.size() == turns.size());
            for (std::size_t i = 0; i < std::min(bodies.size(), turns.size()); ++i) {
                const auto id = delivery_id_of(installation, std::to_string(callback), conversation.id,
                                               turns[i].turn_key);
                check_comment(bodies[i], turns[i], marker_of(rig.key(), id));
            }
            seen += bodies.size();
        };
        BOOST_TEST_CONTEXT(conversation.recording << " as " << conversation.id << " on #"
                                                  << replayed.number) {
            check(every_repo, replayed.every_turn, "every_turn");
            check(once_repo, replayed.once, "once");
        }
    }
    BOOST_TEST(seen == rig.platform().counts().at("visible"));
}

/// Each turn that the `log` callback reports is one line, of one of the workers.
void check_log(const std::vector<WorkerProcess*>& workers, const std::vector<Replayed>& all) {
    std::map<std::string, std::vector<std::string>> logged;  // by conversation
    for (auto* worker : workers) {
        for (const auto& line : epilogue::split(worker->process().err(), '\n')) {
            const auto json = Json::parse(line, nullptr, false);
            if (!json.is_object() || json.value("message", "") != "conversation ended") continue;
            const auto delivery = Json::parse(json.at("delivery").get<std::string>());
            logged[delivery.at("conversation_id")].push_back(delivery.at("summary"));
        }
    }
    for (const Replayed& replayed : all) {
        BOOST_TEST_CONTEXT(replayed.conversation.recording) {
            const auto turns = reported_turns(replayed.conversation, "until_done");
            auto& lines = logged[replayed.conversation.id];
            BOOST_TEST(lines.size() == turns.size());
            for (const auto& turn : turns) {
                const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
                    return without_problems(line + "\n\n").starts_with(start_of_post(turn));
                });
                BOOST_TEST((found != lines.end()));
                if (found != lines.end()) lines.erase(found);
            }
        }
    }
}

void check_callbacks(const Rig& rig, const std::vector<Replayed>& all) {
    std::map<std::int64_t, std::string> statuses;
    for (const Row& row : rig.query("SELECT id, status FROM conversation_callbacks"))
        statuses[std::stoll(row.at(0).value())] = row.at(1).value();
    for (const Replayed& replayed : all) {
        BOOST_TEST_CONTEXT(replayed.conversation.recording) {
            BOOST_TEST(statuses.at(replayed.every_turn) == "ACTIVE");
            BOOST_TEST(statuses.at(replayed.once) ==
                       (replayed.conversation.turns.empty() ? "ACTIVE" : "COMPLETED"));
            BOOST_TEST(statuses.at(replayed.log) == final_status(replayed.conversation, "until_done"));
        }
    }
}

/// Contract §7, each metric whose subject is there, against what platform, broker and tables show.
void check_metrics(const Rig& rig, const std::vector<WorkerProcess*>& workers,
                   const std::vector<Replayed>& all, std::int64_t produced) {
    const Sums sums(workers);
    Counts verdicts;
    Counts sources;
    for (const Replayed& replayed : all) {
        for (const auto& turn : replayed.conversation.turns) {
            ++verdicts[turn.verdict];
            ++sources[turn.words.empty() ? "digest" : "final"];
        }
    }
    BOOST_TEST(sums("epilogue_events_total") == produced);
    BOOST_TEST(sums("epilogue_events_total", {R"(outcome="tombstone")"}) == 1);
    BOOST_TEST(sums("epilogue_events_total", {R"(outcome="dead_letter")"}) ==
               static_cast<std::int64_t>(useless_reasons.size()));
    BOOST_TEST((sums.by("epilogue_dead_letters_total", "reason") == useless_reasons));
    BOOST_TEST(
        (counts_of(rig, "SELECT reason, COUNT(*) FROM dead_letters GROUP BY reason") == useless_reasons));
    BOOST_TEST((sums.by("epilogue_transitions_total", "verdict") == verdicts));
    BOOST_TEST((sums.by("epilogue_summaries_total", "source") == sources));
    BOOST_TEST((counts_of(rig, "SELECT source, COUNT(*) FROM summaries GROUP BY source") == sources));

    for (const std::string sink : {"github", "log"}) {
        BOOST_TEST_CONTEXT(sink) {
            const std::string label = "sink=\"" + sink + "\"";
            const std::string rows = " FROM deliveries WHERE sink='" + sink + "'";
            const auto sent = rig.number("SELECT COUNT(*)" + rows + " AND state='SENT'");
            const auto attempts = rig.number("SELECT SUM(attempt)" + rows);
            const auto entered = [&](const std::string& state) {
                return sums("epilogue_deliveries_total", {label, "state=\"" + state + "\""});
            };
            BOOST_TEST(entered("PLANNED") == rig.number("SELECT COUNT(*)" + rows));
            BOOST_TEST(entered("SENDING") == attempts);
            BOOST_TEST(entered("SENT") == sent);
            BOOST_TEST(sums("epilogue_deliveries_total", {label}) == 2 * sent + attempts);
            BOOST_TEST(sums("epilogue_attempts_total", {label}) == attempts);
            BOOST_TEST(sums("epilogue_attempts_total", {label, R"(class="sent")"}) == sent);
            BOOST_TEST(sums("epilogue_transition_to_visible_seconds_count", {label}) == sent);
        }
    }
    const auto counts = rig.platform().counts();
    BOOST_TEST(sums("epilogue_attempts_total", {R"(sink="github")", R"(class="sent")"}) ==
               static_cast<std::int64_t>(counts.at("attempts")));
    BOOST_TEST(counts.at("attempts") == counts.at("visible"));
    // Nothing was in doubt. A minute after the first record, posts are looked for because they are overdue,
    // and for duplicates.
    const std::string age =
        "SELECT TIMESTAMPDIFF(SECOND, MIN(last_event_at), UTC_TIMESTAMP(6)) FROM conversations";
    if (rig.number(age) < 60) {
        BOOST_TEST(sums("epilogue_lookups_total") == 0);
        BOOST_TEST(counts.at("lookups") == 0U);
    }
    BOOST_TEST(sums("epilogue_duplicates_suppressed_total", {R"(where="event")"}) ==
               sums("epilogue_events_total", {R"(outcome="repeat")"}));
    BOOST_TEST(sums("epilogue_duplicates_suppressed_total", {R"(where="lookup")"}) == 0);
    for (const char* zero : {"epilogue_healed_total", "epilogue_ambiguous_commits_total",
                             "epilogue_timeouts_held", "epilogue_adopted_total"})
        BOOST_TEST(sums(zero) == 0, zero);
    BOOST_TEST(sums("epilogue_store_commit_seconds_count") > 0);
    BOOST_TEST(sums("epilogue_build_info") == static_cast<std::int64_t>(workers.size()));
    BOOST_TEST(sums.exporters("epilogue_build_info") == static_cast<std::int64_t>(workers.size()));
    for (auto* worker : workers) {
        const Sums own({worker});
        BOOST_TEST(own("epilogue_rebalances_total") > 0);
        BOOST_TEST(own("epilogue_events_total") > 0);
        BOOST_TEST(own("epilogue_transitions_total") > 0);
    }
}

/// Contract §7: no series holds the id of a conversation, in either form.
void check_labels(const std::vector<WorkerProcess*>& workers, const std::vector<Replayed>& all) {
    for (const auto* worker : workers) {
        std::string series;
        for (const auto& [name, value] : worker->metrics()) series += name + "\n";
        for (const Replayed& replayed : all)
            for (const std::string& id :
                 {replayed.conversation.id, with_dashes(replayed.conversation.id), replayed.written()})
                BOOST_TEST(series.find(id) == std::string::npos, id);
    }
}

/// Waits until `owed` deliveries are SENT; says what is missing when they are not.
void wait_for_posts(const Rig& rig, const std::vector<WorkerProcess*>& workers,
                    const std::vector<Replayed>& all, std::int64_t owed) {
    try {
        eventually("everything that is owed is sent",
                   [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == owed; });
    } catch (const GaveUp&) {
        for (auto* worker : workers)
            BOOST_ERROR("/readyz: " << worker->get("/readyz").body << worker->process().err());
        for (const auto& [state, count] :
             counts_of(rig, "SELECT state, COUNT(*) FROM deliveries GROUP BY state"))
            BOOST_ERROR(count << " deliveries are " << state << ", " << owed << " are owed");
        const auto stored = rig.stored();
        for (const auto& [partition, end] : rig.ends())
            if (!stored.contains(partition) || stored.at(partition) != end)
                BOOST_ERROR("partition " << partition << " is not applied up to " << end);
        auto found = counts_of(rig, "SELECT callback_id, COUNT(*) FROM deliveries GROUP BY callback_id");
        for (const Replayed& replayed : all) {
            const auto turns = found[std::to_string(replayed.every_turn)];
            if (turns != static_cast<std::int64_t>(replayed.conversation.turns.size()))
                BOOST_ERROR(replayed.conversation.recording << " has " << turns << " turns of "
                                                            << replayed.conversation.turns.size());
        }
        throw;
    }
}

/// The gauges are renewed every 2 s.
void wait_for_gauges(const std::vector<WorkerProcess*>& workers) {
    eventually("every partition's lag is known and 0, and nothing is undelivered", [&] {
        const Sums sums(workers);
        std::int64_t known = 0;
        for (int i = 0; i < partitions; ++i)
            known += sums.exporters("epilogue_consumer_lag", "partition=\"" + std::to_string(i) + "\"");
        return known == partitions && sums("epilogue_consumer_lag") == 0 &&
               sums.exporters("epilogue_undelivered") == 1 && sums("epilogue_undelivered") == 0 &&
               sums("epilogue_oldest_undelivered_seconds") == 0;
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_workers_tell_every_recorded_conversation_once_in_the_right_place) {
    const Rig rig("black_box", partitions, {{"log.format", "json"}, {"worker.senders", 16}});
    const auto all = replay_all(rig);
    BOOST_REQUIRE(all.size() == recording_count);
    std::int64_t owed = 0;
    for (const Replayed& replayed : all)
        for (const char* mode : {"every_turn", "once", "until_done"})
            owed += static_cast<std::int64_t>(reported_turns(replayed.conversation, mode).size());

    auto first = rig.epilogue().worker();
    PositionWatch watch(rig);
    const auto now = std::chrono::time_point_cast<Instant::duration>(std::chrono::system_clock::now());
    const auto publish = [&](std::size_t from, std::size_t to) {
        std::vector<Record> records;
        for (std::size_t i = from; i < to; ++i) {
            const auto own = all[i].records(now);
            records.insert(records.end(), own.begin(), own.end());
        }
        rig.publish(records);
    };
    rig.publish(useless_records());
    publish(0, all.size() / 3);
    // The second one joins while the first is at work; then there is work for both.
    auto second = rig.epilogue().worker();
    eventually("both have partitions",
               [&] { return rig.number("SELECT COUNT(DISTINCT owner) FROM partition_progress") == 2; });
    publish(all.size() / 3, all.size());

    const std::vector<WorkerProcess*> workers{&first, &second};
    wait_for_posts(rig, workers, all, owed);
    eventually("the metrics have followed",
               [&] { return Sums(workers)("epilogue_transition_to_visible_seconds_count") == owed; });
    std::int64_t produced = 0;
    for (const auto& [partition, end] : rig.ends()) produced += end;
    check_metrics(rig, workers, all, produced);
    check_labels(workers, all);
    wait_for_gauges(workers);

    eventually("the offsets have followed", [&] { return rig.committed() == rig.ends(); });
    BOOST_TEST((rig.stored() == rig.ends()));
    BOOST_TEST(rig.ends().size() == static_cast<std::size_t>(partitions));
    for (const auto& fault : watch.faults()) BOOST_ERROR(fault);
    BOOST_TEST(watch.samples() > 10);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == owed);
    check_posts(rig, all);
    check_callbacks(rig, all);
    for (auto* worker : workers) BOOST_TEST(worker->process().stop(30s) == 0);
    check_log(workers, all);
    BOOST_TEST((rig.committed() == rig.stored()));
    std::cout << all.size() << " conversations, " << produced << " records, "
              << rig.platform().counts().at("visible") << " comments" << std::endl;
}
