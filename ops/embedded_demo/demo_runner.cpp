#include "ops/embedded_demo/demo_runner.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "base/text.h"
#include "worker/settings.h"

namespace epilogue::embedded {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 100ms;
constexpr auto quiet_for = 1500ms;  // longer than the settle time: what one more end would take to show
constexpr auto acknowledged_within = 10s;
constexpr std::size_t dropped_story = 0;
constexpr std::size_t suppressed_story = 1;
constexpr std::size_t doubled_story = 2;

/// Of a story on GitHub, outside of threads: as those are to which things happen.
std::string comments_path(const Story& story) {
    return fmt::format("/github/repos/{}/comments", replaced(story.place.path, "#", "/issues/"));
}

std::string rule(const char* deed, const Story& story) {
    return fmt::format(R"({{"do": "{}", "method": "POST", "path": "^{}$"}})", deed, comments_path(story));
}

/// Without the marker, which the platform's readers do not see either.
std::string seen_text(const std::string& body) {
    return std::string(trimmed(std::string_view(body).substr(0, body.rfind("\n<!-- epilogue:"))));
}

Post post_of(const standin::Comment& comment) {
    return {name_of(Place{comment.platform, comment.place, comment.thread}), seen_text(comment.body)};
}

bool is_ours(const standin::Comment& comment) {
    return comment.author == standin::bot_login;
}

std::string_view title_of(const std::string& platform) {
    return platform == "github" ? "GitHub" : platform == "gitlab" ? "GitLab" : "Slack";
}

Paint paint_of(const std::string& headline) {
    if (headline.starts_with("**Finished**")) return Paint::good;
    return headline.starts_with("**Waiting for you**") ? Paint::wait : Paint::bad;
}

}  // namespace

Play::Play(Stage& stage, Screen& screen, const std::vector<Story>& stories, const Mischief& mischief)
    : stage_(stage), screen_(screen), stories_(stories), cues_(schedule(stories)), shown_(stories) {
    std::string rules = rule("apply_then_reset", stories.at(dropped_story));
    if (mischief.suppress_one) rules += ", " + rule("suppress", stories.at(suppressed_story));
    if (mischief.double_one) rules += ", " + rule("apply_twice", stories.at(doubled_story));
    stage_.platform().rules("[" + rules + "]");
    for (const Story& story : stories_) stage_.register_callback(story);
    auto producer = KafkaProducer::open(kafka_settings(stage_.config()), stage_.config().kafka.topic);
    if (!producer) throw std::runtime_error(producer.error().text);
    producer_ = std::move(*producer);
}

void Play::run(Clock::time_point deadline, const std::stop_token& stop) {
    began_ = last_change_ = Clock::now();
    while (!stop.stop_requested() && !is_over() && Clock::now() < deadline) {
        publish_due();
        show_new_posts();
        follow_drama();
        show_progress();
        if (const std::string why = stage_.trouble(); !why.empty())
            throw std::runtime_error("a worker ended: " + why);
        const auto seen = shown_.posts();
        stage_.platform().wait_until([seen](const standin::Counts& counts) { return counts.applied > seen; },
                                     look_every);
    }
    screen_.progress("");
}

Audit Play::count() const {
    Audit audit(stories_);
    for (const auto& comment : stage_.platform().visible())
        if (is_ours(comment)) audit.add(post_of(comment));
    return audit;
}

void Play::publish_due() {
    const bool had_some = published_ < cues_.size();
    for (; published_ < cues_.size() && cues_[published_].at <= Clock::now() - began_; ++published_) {
        const Story& story = stories_[cues_[published_].story];
        const auto produced = producer_->produce(story.conversation, story.events[cues_[published_].event]);
        if (!produced) throw std::runtime_error(produced.error().text);
        last_change_ = Clock::now();
    }
    if (!had_some || published_ < cues_.size()) return;
    if (!producer_->flush(acknowledged_within) || producer_->refused() > 0)
        throw std::runtime_error("the broker did not take every event: " + producer_->last_error());
}

void Play::show_new_posts() {
    for (const auto& comment : stage_.platform().visible()) {
        if (comment.id <= last_shown_id_ || !is_ours(comment)) continue;
        last_shown_id_ = comment.id;
        last_change_ = Clock::now();
        const Post post = post_of(comment);
        show(post, shown_.add(post));
    }
}

void Play::show(const Post& post, const Told& told) {
    std::string about = "Nobody asked for this comment.";
    if (told.again)
        about = "The same comment a second time.";
    else if (told.turn)
        about = told.story->turns[*told.turn].about;
    const bool wrong = told.again || !told.turn;
    const std::string origin =
        told.story == nullptr
            ? ""
            : fmt::format(" ({}; {})", title_of(told.story->place.platform), told.story->generation);
    std::string text = screen_.painted(wrong ? Paint::bad : Paint::bold, "● " + about) + "\n";
    text += screen_.painted(Paint::dim, "  ╭─ epilogue-bot commented on ") + post.place +
            screen_.painted(Paint::dim, origin) + "\n";
    constexpr std::size_t margin = 4;
    bool first = true;
    for (const std::string& line : wrapped(post.text, screen_.width() - margin)) {
        text += screen_.painted(Paint::dim, line.empty() ? "  │" : "  │ ") +
                (first ? screen_.painted(paint_of(post.text), line) : line) + "\n";
        first = false;
    }
    screen_.say(text + screen_.painted(Paint::dim, "  ╰─") + "\n");
}

void Play::follow_drama() {
    if (drama_ == Drama::over) return;
    const Story& story = stories_.at(dropped_story);
    const auto log = stage_.platform().log();
    const auto post = std::find_if(log.begin(), log.end(), [](const standin::LogEntry& entry) {
        return entry.action == "apply_then_reset";
    });
    if (post == log.end()) return;
    if (drama_ == Drama::ahead) {
        drama_ = Drama::answer_lost;
        screen_.say(screen_.painted(Paint::wait, "⚡ The connection broke before " + name_of(story.place) +
                                                     " answered. Is the comment there or not?") +
                    "\n  Posting again could double it, giving up could lose it.\n");
    }
    const auto look = std::find_if(post, log.end(), [&](const standin::LogEntry& entry) {
        return entry.method == "GET" && entry.path == post->path && entry.status == 200;
    });
    if (look == log.end() || !stage_.is_sent(story)) return;
    drama_ = Drama::over;
    const auto later = std::chrono::duration<double>(look->at - post->at).count();
    screen_.say(
        screen_.painted(Paint::good, fmt::format("✓ {:.1f} s later Epilogue looked for its mark on {}.",
                                                 later, name_of(story.place))) +
        "\n  The comment is there, so it is not posted again.\n");
}

void Play::show_progress() {
    screen_.progress(fmt::format("… {} of {} events published, {} of {} endings told", published_,
                                 cues_.size(), shown_.told(), shown_.turns()));
}

bool Play::is_over() {
    return published_ == cues_.size() && Clock::now() - last_change_ >= quiet_for &&
           stage_.posts_done() >= shown_.turns();
}

}  // namespace epilogue::embedded
