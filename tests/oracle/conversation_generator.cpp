#include "tests/oracle/conversation_generator.h"

#include <fmt/format.h>

#include "tests/support/v1_events.h"

namespace epilogue::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Micros moment = milliseconds{10};
constexpr Micros second = seconds{1};

class V1Generator final : public ConversationGenerator {
  public:
    V1Generator(Random random, std::size_t index, Micros start, Micros end, Pacing pacing)
        : ConversationGenerator(random, index, start, end, pacing) {
        if (!pacing.real_servers) return;
        if (random_.chance(0.5)) zone_ = minutes{random_.one_of(std::vector<int>{0, -300, -60, 345, 540})};
        if (random_.chance(0.2)) seq_ = random_.between(0, 3);
        says_run_over_ = random_.chance(0.3);
        has_stop_hook_ = random_.chance(0.25);
        if (has_stop_hook_)
            add(v1::state(next_id(), stamp(), "hook_config",
                          R"({"stop":[{"matcher":"*","hooks":[{"command":"check"}]}]})"));
    }

  private:
    bool generate_turn() override {
        if (pacing_.real_servers && zone_ && ended_ && random_.chance(0.4)) {
            move_clock();
        } else if (pacing_.real_servers && random_.chance(0.15)) {
            pursue_goal();
            return true;
        } else {
            const bool resumed =
                ended_ && !deleted_ && settled_ && pacing_.counts_by_time && random_.chance(0.15);
            if (ended_ && !seq_ && random_.chance(0.15)) stale_running();
            if (resumed) {
                turn_key_ = next_id();
                status("running", turn_key_);
                return work_and_end();
            }
        }
        turn_key_ = next_id();
        user(turn_key_);
        pass(moment, second / 2);
        status("running", next_id());
        return work_and_end();
    }

    /// The server is started anew in another zone, or its summer ends.
    void move_clock() {
        constexpr minutes farthest{12 * 60};
        const Micros moved =
            *zone_ + minutes{random_.one_of(std::vector<int>{-60, 60, -300, 300, -540, 540, -15})};
        if (moved <= farthest && moved >= -farthest) zone_ = moved;
    }

    /// A `/goal` loop: each of its rounds ends with `finished`, and only the goal ends the turn.
    void pursue_goal() {
        goal("running", 0);
        turn_key_ = next_id();
        const int rounds = random_.between(1, 3);
        for (int round = 1; round <= rounds; ++round) {
            pass(moment, second / 4);
            user(round == 1 ? turn_key_ : next_id());
            pass(moment, second / 4);
            status("running", next_id());
            work();
            finishes();
            if (has_stop_hook_) stop_hook(false);
            if (says_run_over_) run_over();
            pass(moment, 3 * pacing_.settle);  // the judge of the goal takes its time
            if (round == rounds) break;
            goal("running", round);
            status("idle", next_id());
        }
        const bool is_reached = random_.chance(0.5);
        goal(is_reached ? "complete" : random_.chance(0.5) ? "capped" : "interrupted", rounds);
        ends(is_reached || finished_with_tool_ ? Verdict::finished : Verdict::awaiting_user_input, true);
        ended_ = true;
        settled_ = true;
        pass(moment, 5 * second);
    }

    void goal(std::string_view outcome, int round) {
        add(v1::state(next_id(), stamp(), "goal",
                      fmt::format(R"({{"active":{},"status":"{}","iteration":{},"max_iterations":3}})",
                                  outcome == "running", outcome, round)));
    }

    void stop_hook(bool is_denied) {
        pass(moment, 3 * pacing_.settle);
        add(fmt::format(R"({{"kind":"HookExecutionEvent","id":"{}","timestamp":"{}","source":"hook",)"
                        R"("hook_event_type":"Stop","blocked":{}}})",
                        next_id(), stamp(), is_denied));
    }

    void run_over() {
        pass(moment, pacing_.settle / 4);
        const std::string value =
            v1::state(next_id(), stamp(), "full_state", R"({"execution_status":"finished"})");
        events.push_back({now_, value, {std::nullopt, true}});
    }

    bool work_and_end() {
        work();
        if (random_.chance(0.15)) {  // a user message joins the open turn
            pass(moment, second);
            user(next_id());
        }
        work();
        end();
        return !deleted_;
    }

    void work() {
        for (int i = random_.between(0, 2); i > 0; --i) {
            pass(moment, second);
            const std::string id = next_id();
            action(id);
            if (random_.chance(0.3)) {
                pass(moment, second / 4);
                observation(id);
            }
        }
    }

    void end() {
        ended_ = true;
        settled_ = true;
        const double draw = random_.real01();
        if (draw < 0.7) {
            end_by_finishing();
            const bool finish = finished_with_tool_;
            const bool is_over = says_run_over_ && random_.chance(0.7);
            if (is_over) {
                run_over();
            } else if (random_.chance(0.5)) {
                pass(moment, pacing_.settle / 4);
                status("idle", next_id());
            }
            ends(finish ? Verdict::finished : Verdict::awaiting_user_input, true);
            if (is_over) return pass(moment, second);
            settled_ = random_.chance(0.7);  // else the next user message comes first, and counts it
            pass(settled_ ? pacing_.settle + second : moment,
                 settled_ ? pacing_.settle + 20 * second : pacing_.settle / 2);
        } else if (draw < 0.85) {
            status("error", next_id());
            if (random_.chance(0.6)) {
                pass(moment, pacing_.settle / 3);
                add(v1::error_detail(next_id(), stamp()));
            }
            ends(Verdict::error, false);
            pass(pacing_.settle + second, pacing_.settle + 10 * second);
        } else if (draw < 0.95) {
            status("stuck", next_id());
            ends(Verdict::stuck, false);
            pass(moment, 10 * second);
        } else {
            status("deleting", next_id());
            deleted_ = true;
            ends(Verdict::stopped, false);
        }
    }

    /// Until nothing takes it back any more.
    void end_by_finishing() {
        finishes();
        while (has_stop_hook_ && random_.chance(0.4)) {
            stop_hook(true);
            status("running", next_id());
            work();
            finishes();
        }
        if (has_stop_hook_) return stop_hook(false);
        while (pacing_.counts_by_time && random_.chance(0.2)) {  // revoked, and finished again
            pass(moment, pacing_.settle * 2 / 5);
            if (random_.chance(0.5))
                status("running", next_id());
            else
                action(next_id());
            pass(moment, second);
            finishes();
        }
    }

    void finishes() {
        pass(moment, second);
        finished_with_tool_ = random_.chance(0.6);
        if (finished_with_tool_)
            add(v1::finish_action(next_id(), stamp(), fmt::format("Done {}.", nonce())));
        else
            add(v1::agent_message(next_id(), stamp(), fmt::format("Which? {}", nonce())));
        pass(moment, second / 2);
        status("finished", next_id());
    }

    /// A second source sends what was overtaken by the last end: it tells of nothing new.
    void stale_running() {
        const Micros before = random_.between(moment, second);
        add(v1::status(next_id(), stamp_at(newest_status_ - before), "running"));
        pass(moment, second / 10);
    }

    void user(const std::string& id) { add(v1::user_message(id, stamp(), user_text(id == turn_key_))); }
    void status(std::string_view value, const std::string& id) {
        newest_status_ = now_;
        add(v1::status(id, stamp(), value));
    }
    std::string path() const { return fmt::format("[c{}]", index_); }
    void action(const std::string& id) { add(v1::edit_action(id, stamp(), path())); }
    void observation(const std::string& action_id) {
        add(v1::observation(next_id(), stamp(), action_id, path()));
    }

    bool ended_ = false;
    bool settled_ = false;  ///< the last end has been counted by time
    bool deleted_ = false;
    bool finished_with_tool_ = false;
    bool says_run_over_ = false;
    bool has_stop_hook_ = false;
    Micros newest_status_{0};
};

class V0Generator final : public ConversationGenerator {
  public:
    using ConversationGenerator::ConversationGenerator;

  private:
    bool generate_turn() override {
        if (events_ == 0 && random_.chance(0.5)) state("awaiting_user_input", "");
        turn_key_ = std::to_string(events_);
        add(fmt::format(R"({{"id":{},"timestamp":"{}","source":"user","action":"message",)"
                        R"("args":{{"content":"{}"}}}})",
                        events_++, stamp(), user_text(true)));
        pass(moment, second / 2);
        state("running", "");
        for (int i = random_.between(0, 3); i > 0; --i) {
            pass(moment, second);
            add(fmt::format(R"({{"id":{},"timestamp":"{}","source":"agent","action":"edit",)"
                            R"("args":{{"path":"a.txt"}}}})",
                            events_++, stamp()));
            add(fmt::format(R"({{"id":{},"timestamp":"{}","source":"environment","observation":"edit",)"
                            R"("content":"","extras":{{"path":"[c{}]"}}}})",
                            events_++, stamp(), index_));
        }
        return generate_end();
    }

    bool generate_end() {
        const double draw = random_.real01();
        bool goes_on = true;
        if (draw < 0.4) {
            add(fmt::format(R"({{"id":{},"timestamp":"{}","source":"agent","action":"finish",)"
                            R"("args":{{"final_thought":"Done {}."}}}})",
                            events_++, stamp(), nonce()));
            pass(moment, second);
            state("finished", "");
            ends(Verdict::finished, true);
        } else if (draw < 0.7) {
            asks();
            while (random_.chance(0.15)) {  // it was resumed, and that `running` is lost
                pass(second, 5 * second);
                turn_key_ = std::to_string(events_);
                asks();
            }
        } else if (draw < 0.8) {
            state("error", "STATUS$ERROR_LLM");
            ends(Verdict::error, false);
        } else if (draw < 0.87) {
            state("error", "AgentStuckInLoopError: again");
            ends(Verdict::stuck, false);
        } else if (draw < 0.94) {
            state("rejected", "");
            ends(Verdict::rejected, false);
        } else {
            state("stopped", "");
            ends(Verdict::stopped, false);
            goes_on = false;
        }
        pass(moment, 10 * second);
        return goes_on;
    }

    void asks() {
        add(fmt::format(R"({{"id":{},"timestamp":"{}","source":"agent","action":"message",)"
                        R"("args":{{"content":"Which? {}"}}}})",
                        events_++, stamp(), nonce()));
        pass(moment, second);
        state("awaiting_user_input", "");
        ends(Verdict::awaiting_user_input, true);
    }

    void state(std::string_view name, std::string_view reason) {
        pass(moment, second / 2);
        add(fmt::format(R"({{"id":{},"timestamp":"{}","source":"environment",)"
                        R"("observation":"agent_state_changed","content":"",)"
                        R"("extras":{{"agent_state":"{}","reason":"{}"}}}})",
                        events_++, stamp(), name, reason));
    }
};

}  // namespace

ConversationGenerator::ConversationGenerator(Random random, std::size_t index, Micros start, Micros end,
                                             Pacing pacing)
    : random_(random), index_(index), now_(start), end_(end), pacing_(pacing) {}

void ConversationGenerator::generate() {
    while (now_ < end_ && generate_turn()) {
    }
}

std::string stamp_of(Micros at) {
    constexpr Instant start{std::chrono::hours{24 * 20400}};
    return to_iso(start + at);
}

std::string ConversationGenerator::stamp() const {
    return stamp_at(now_);
}

std::string ConversationGenerator::stamp_at(Micros at) const {
    std::string stamp = stamp_of(at + zone_.value_or(Micros{0}));
    if (zone_) stamp.pop_back();
    return stamp;
}

void ConversationGenerator::add(std::string value) {
    RecordMarks marks;
    if (seq_) marks.seq = (*seq_)++;
    events.push_back({now_, std::move(value), marks});
}

std::string ConversationGenerator::nonce() const {
    return fmt::format("[c{}t{}]", index_, turns.size());
}

std::string ConversationGenerator::next_id() {
    return fmt::format("c{}-e{}", index_, events_++);
}

void ConversationGenerator::ends(Verdict verdict, bool says) {
    turns.push_back({turn_key_, verdict, says ? nonce() : "", turn_origin_});
    turn_origin_.clear();
}

std::string ConversationGenerator::user_text(bool opens) {
    const auto& origins = pacing_.origins;
    const std::string origin = origins.empty() ? "" : origins[messages_++ % origins.size()];
    if (opens)
        turn_origin_ = origin;
    else if (turn_origin_ != origin)
        turn_origin_.clear();
    return origin.empty() ? "go on" : "go on <!-- epilogue:from " + origin + " -->";
}

std::unique_ptr<ConversationGenerator> make_conversation_generator(bool v0, Random random, std::size_t index,
                                                                   Micros start, Micros end, Pacing pacing) {
    if (v0) return std::make_unique<V0Generator>(random, index, start, end, pacing);
    return std::make_unique<V1Generator>(random, index, start, end, pacing);
}

}  // namespace epilogue::testing
