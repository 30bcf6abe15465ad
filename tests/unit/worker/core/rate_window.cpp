#define BOOST_TEST_MODULE rate_window
#include "worker/core/rate_window.h"

#include <algorithm>

#include <boost/test/unit_test.hpp>
#include <rapidcheck.h>

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

using Limits = std::vector<RateLimit>;

constexpr Instant start{std::chrono::hours{24 * 20000}};

/// A pool that makes calls one after the other and beside each other: each begins when it may, reaches the
/// platform at some time and is over some time after that, or dies and is over when its lease is.
class Pool {
  public:
    explicit Pool(Limits limits) : limits_(std::move(limits)) {}

    /// A write that wants to begin `pause` after the last one began.
    void write(Micros pause, bool dies, Micros on_its_way, Micros answered) {
        now_ += pause;
        end_until(now_);
        for (Instant free = next(); free > now_; free = next()) {  // a call that ends may free it sooner
            now_ = under_way_.empty() ? free : std::min(free, under_way_.front().over);
            end_until(now_);
        }
        const Instant until = now_ + lease;
        window_.begin(until);
        received_.push_back(now_ + on_its_way);
        if (dies) return;
        under_way_.push_back({now_ + on_its_way + answered, until});
        std::sort(under_way_.begin(), under_way_.end(),
                  [](const auto& a, const auto& b) { return a.over < b.over; });
    }
    /// The most that the platform got in any span of that length.
    int most_in(std::chrono::seconds span) const {
        auto sorted = received_;
        std::sort(sorted.begin(), sorted.end());
        int most = 0;
        for (std::size_t first = 0, last = 0; last < sorted.size(); ++last) {
            while (sorted[last] - sorted[first] >= span) ++first;
            most = std::max(most, static_cast<int>(last - first + 1));
        }
        return most;
    }

    static constexpr std::chrono::seconds lease{60};

  private:
    struct UnderWay {
        Instant over;
        Instant until;
    };
    Instant next() const { return window_.next(Call::write, limits_); }
    void end_until(Instant at) {
        while (!under_way_.empty() && under_way_.front().over <= at) {
            window_.end(Call::write, under_way_.front().until, limits_, under_way_.front().over);
            under_way_.erase(under_way_.begin());
        }
    }

    const Limits limits_;
    RateWindow window_;
    Instant now_ = start;
    std::vector<UnderWay> under_way_;
    std::vector<Instant> received_;
};

rc::Gen<Micros> up_to(Micros longest) {
    return rc::gen::map(rc::gen::inRange<std::int64_t>(0, longest.count() + 1),
                        [](std::int64_t micros) { return Micros(micros); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_platform_never_gets_more_than_a_limit_in_any_span_of_its_length) {
    BOOST_TEST(rc::check("budget", [] {
        Limits limits;
        const int kinds = *rc::gen::inRange(1, 4);
        for (int i = 0; i < kinds; ++i)
            limits.push_back({*rc::gen::inRange(1, 6), *rc::gen::element<std::chrono::seconds>(1s, 5s, 60s)});
        Pool pool(limits);
        const int calls = *rc::gen::inRange(1, 40);
        for (int i = 0; i < calls; ++i)
            pool.write(*up_to(3s), *rc::gen::inRange(0, 8) == 0, *up_to(10s), *up_to(20s));
        for (const RateLimit& limit : limits) RC_ASSERT(pool.most_in(limit.span) <= limit.count);
    }));
}

BOOST_AUTO_TEST_CASE(what_is_kept_is_bounded_and_survives_its_text) {
    BOOST_TEST(rc::check("text", [] {
        const Limits limits{{3, 1s}};
        RateWindow window;
        const int calls = *rc::gen::inRange(0, 30);
        Instant now = start;
        for (int i = 0; i < calls; ++i) {
            now = std::max(now, window.next(Call::write, limits)) + *up_to(100ms);
            window.begin(now + 60s);
            window.end(Call::write, now + 60s, limits, now);
        }
        RC_ASSERT(window.calls.size() <= 4U);
        RC_ASSERT(calls_from_text(to_text(window.calls)) == window.calls);
    }));
    BOOST_TEST(calls_from_text("").empty());
    BOOST_TEST((calls_from_text("1 x 2x 3") == std::vector{Instant(1us), Instant(3us)}));
}

BOOST_AUTO_TEST_CASE(a_window_without_limits_keeps_nothing_and_is_open) {
    const RateWindow window;
    BOOST_TEST((window.next(Call::write, {}) <= start));
    BOOST_TEST(!window.keeps(Call::write, {}));
    BOOST_TEST(!window.keeps(Call::read, {{60, 1min}}));
    BOOST_TEST(window.keeps(Call::write, {{60, 1min}}));
    BOOST_TEST(window.keeps(Call::read, {{1, 1s}}));
}

BOOST_AUTO_TEST_CASE(a_closed_window_is_closed_to_reads_as_well) {
    RateWindow window;
    window.closed_until = start + 30s;
    BOOST_TEST((window.next(Call::read, {}) == start + 30s));
    BOOST_TEST((window.next(Call::write, {{60, 1min}}) == start + 30s));
}

BOOST_AUTO_TEST_CASE(a_limit_of_one_means_one_after_the_other) {
    const Limits limits{{1, 1s}};
    RateWindow window;
    window.begin(start + 60s);
    BOOST_TEST((window.next(Call::read, limits) == start + 60s));
    window.end(Call::write, start + 60s, limits, start + 2s);
    BOOST_TEST((window.next(Call::read, limits) <= start + 2s));
    BOOST_TEST((window.next(Call::write, limits) == start + 3s));
    window.begin(start + 62s);  // a read
    BOOST_TEST((window.next(Call::write, limits) == start + 63s));
    window.end(Call::read, start + 62s, limits, start + 2500ms);
    BOOST_TEST((window.next(Call::write, limits) == start + 3s));
}

BOOST_AUTO_TEST_CASE(after_a_refusal_one_call_at_a_time_until_one_is_not_refused) {
    RateWindow window;
    window.record_refusal(start, start + 1s);
    window.record_refusal(start, start + 2s);  // was under way already
    BOOST_TEST(window.refusals == 1);
    BOOST_TEST(window.keeps(Call::write, {}));
    window.begin(start + 70s);
    BOOST_TEST((window.next(Call::write, {}) == start + 70s));
    window.record_success(start);  // its answer says nothing about the time after the refusal
    BOOST_TEST(window.refusals == 1);
    window.end(Call::write, start + 70s, {}, start + 11s);
    window.record_refusal(start + 10s, start + 11s);
    BOOST_TEST(window.refusals == 2);
    window.record_success(start + 20s);
    BOOST_TEST(window.refusals == 0);
    BOOST_TEST(!window.keeps(Call::write, {}));
}

BOOST_AUTO_TEST_CASE(a_line_that_nobody_saw_to_for_more_than_a_minute_was_neglected) {
    RateWindow window;
    window.served_at = start;
    BOOST_TEST(window.serve({}, start + 50s));
    BOOST_TEST(!window.serve({}, start + 55s));  // too little to be kept
    BOOST_TEST(window.serve({}, start + 110s));
    BOOST_TEST((window.unattended_until == Instant{}));
    BOOST_TEST(window.serve({}, start + 171s));
    BOOST_TEST((window.unattended_until == start + 171s));
    window.closed_until = start + 20min;  // no worker can serve it meanwhile
    BOOST_TEST(window.serve({}, start + 20min + 60s));
    BOOST_TEST((window.unattended_until == start + 171s));
}

BOOST_AUTO_TEST_CASE(look_ups_keep_their_own_budget_and_a_few_may_be_made_at_once) {
    const Limits limits{{5, 1s}, {2500, 1h}};
    RateWindow window;
    std::vector<Instant> begun;
    for (Instant now = start; now < start + 2h; now += 100ms) {
        if (window.next_look(limits) > now) continue;
        window.begin_look(limits, now);
        begun.push_back(now);
    }
    const auto until = [&](Micros time) {
        return std::count_if(begun.begin(), begun.end(), [&](Instant at) { return at < start + time; });
    };
    BOOST_TEST(until(1s) == 5);
    BOOST_TEST(until(1h) <= 2505);
    BOOST_TEST(until(1h) >= 2400);
    BOOST_TEST(until(2h) <= 5005);
    BOOST_TEST((RateWindow().next_look({}) <= start));
}

BOOST_AUTO_TEST_CASE(a_waiting_time_of_the_platforms_own_is_kept_and_a_little_more_after_each_refusal) {
    BOOST_TEST((pause_after_refusal(30s, false, 1, 0.0) >= 30s));
    BOOST_TEST((pause_after_refusal(30s, false, 9, 1.0) == 36s));
    BOOST_TEST((pause_after_refusal(std::nullopt, false, 3, 1.0) == 4s));
}

BOOST_AUTO_TEST_CASE(a_waiting_time_that_the_platform_did_not_name_doubles_with_each_refusal_in_a_row) {
    const auto pause = [](int refusals) {
        return std::chrono::floor<std::chrono::minutes>(pause_after_refusal(60s, true, refusals, 0.0));
    };
    BOOST_TEST((pause(1) == 1min));
    BOOST_TEST((pause(2) == 2min));
    BOOST_TEST((pause(3) == 4min));
    BOOST_TEST((pause(5) == 16min));
    BOOST_TEST((pause(1000) == 16min));
}
