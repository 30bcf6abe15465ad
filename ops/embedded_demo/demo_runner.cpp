#include "ops/embedded_demo/demo_runner.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/text.h"
#include "ops/embedded_demo/shown_post.h"
#include "worker/settings.h"

namespace epilogue::demo {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 100ms;
constexpr auto quiet_for = 1500ms;  // longer than the settle time: what one more end would take to show
constexpr auto acknowledged_within = 10s;
constexpr std::size_t dropped_scenario = 0;
constexpr std::size_t suppressed_scenario = 1;
constexpr std::size_t doubled_scenario = 2;

/// The path to which posts of this scenario go. It is on GitHub and outside of threads, as all scenarios are
/// that have a fault.
std::string comments_path(const Scenario& scenario) {
    return fmt::format("/github/repos/{}/comments", replaced(scenario.place.path, "#", "/issues/"));
}

std::string rule(const char* fault, const Scenario& scenario) {
    return fmt::format(R"({{"do": "{}", "method": "POST", "path": "^{}$"}})", fault, comments_path(scenario));
}

}  // namespace

DemoRunner::DemoRunner(DemoEnvironment& environment, Terminal& terminal,
                       const std::vector<Scenario>& scenarios, const PlantedFaults& faults)
    : environment_(environment),
      terminal_(terminal),
      scenarios_(scenarios),
      events_(schedule(scenarios)),
      shown_(scenarios) {
    std::string rules = rule("apply_then_reset", scenarios.at(dropped_scenario));
    if (faults.suppress_one) rules += ", " + rule("suppress", scenarios.at(suppressed_scenario));
    if (faults.double_one) rules += ", " + rule("apply_twice", scenarios.at(doubled_scenario));
    environment_.platform().rules("[" + rules + "]");
    for (const Scenario& scenario : scenarios_) environment_.register_callback(scenario);
    auto producer =
        KafkaProducer::open(kafka_settings(environment_.config()), environment_.config().kafka.topic);
    if (!producer) throw std::runtime_error(producer.error().text);
    producer_ = std::move(*producer);
}

void DemoRunner::run(Clock::time_point deadline, const std::stop_token& stop) {
    began_ = last_change_ = Clock::now();
    while (!stop.stop_requested() && !is_over() && Clock::now() < deadline) {
        publish_due();
        show_new_posts();
        show_lost_answer();
        show_progress();
        if (const std::string why = environment_.trouble(); !why.empty())
            throw std::runtime_error("a worker ended: " + why);
        const auto seen = shown_.posts();
        environment_.platform().wait_until(
            [seen](const fake_platform::Counts& counts) { return counts.applied > seen; }, look_every);
    }
    terminal_.progress("");
}

Verifier DemoRunner::count() const {
    Verifier verifier(scenarios_);
    for (const auto& comment : environment_.platform().visible())
        if (is_ours(comment)) verifier.add(post_of(comment));
    return verifier;
}

void DemoRunner::publish_due() {
    const bool had_some = published_ < events_.size();
    for (; published_ < events_.size() && events_[published_].at <= Clock::now() - began_; ++published_) {
        const Scenario& scenario = scenarios_[events_[published_].scenario];
        const auto produced =
            producer_->produce(scenario.conversation, scenario.events[events_[published_].event]);
        if (!produced) throw std::runtime_error(produced.error().text);
        last_change_ = Clock::now();
    }
    if (!had_some || published_ < events_.size()) return;
    if (!producer_->flush(acknowledged_within) || producer_->refused() > 0)
        throw std::runtime_error("the broker did not take every event: " + producer_->last_error());
}

void DemoRunner::show_new_posts() {
    for (const auto& comment : environment_.platform().visible()) {
        if (comment.id <= last_shown_id_ || !is_ours(comment)) continue;
        last_shown_id_ = comment.id;
        last_change_ = Clock::now();
        const Post post = post_of(comment);
        show(post, shown_.add(post));
    }
}

void DemoRunner::show(const Post& post, const Match& match) {
    std::string about = "Nobody asked for this comment.";
    if (match.again)
        about = "The same comment a second time.";
    else if (match.turn)
        about = match.scenario->turns[*match.turn].about;
    const bool wrong = match.again || !match.turn;
    const std::string origin =
        match.scenario == nullptr
            ? ""
            : fmt::format(" ({}; {})", title_of(match.scenario->place.platform), match.scenario->generation);
    terminal_.say(terminal_.painted(wrong ? Paint::bad : Paint::bold, "● " + about) + "\n" +
                  boxed(terminal_, post, origin) + "\n");
}

void DemoRunner::show_lost_answer() {
    if (lost_answer_ == LostAnswer::found) return;
    const Scenario& scenario = scenarios_.at(dropped_scenario);
    const auto log = environment_.platform().log();
    const auto post = std::find_if(log.begin(), log.end(), [](const fake_platform::LogEntry& entry) {
        return entry.action == "apply_then_reset";
    });
    if (post == log.end()) return;
    if (lost_answer_ == LostAnswer::expected) {
        lost_answer_ = LostAnswer::lost;
        terminal_.say(terminal_.painted(Paint::wait, "⚡ The connection broke before " +
                                                         name_of(scenario.place) +
                                                         " answered. Is the comment there or not?") +
                      "\n  Posting again could double it, giving up could lose it.\n");
    }
    const auto look = std::find_if(post, log.end(), [&](const fake_platform::LogEntry& entry) {
        return entry.method == "GET" && entry.path == post->path && entry.status == 200;
    });
    if (look == log.end() || !environment_.is_sent(scenario)) return;
    lost_answer_ = LostAnswer::found;
    const auto later = std::chrono::duration<double>(look->at - post->at).count();
    terminal_.say(
        terminal_.painted(Paint::good, fmt::format("✓ {:.1f} s later Epilogue looked for its mark on {}.",
                                                   later, name_of(scenario.place))) +
        "\n  The comment is there, so it is not posted again.\n");
}

void DemoRunner::show_progress() {
    terminal_.progress(fmt::format("… {} of {} events published, {} of {} endings told", published_,
                                   events_.size(), shown_.reported(), shown_.turns()));
}

bool DemoRunner::is_over() {
    return published_ == events_.size() && Clock::now() - last_change_ >= quiet_for &&
           environment_.posts_done() >= shown_.turns();
}

}  // namespace epilogue::demo
