#define BOOST_TEST_MODULE callback
#include "worker/core/callback.h"

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>

#include "tests/support/golden.h"

using namespace epilogue;

namespace {

constexpr Mode modes[] = {Mode::once, Mode::until_done, Mode::every_turn};
constexpr Phase phases[] = {Phase::watching,  Phase::delivering, Phase::done,
                            Phase::cancelled, Phase::dormant,    Phase::error};

CallbackState in(Phase phase) {
    return {phase, phase == Phase::error ? "why" : "", TurnKey("t1")};
}

/// Every event a callback can meet; t1 is the turn it reported last.
std::vector<std::pair<std::string, CallbackEvent>> all_events() {
    std::vector<std::pair<std::string, CallbackEvent>> events;
    for (const Verdict verdict : all_verdicts()) {
        events.emplace_back(fmt::format("{} t2", name_of(verdict)), TurnCounted{TurnKey("t2"), verdict});
        events.emplace_back(fmt::format("{} t2, opened before adoption", name_of(verdict)),
                            TurnCounted{TurnKey("t2"), verdict, false});
    }
    events.emplace_back("finished t2, from elsewhere",
                        TurnCounted{TurnKey("t2"), Verdict::finished, true, "", true});
    for (const Verdict verdict : all_notices())
        events.emplace_back(fmt::format("{} n1", name_of(verdict)), TurnHeldUp{TurnKey("n1"), verdict});
    events.emplace_back("sent t1", DeliverySent{TurnKey("t1")});
    events.emplace_back("sent t0", DeliverySent{TurnKey("t0")});
    events.emplace_back("refused t1", DeliveryRefused{TurnKey("t1"), "404"});
    events.emplace_back("refused t0", DeliveryRefused{TurnKey("t0"), "404"});
    events.emplace_back("refused n1", DeliveryRefused{TurnKey("n1"), "404", true});
    events.emplace_back("cancel", CancelAsked{});
    events.emplace_back("wake", WakeAsked{});
    events.emplace_back("row unusable", RowFound{"no channel"});
    events.emplace_back("log unread", LogUnread{"no answer"});
    events.emplace_back("log read", LogRead{});
    return events;
}

std::string cell(const CallbackState& before, const CallbackStep& step) {
    std::string text = step.state == before ? "same" : std::string(name_of(step.state.phase));
    if (step.state.last_turn_key != before.last_turn_key) text += " last=" + step.state.last_turn_key;
    if (step.state.reason != before.reason) text += fmt::format(" reason=\"{}\"", step.state.reason);
    if (status_of(step.state.phase) != status_of(before.phase))
        text += fmt::format(", {}", name_of(status_of(step.state.phase)));
    if (step.plan) text += fmt::format("; plans {} {}", step.plan->turn_key, name_of(step.plan->verdict));
    return text;
}

CallbackOptions options_of(Mode mode, std::vector<Verdict> triggers = all_verdicts()) {
    return {mode, std::move(triggers)};
}

/// Feeds turns t1, t2, … of these verdicts and answers the reported ones, each sent at once.
std::string reported(const CallbackOptions& options, const std::vector<Verdict>& verdicts) {
    CallbackState state;
    std::string turns;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        auto counted = step(state, options, TurnCounted{TurnKey(fmt::format("t{}", i + 1)), verdicts[i]});
        state = counted.state;
        if (!counted.plan) continue;
        turns += counted.plan->turn_key + " ";
        state = step(state, options, DeliverySent{counted.plan->turn_key}).state;
    }
    return turns + std::string(name_of(state.phase));
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_phase_meets_every_event_as_the_golden_table_says) {
    std::string text =
        "Every mode, phase × event of the callback machine: \"mode: phase × event -> phase, upstream's "
        "status when it\n"
        "changed; the delivery it plans\". t1 is the turn reported last, t2 the next. All triggers are asked "
        "for,\n"
        "except where a line says otherwise.\n";
    for (const Mode mode : modes)
        for (const Phase phase : phases) {
            const CallbackState state = in(phase);
            text +=
                fmt::format("\n# {}: {} ({})\n", name_of(mode), name_of(phase), name_of(status_of(phase)));
            for (const auto& [name, event] : all_events())
                text += fmt::format("{}: {} × {} -> {}\n", name_of(mode), name_of(phase), name,
                                    cell(state, step(state, options_of(mode), event)));
            text +=
                fmt::format("{}: {} × finished t2, no trigger of it -> {}\n", name_of(mode), name_of(phase),
                            cell(state, step(state, options_of(mode, {Verdict::error}),
                                             TurnCounted{TurnKey("t2"), Verdict::finished})));
        }
    BOOST_TEST(difference_from_golden("callback", text) == "");
}

BOOST_AUTO_TEST_CASE(once_reports_the_first_turn_and_is_done_when_it_is_sent) {
    BOOST_TEST(reported(options_of(Mode::once), {Verdict::awaiting_user_input, Verdict::finished}) ==
               "t1 done");
}

BOOST_AUTO_TEST_CASE(until_done_reports_questions_until_another_verdict_comes) {
    const std::vector<Verdict> turns{Verdict::awaiting_user_input, Verdict::awaiting_user_input,
                                     Verdict::error, Verdict::finished};
    BOOST_TEST(reported(options_of(Mode::until_done), turns) == "t1 t2 t3 done");
}

BOOST_AUTO_TEST_CASE(every_turn_reports_each_turn_and_stays_active) {
    BOOST_TEST(reported(options_of(Mode::every_turn), all_verdicts()) == "t1 t2 t3 t4 t5 t6 t7 watching");
}

BOOST_AUTO_TEST_CASE(a_turn_outside_the_triggers_is_not_reported_and_leaves_once_unused) {
    BOOST_TEST(reported(options_of(Mode::once, {Verdict::finished}),
                        {Verdict::awaiting_user_input, Verdict::stopped, Verdict::finished}) == "t3 done");
    BOOST_TEST(reported(options_of(Mode::until_done, {Verdict::awaiting_user_input, Verdict::finished}),
                        {Verdict::error, Verdict::awaiting_user_input, Verdict::finished}) == "t2 t3 done");
}

BOOST_AUTO_TEST_CASE(a_turn_from_elsewhere_is_not_reported_and_leaves_once_unused) {
    TurnCounted turn{TurnKey("t1"), Verdict::finished};
    turn.is_from_elsewhere = true;
    const auto passed_by = step({}, options_of(Mode::once), turn);
    BOOST_TEST(!passed_by.plan);
    BOOST_TEST((passed_by.state == CallbackState()));
    turn.is_from_elsewhere = false;
    BOOST_TEST(step(passed_by.state, options_of(Mode::once), turn).plan.has_value());
}

BOOST_AUTO_TEST_CASE(a_notice_is_told_only_to_who_asks_for_it_and_leaves_once_unused) {
    const TurnHeldUp waits{TurnKey("n1"), Verdict::waiting_for_confirmation};
    const CallbackState watching;
    BOOST_TEST(!step(watching, options_of(Mode::once), waits).plan);
    const auto asked = parse_options("once", "paused,finished,waiting_for_confirmation").value();
    const auto told = step(watching, asked, waits);
    BOOST_REQUIRE(told.plan);
    BOOST_TEST(told.plan->turn_key == "n1");
    BOOST_TEST((told.state == watching));
    BOOST_TEST((step(told.state, asked, DeliverySent{TurnKey("n1")}).state == watching));
    BOOST_TEST((step(told.state, asked, DeliveryRefused{TurnKey("n1"), "404", true}).state == watching));
    BOOST_TEST(step(told.state, asked, TurnCounted{TurnKey("t1"), Verdict::finished}).plan.has_value());
    BOOST_TEST(!step(watching, asked, TurnHeldUp{TurnKey("n1"), Verdict::paused, true}).plan);
    BOOST_TEST((options_from_json(to_json(asked))->triggers == asked.triggers));
}

BOOST_AUTO_TEST_CASE(a_turn_that_openhands_told_is_not_reported_and_leaves_once_unused) {
    const auto is_reported = [](const std::string& told, const std::string& turn_key,
                                const std::string& status_event) {
        CallbackOptions options;
        options.told = told;
        const auto next =
            step({}, options, TurnCounted{TurnKey(turn_key), Verdict::finished, true, status_event});
        BOOST_TEST((next.plan ? next.state.phase == Phase::delivering : next.state == CallbackState()));
        return next.plan.has_value();
    };
    // V1: the status that ended the turn.
    BOOST_TEST(!is_reported("e-9", "u-1", "e-9"));
    BOOST_TEST(is_reported("e-9", "u-2", "e-12"));
    // V0: the newest user message that was handled, and all before it.
    BOOST_TEST(!is_reported("14", "14", "20"));
    BOOST_TEST(!is_reported("14", "3", "9"));
    BOOST_TEST(is_reported("14", "15", "20"));
    BOOST_TEST(is_reported("14", "start", "20"));
    BOOST_TEST(is_reported("14", "5e1", "x"));
    BOOST_TEST(is_reported("", "14", ""));
}

BOOST_AUTO_TEST_CASE(a_callback_is_completed_by_its_own_last_post_only) {
    const auto options = options_of(Mode::until_done);
    CallbackState state;
    state = step(state, options, TurnCounted{TurnKey("t1"), Verdict::awaiting_user_input}).state;
    state = step(state, options, TurnCounted{TurnKey("t2"), Verdict::finished}).state;
    BOOST_TEST((state.phase == Phase::delivering));
    state = step(state, options, DeliverySent{TurnKey("t1")}).state;
    BOOST_TEST((state.phase == Phase::delivering));
    state = step(state, options, DeliverySent{TurnKey("t2")}).state;
    BOOST_TEST((state.phase == Phase::done));
    BOOST_TEST((status_of(state.phase) == CallbackStatus::completed));
}

BOOST_AUTO_TEST_CASE(upstreams_status_follows_the_phase) {
    BOOST_TEST(name_of(status_of(Phase::watching)) == "ACTIVE");
    BOOST_TEST(name_of(status_of(Phase::delivering)) == "ACTIVE");
    BOOST_TEST(name_of(status_of(Phase::dormant)) == "ACTIVE");
    BOOST_TEST(name_of(status_of(Phase::done)) == "COMPLETED");
    BOOST_TEST(name_of(status_of(Phase::cancelled)) == "COMPLETED");
    BOOST_TEST(name_of(status_of(Phase::error)) == "ERROR");
}

BOOST_AUTO_TEST_CASE(phases_are_read_as_they_are_written) {
    for (const Phase phase : phases) BOOST_TEST((phase_named(name_of(phase)) == phase));
    for (const char* name : {"", "Watching", "settling", "done "}) BOOST_TEST(!phase_named(name).has_value());
}

BOOST_AUTO_TEST_CASE(options_default_to_once_and_every_trigger) {
    const auto options = parse_options("", "");
    BOOST_REQUIRE(options.has_value());
    BOOST_TEST((options->mode == Mode::once));
    BOOST_TEST((options->triggers == all_verdicts()));
    BOOST_TEST((parse_options("once", "  ")->triggers == all_verdicts()));
}

BOOST_AUTO_TEST_CASE(triggers_are_kept_in_the_contracts_order_once_each) {
    const auto options = parse_options("every_turn", " timeout , error,finished,error,");
    BOOST_REQUIRE(options.has_value());
    BOOST_TEST((options->mode == Mode::every_turn));
    BOOST_TEST((options->triggers == std::vector{Verdict::finished, Verdict::error, Verdict::timeout}));
}

BOOST_AUTO_TEST_CASE(a_wrong_mode_or_trigger_is_refused_with_what_is_accepted) {
    const auto text_of = [](std::string_view mode, std::string_view triggers) {
        const auto options = parse_options(mode, triggers);
        BOOST_REQUIRE(!options.has_value());
        BOOST_TEST((options.error().remedy == Remedy::poison));
        return options.error().text;
    };
    for (const char* mode : {"twice", "Once", "once ", "every-turn"})
        BOOST_TEST(text_of(mode, "") ==
                   fmt::format("mode: expected once, until_done or every_turn, got \"{}\"", mode));
    for (const char* triggers : {"done", "finished,done", "finished error", "Finished"}) {
        const std::string text = text_of("once", triggers);
        for (const Verdict verdict : all_verdicts())
            BOOST_TEST(text.find(name_of(verdict)) != std::string::npos, text);
        BOOST_TEST(text.starts_with("triggers: "), text);
    }
    BOOST_TEST(text_of("once", "finished,done").ends_with("got \"done\""));
    BOOST_TEST(text_of("once", ", ,") == "triggers: expected at least one");
}

BOOST_AUTO_TEST_CASE(options_survive_their_json) {
    for (const Mode mode : modes)
        for (const auto& triggers : {all_verdicts(), std::vector{Verdict::stuck}}) {
            const auto again = options_from_json(to_json({mode, triggers}));
            BOOST_REQUIRE(again.has_value());
            BOOST_TEST((again->mode == mode));
            BOOST_TEST((again->triggers == triggers));
        }
    CallbackOptions next;
    next.from_last = false;
    BOOST_TEST(!options_from_json(to_json(next))->from_last);
    BOOST_TEST(options_from_json(to_json(CallbackOptions{}))->from_last);
    CallbackOptions told;
    told.told = "e-9";
    BOOST_TEST(options_from_json(to_json(told))->told == "e-9");
    BOOST_TEST(options_from_json(to_json(CallbackOptions{}))->told == "");
    BOOST_TEST(to_json({Mode::until_done, {Verdict::finished, Verdict::error}}) ==
               R"({"mode":"until_done","triggers":["finished","error"]})");
}

BOOST_AUTO_TEST_CASE(json_that_is_no_options_is_poison) {
    for (const char* json : {"", "x", "[]", "null", R"({"mode":"twice"})", R"({"mode":1})",
                             R"({"triggers":["done"]})", R"({"triggers":[1]})", R"({"told":1})"}) {
        const auto options = options_from_json(json);
        BOOST_REQUIRE_MESSAGE(!options.has_value(), json);
        BOOST_TEST((options.error().remedy == Remedy::poison), json);
    }
}
