#include "ops/embedded_demo/real_demo.h"

#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/calls.h"
#include "agent/last_words.h"
#include "agent/render.h"
#include "base/ids.h"
#include "base/process/ports.h"
#include "base/text.h"
#include "ops/embedded_demo/demo_environment.h"
#include "ops/embedded_demo/real_agent.h"
#include "ops/embedded_demo/relay_thread.h"
#include "ops/embedded_demo/report.h"
#include "ops/embedded_demo/shown_post.h"
#include "ops/embedded_demo/terminal.h"
#include "ops/embedded_demo/topic_reader.h"
#include "ops/embedded_demo/verifier.h"

namespace epilogue::demo {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto starts_within = 300s;  // an agent server loads for half a minute, on a busy machine for more
constexpr auto ends_within = 120s;    // from the message to the post; it takes about 10 s
constexpr auto quiet_for = 2s;        // longer than the settle time: what one more post would take to show
constexpr auto poll_wait = 100ms;
constexpr std::size_t shown_lines = 5;  // of one event
const char* const script = "demo";      // of ops/agent_server/scripted_llm.py
const std::string request = "@openhands total.sh says 45, but the sum of 1 to 10 is 55. Please fix it.";
/// The message goes on with it, for the script alone.
const std::string where_to_work = "\nworkdir=";

/// What the agent finds where it works.
void write_project(const std::filesystem::path& folder) {
    std::ofstream(folder / "total.sh") << "# Prints the sum of 1 to 10.\n"
                                          "total=0\n"
                                          "for n in 1 2 3 4 5 6 7 8 9; do total=$((total + n)); done\n"
                                          "echo \"$total\"\n";
    std::ofstream(folder / "test.sh")
        << "total=$(sh total.sh)\n"
           "if [ \"$total\" = 55 ]; then echo PASS; else echo \"FAIL: $total\"; fi\n";
}

/// The place where the request was made: a thread on Slack.
Scenario scenario() {
    Scenario scenario;
    scenario.place = {"slack", "C0TOTAL"};
    scenario.in_thread = true;
    scenario.turns.push_back({"The agent's end has arrived", "Finished", "", ""});
    return scenario;
}

class RealDemo {
  public:
    RealDemo(const RealDemoOptions& options, std::stop_token stop)
        : options_(options), stop_(std::move(stop)), scenarios_{scenario()}, shown_(scenarios_) {}

    DemoEnd run() {
        say_what_comes();
        start();
        if (!stop_.stop_requested()) ask();
        if (!stop_.stop_requested()) watch();
        if (stop_.stop_requested()) return DemoEnd::interrupted;
        const bool is_good = conclude();
        if (options_.keep) keep_running();
        progress("ending the relay, the workers, the agent server and the database");
        return is_good ? DemoEnd::good : DemoEnd::bad;
    }

  private:
    void progress(const std::string& what) { terminal_.progress("… " + what); }
    /// A line about a part that has been started, or a step.
    void say_step(const std::string& what) { terminal_.say(terminal_.painted(Paint::bold, "● " + what)); }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - asked_at_).count(); }

    void say_what_comes() {
        const std::string what =
            "A real OpenHands agent works on this machine, and its end is told where it was asked: once, "
            "with "
            "its own last words.";
        const std::string how =
            "Its agent server is real, and so are the files and the shell that it works with; only the "
            "language "
            "model behind it follows a script. The platforms are a stand-in. Nothing is left behind.";
        for (const std::string& line : wrapped(what, terminal_.width()))
            terminal_.say(terminal_.painted(Paint::bold, line));
        for (const std::string& line : wrapped(how, terminal_.width())) terminal_.say(line);
        terminal_.say("");
    }

    void start();
    void ask();
    void watch();
    bool conclude();
    void keep_running();

    bool wait_until(const std::string& what, const std::function<bool()>& is_so);
    void require_running();
    void look(std::chrono::milliseconds wait);
    void show(const agent::RemoteEvent& event);
    void show_new_posts();
    std::string title_line(const Post& post);

    const RealDemoOptions& options_;
    const std::stop_token stop_;
    Terminal terminal_;
    std::vector<Scenario> scenarios_;
    Verifier shown_;
    std::string conversation_;  ///< as the agent server spells it
    bool is_told_ = false;      ///< the verdict stands: posts that come later answer other turns
    Clock::time_point asked_at_;
    Clock::time_point last_change_;
    std::int64_t last_shown_id_ = 0;
    // Ended from the last to the first.
    std::optional<RealAgent> agent_;
    std::optional<DemoEnvironment> environment_;
    std::optional<TopicReader> topic_;
    std::optional<RelayThread> relay_;
};

void RealDemo::start() {
    const auto began = Clock::now();
    const std::string relay = "127.0.0.1:" + std::to_string(process::free_port());
    const std::string relay_key = random_uuid();
    progress("starting an agent server");
    const nlohmann::json webhook{{"base_url", "http://" + relay},
                                 {"flush_delay", 1},
                                 {"headers", {{"Authorization", "Bearer " + relay_key}}}};
    agent_.emplace(options_.environment, nlohmann::json::array({webhook}).dump());
    write_project(agent_->work());
    environment_.emplace([this](const std::string& what) { progress(what); },
                         process::Settings{{"relay.http_listen", relay},
                                           {"relay.keys", std::vector<std::string>{relay_key}},
                                           {"agent_server.url", agent_->url()},
                                           {"agent_server.session_api_key", agent_->session_key()}});
    environment_->open_threads(scenarios_);
    if (stop_.stop_requested()) return;
    relay_.emplace(environment_->config());
    topic_.emplace(environment_->config());
    progress("waiting until two workers have shared the topic");
    environment_->start_workers(stop_);
    if (!wait_until("waiting until the relay and the agent server answer",
                    [this] { return topic_->is_reading() && relay_->answers() && agent_->answers(); }))
        return;
    say_step(fmt::format("OpenHands' agent server {} is up at {}, {:.0f} s after its start.",
                         agent_->version(), agent_->url(),
                         std::chrono::duration<double>(Clock::now() - began).count()));
    terminal_.say(
        fmt::format("  It posts its events to a relay at http://{}, which also follows its log;\n"
                    "  two workers read the topic.\n",
                    relay));
}

void RealDemo::ask() {
    Scenario& scenario = scenarios_.front();
    say_step(
        fmt::format("Somebody asks on {}, {}:", title_of(scenario.place.platform), name_of(scenario.place)));
    terminal_.say(fmt::format("  \"{}\"", request));
    conversation_ = agent_->create(script);
    scenario.conversation = normalise_conversation_id(conversation_);
    environment_->register_callback(scenario);
    const agent::ConversationCalls calls(agent_->client(), conversation_);
    asked_at_ = last_change_ = Clock::now();
    required(calls.send_message(request + where_to_work + agent_->work().string(), true));
    say_step("The agent has the message. Its events, as they come through the topic:");
}

/// Calls `is_so` again and again, and shows what comes meanwhile. False when `stop` is asked. Throws when a
/// part has failed, or the time is over.
bool RealDemo::wait_until(const std::string& what, const std::function<bool()>& is_so) {
    const auto end = Clock::now() + starts_within;
    progress(what);
    while (!stop_.stop_requested()) {
        require_running();
        look(poll_wait);
        if (is_so()) return true;
        if (Clock::now() > end) throw std::runtime_error("gave up " + what);
    }
    return false;
}

void RealDemo::require_running() {
    if (const std::string why = environment_->trouble(); !why.empty())
        throw std::runtime_error("a worker ended: " + why);
    if (const std::string why = relay_->trouble(); !why.empty())
        throw std::runtime_error("the relay ended: " + why);
    agent_->require_running();
}

/// Shows what has come in the topic and on the platform; waits a little when nothing has.
void RealDemo::look(std::chrono::milliseconds wait) {
    if (const auto event = topic_->next(wait)) show(*event);
    show_new_posts();
}

void RealDemo::show(const agent::RemoteEvent& event) {
    std::string text = replaced(agent::render(event), agent_->work().string() + "/", "");
    text.resize(std::min(text.size(), text.find(where_to_work)));
    // What the finish tool answers is what it was given.
    if (text.empty() || text.starts_with("< finish")) return;
    last_change_ = Clock::now();
    constexpr std::size_t margin = 12;
    const auto lines = wrapped(text, terminal_.width() - margin);
    const std::size_t count = std::min(lines.size(), shown_lines);
    std::string shown = fmt::format("{:>8.1f} s  {}", seconds(), lines.front());
    for (std::size_t i = 1; i < count; ++i) shown += "\n            " + lines[i];
    if (lines.size() > count) shown += " …";
    terminal_.say(event.status.empty() ? shown : terminal_.painted(Paint::dim, shown));
}

void RealDemo::show_new_posts() {
    for (const auto& comment : environment_->platform().visible()) {
        if (comment.id <= last_shown_id_ || !is_ours(comment)) continue;
        last_shown_id_ = comment.id;
        last_change_ = Clock::now();
        const Post post = post_of(comment);
        const std::string box = boxed(terminal_, post, fmt::format(" ({})", title_of(comment.platform)));
        terminal_.say("\n" + title_line(post) + "\n" + box + "\n");
    }
}

/// What the post is, of those that are expected.
std::string RealDemo::title_line(const Post& post) {
    if (is_told_) return terminal_.painted(Paint::bold, "● One more end has arrived:");
    Scenario& scenario = scenarios_.front();
    // Asked of the agent server itself, and not of what came through the topic.
    scenario.turns.front().words =
        required(agent::last_words_of(agent::ConversationCalls(agent_->client(), conversation_)));
    const Match match = shown_.add(post);
    if (match.again) return terminal_.painted(Paint::bad, "● The same post a second time:");
    if (!match.turn) return terminal_.painted(Paint::bad, "● Nobody asked for this post:");
    return terminal_.painted(
        Paint::bold,
        fmt::format("● {}, {:.1f} s after the message:", scenario.turns[*match.turn].about, seconds()));
}

void RealDemo::watch() {
    const auto end = Clock::now() + ends_within;
    progress("the agent works");
    while (!stop_.stop_requested() && Clock::now() < end) {
        require_running();
        look(poll_wait);
        if (environment_->posts_done() >= shown_.turns() && shown_.posts() > 0 &&
            Clock::now() - last_change_ >= quiet_for)
            break;
    }
    terminal_.progress("");
}

/// Compares what the platform shows with what the agent said. True when all is well.
bool RealDemo::conclude() {
    Verifier verifier(scenarios_);
    for (const auto& comment : environment_->platform().visible())
        if (is_ours(comment)) verifier.add(post_of(comment));
    is_told_ = true;
    const bool has_words = !scenarios_.front().turns.front().words.empty();
    terminal_.say(
        fmt::format("{} events came, in {} records: by webhook, by following the log, or by both.\n",
                    topic_->events(), topic_->records()));
    say_table(terminal_, scenarios_.size(), verifier);
    if (!has_words)
        terminal_.say(
            terminal_.painted(Paint::bad, "The agent said nothing, so no post could be compared with it."));
    const bool is_good = verifier.is_good() && has_words;
    if (!is_good) say_end_of_log(terminal_, *environment_);
    if (is_good && !options_.keep) terminal_.say("To look around in all of it: epilogue demo --real --keep");
    return is_good;
}

void RealDemo::keep_running() {
    say_addresses(terminal_, *environment_,
                  {"relay      " + relay_->url() + "/metrics, /healthz", "agents     " + agent_->url()},
                  {"relay status", "conversations send " + conversation_ + " \"And now?\"",
                   "conversations run " + conversation_});
    while (!stop_.stop_requested()) {
        require_running();
        look(poll_wait);
    }
}

}  // namespace

DemoEnd run_real_demo(const RealDemoOptions& options, const std::stop_token& stop) {
    return RealDemo(options, stop).run();
}

}  // namespace epilogue::demo
