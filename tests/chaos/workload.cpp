#include "tests/chaos/workload.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/integration/contract_post.h"
#include "tests/oracle/conversation_generator.h"
#include "tests/support/eventually.h"

namespace epilogue::testing {
namespace {

using namespace std::chrono_literals;

constexpr Micros all_generated_in{100s};  // of the conversations' own time: how thickly they are interleaved

std::string draw_mode(Random& random) {
    const double draw = random.real01();
    return draw < 0.5 ? "every_turn" : draw < 0.8 ? "once" : "until_done";
}

}  // namespace

Workload::Workload(Random random, std::size_t conversations) {
    struct TimedRecord {
        Micros at;
        Record record;
    };
    std::vector<TimedRecord> events;
    for (std::size_t i = 0; i < conversations; ++i) {
        const Micros start = random.between(0s, all_generated_in);
        const Micros end = start + random.between(200ms, 6s);
        const bool v0 = random.chance(0.35);
        // Kills and restarts stretch and squeeze the reader's time at will.
        const auto generator = make_conversation_generator(v0, random.fork(), i, start, end,
                                                           {.settle = 500ms, .counts_by_time = false});
        generator->generate();
        const std::string id = fmt::format("c{}", i);
        conversations_.push_back(
            {id, static_cast<std::int64_t>(i) + 1, draw_mode(random), 0, std::move(generator->turns)});
        for (auto& event : generator->events)
            events.push_back({event.at, {.key = id, .value = std::move(event.value)}});
    }
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    for (TimedRecord& event : events) records_.push_back(std::move(event.record));
}

void Workload::register_callbacks(const Rig& rig) {
    constexpr std::size_t rows_at_once = 500;
    for (std::size_t i = 0; i < conversations_.size(); i += rows_at_once) {
        std::string rows;
        for (std::size_t j = i; j < std::min(i + rows_at_once, conversations_.size()); ++j)
            rows += fmt::format(
                R"({}('{}', 'github', '{{"repo": "{}", "number": {}}}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)))",
                rows.empty() ? "" : ", ", conversations_[j].id, chaos_repo, conversations_[j].number);
        rig.query(
            "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json, "
            "created_at, updated_at) VALUES " +
            rows);
    }
    const auto count = static_cast<std::int64_t>(conversations_.size());
    eventually("every callback is adopted", 180s,
               [&] { return rig.number("SELECT COUNT(*) FROM callback_progress") == count; });
    for (const std::string mode : {"every_turn", "until_done"}) {
        std::string ids;
        for (const GeneratedConversation& conversation : conversations_)
            if (conversation.mode == mode) ids += (ids.empty() ? "'" : ", '") + conversation.id + "'";
        if (!ids.empty())
            rig.query("UPDATE callback_progress SET options=REPLACE(options, '\"once\"', '\"" + mode +
                      "\"') WHERE conversation_id IN (" + ids + ")");
    }
    for (const Row& row : rig.query("SELECT id, conversation_id FROM conversation_callbacks"))
        conversations_.at(std::stoul(row.at(1).value().substr(1))).callback_id =
            std::stoll(row.at(0).value());
}

std::vector<Record> Workload::take_until(double fraction) {
    const auto end = std::min(
        records_.size(), static_cast<std::size_t>(static_cast<double>(records_.size()) * fraction + 0.5));
    if (end <= taken_) return {};
    const auto first = records_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ = end;
    return {first, records_.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<OwedPost> Workload::owed_posts(const std::string& installation) const {
    std::vector<OwedPost> owed;
    for (const GeneratedConversation& conversation : conversations_)
        for (const ExpectedTurn& turn : reported_turns(conversation.turns, conversation.mode))
            owed.push_back(
                {.callback_id = conversation.callback_id,
                 .conversation_id = conversation.id,
                 .place = fmt::format("github:{}#{}", chaos_repo, conversation.number),
                 .turn_key = turn.key,
                 .delivery_id = delivery_id_of(installation, std::to_string(conversation.callback_id),
                                               conversation.id, turn.key),
                 .headline = headline_of(turn.verdict),
                 .words = turn.words});
    return owed;
}

}  // namespace epilogue::testing
