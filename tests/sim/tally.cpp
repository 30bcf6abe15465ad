#include "tests/sim/tally.h"

#include <algorithm>

#include <fmt/format.h>

namespace epilogue::sim {
namespace {

constexpr std::size_t schedules_for_one = 60;  ///< each fault comes at least once in so many, as a mean
constexpr int enough_kinds = 3;
constexpr std::int64_t enough_records = 50;
constexpr std::size_t shown_violations = 20;

template <class T>
T median_of(std::vector<T> values) {
    if (values.empty()) return {};
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

void Tally::add(std::uint64_t seed, const Outcome& outcome) {
    if (!outcome.violations.empty()) violating_.push_back({seed, outcome.violations.front()});
    records_.push_back(outcome.records);
    kinds_.push_back(outcome.faults.kinds());
    faults_.add(outcome.faults);
    steps_ += outcome.steps;
    owed_ += outcome.owed;
    attempts_ += outcome.attempts;
    created_ += outcome.created;
    duplicates_ += outcome.duplicates;
    virtual_hours_ += outcome.virtual_hours;
}

std::string Tally::report() const {
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    std::string text = fmt::format(
        "{} schedules in {:.1f} s ({:.0f}/s), {:.0f} virtual hours, {} steps\n"
        "posts: {} owed, {} requests, {} created, {} twins removed\n"
        "records a schedule: median {}; kinds of fault a schedule: median {}, fewest {}\n",
        records_.size(), seconds, static_cast<double>(records_.size()) / seconds, virtual_hours_, steps_,
        owed_, attempts_, created_, duplicates_, median_of(records_), median_of(kinds_),
        kinds_.empty() ? 0 : *std::min_element(kinds_.begin(), kinds_.end()));
    for (std::size_t i = 0; i < fault_kinds; ++i)
        text += fmt::format("  fault {:<24}{:>10}\n", name_of(static_cast<Fault>(i)), faults_.faults[i]);
    for (std::size_t i = 0; i < points; ++i)
        text += fmt::format("  at {:<27}{:>10} crashes {:>10} pauses\n", name_of(static_cast<Point>(i)),
                            faults_.crashes[i], faults_.pauses[i]);
    for (std::size_t i = 0; i < std::min(shown_violations, violating_.size()); ++i)
        text += fmt::format("VIOLATION seed {}: {}\n", violating_[i].seed, violating_[i].what);
    return text + fmt::format("{} schedules with a violation\n", violating_.size());
}

std::vector<std::string> Tally::missing() const {
    const auto enough = static_cast<std::int64_t>(records_.size() / schedules_for_one);
    std::vector<std::string> rare;
    for (std::size_t i = 0; i < fault_kinds; ++i)
        if (faults_.faults[i] < enough) rare.emplace_back(name_of(static_cast<Fault>(i)));
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Point::after_heal); ++i)
        if (faults_.crashes[i] < enough)
            rare.push_back("crash at " + std::string(name_of(static_cast<Point>(i))));
    if (kinds_.empty() || *std::min_element(kinds_.begin(), kinds_.end()) < enough_kinds)
        rare.emplace_back("three kinds of fault in each schedule");
    if (median_of(records_) < enough_records) rare.emplace_back("fifty records in the median");
    return rare;
}

}  // namespace epilogue::sim
