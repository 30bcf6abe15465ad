#include "tests/integration/guarantees/window.h"

#include <nlohmann/json.hpp>

#include "tests/integration/point_store.h"
#include "tests/support/expect.h"

namespace epilogue::testing {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr auto a_while = 61s;  // longer than a lease, a look-up's delay, and the check for duplicates

void every_post(WindowTrial& trial, Json rule) {
    rule.update({{"method", "POST"}, {"times", -1}});
    trial.platform().rules(Json::array({rule}).dump());
}

void every_list(WindowTrial& trial, const Json& github_and_gitlab, const Json& slack) {
    Json rules = Json::array();
    for (const auto& [path, rule] : {std::pair("^/slack/", slack), std::pair("", github_and_gitlab)}) {
        rules.push_back(rule);
        rules.back().update({{"do", "status"}, {"method", "GET"}, {"path", path}, {"times", -1}});
    }
    trial.platform().rules(rules.dump());
}

void as_usual(WindowTrial& trial) {
    trial.platform().rules("[]");
}

/// Every post is tried once, while the platform keeps to a rule.
void deliver_under(WindowTrial& trial, const Json& rule, bool impatient = false) {
    trial.plan();
    every_post(trial, rule);
    trial.deliver(impatient);
    as_usual(trial);
}

void die_in_the_batch(WindowTrial& trial) {
    PointStore store(trial.partition().store(), [&](const std::string& at, std::int64_t session) {
        if (at == point::before_commit) trial.query("KILL " + std::to_string(session));
    });
    if (trial.end_turns(store)) throw std::runtime_error("a batch outlived its session");
    trial.plan();
}

std::function<void(WindowTrial&)> die(Death death) {
    return [death](WindowTrial& trial) {
        trial.plan();
        trial.deliver_until(death);
    };
}

std::function<void(WindowTrial&)> lose_the_answer(const Json& rule, bool impatient = false) {
    return [=](WindowTrial& trial) { deliver_under(trial, rule, impatient); };
}

void record_and_read_again(WindowTrial& trial) {
    trial.plan();
    trial.deliver();
    trial.read_again();
}

void wake_up_before_the_last_look(WindowTrial& trial) {
    trial.plan();
    const auto paused = trial.pause();
    for (int look = 0; look < 2; ++look) {
        trial.pass(a_while);
        trial.deliver();
    }
    paused->go_on();
}

void wake_up_too_late(WindowTrial& trial) {
    trial.plan();
    const auto paused = trial.pause();
    trial.settle();
    paused->go_on();
}

void die_unseen(WindowTrial& trial) {
    trial.plan();
    every_post(trial, {{"do", "hide"}, {"ms", 3600000}});
    trial.deliver_until(Death::before_record);
    as_usual(trial);
}

void be_seen_by_the_third_look(WindowTrial& trial) {
    die_unseen(trial);
    for (int look = 0; look < 2; ++look) {
        trial.pass(a_while);
        trial.deliver();
    }
    trial.platform().pass(1h);
}

void be_seen_after_all_looks(WindowTrial& trial) {
    die_unseen(trial);
    trial.settle();
    trial.platform().pass(1h);
}

void double_and_die(WindowTrial& trial) {
    trial.plan();
    every_post(trial, {{"do", "apply_twice"}});
    trial.deliver_until(Death::before_record);
    as_usual(trial);
}

/// What stands at the runs' places and was not there before.
std::vector<std::int64_t> posts_of(WindowTrial& trial) {
    std::vector<std::int64_t> posts;
    for (const auto& entry : trial.platform().log())
        posts.insert(posts.end(), entry.made.begin(), entry.made.end());
    return posts;
}

void remove_unseen(WindowTrial& trial) {
    deliver_under(trial, {{"do", "apply_then_reset"}});
    for (const auto post : posts_of(trial)) trial.remove_by_hand(post);
}

void edit_unseen(WindowTrial& trial) {
    deliver_under(trial, {{"do", "apply_then_reset"}});
    for (const auto& comment : trial.platform().visible())
        if (comment.author == fake_platform::bot_login)
            trial.platform().edit(comment.id, "(I have read this.)\n" + comment.body);
}

void restore_what_was_planned(WindowTrial& trial, std::chrono::seconds later) {
    trial.plan();
    trial.save();
    trial.deliver();
    trial.restore();
    trial.pass(later);
}

void restore_what_was_before(WindowTrial& trial) {
    trial.save();
    trial.plan();
    trial.deliver();
    trial.restore();
    trial.pass(a_while);
    trial.plan();
}

void look_in_vain(WindowTrial& trial) {
    deliver_under(trial, {{"do", "apply_then_reset"}});
    every_list(trial, {{"status", 403}, {"answer", {{"message", "Resource not accessible by integration"}}}},
               {{"status", 200}, {"answer", {{"ok", false}, {"error", "missing_scope"}}}});
}

void look_too_often(WindowTrial& trial) {
    deliver_under(trial, {{"do", "apply_then_reset"}});
    const Json limited{{"status", 429}, {"headers", {{"retry-after", "30"}}}};
    every_list(trial, limited, limited);
    for (int look = 0; look < 3; ++look) {
        trial.pass(a_while);
        trial.deliver();
    }
    as_usual(trial);
}

constexpr std::array<char, kinds.size()> all(char bar) {
    return {bar, bar, bar, bar, bar};
}
/// Slack, and the others.
constexpr std::array<char, kinds.size()> two_bars(char slack, char others) {
    return {slack, others, others, others, others};
}

}  // namespace

char grade_of(const Score& score) {
    if (score.parked && score.visible <= 1) return 'M';
    if (score.visible != 1) return score.visible > 1 ? '2' : '0';
    if (score.made == 1) return score.looks == 0 ? '1' : 'L';
    return score.by_people && score.most == 1 ? 'R' : 'H';
}

std::vector<Window> windows() {
    return {
        {"W0", "the session is killed before the batch's COMMIT; the records are read again", all('1'),
         die_in_the_batch},
        {"W1", "the sender is killed when it has claimed the post", all('1'), die(Death::after_claim)},
        {"W2", "the sender is killed when its intent is durable, before the request", all('L'),
         die(Death::after_intent)},
        {"W3", "the post is made, the connection is reset", all('L'),
         lose_the_answer({{"do", "apply_then_reset"}})},
        {"W3", "the post is made, the answer does not come before the deadline", all('L'),
         lose_the_answer({{"do", "apply_then_hang"}}, true)},
        {"W3", "the post is made, the answer is a 500", all('L'),
         lose_the_answer({{"do", "apply_then_status"}, {"status", 500}})},
        {"W4", "the sender is killed when it has read the answer, before it is recorded", all('L'),
         die(Death::before_record)},
        {"W5", "everything is recorded; the records are read again", all('1'), record_and_read_again},
        {"W6",
         "the sender is paused behind its last look at the lease, and posts before the second sender's "
         "last look-up",
         all('L'), wake_up_before_the_last_look},
        {"W6", "the same, and it posts after the second sender has posted", all('H'), wake_up_too_late},
        {"W7", "killed as in W4, and the platform's lists show the post only at the third look-up", all('L'),
         be_seen_by_the_third_look},
        {"W7", "the same, and they show it after all look-ups", all('H'), be_seen_after_all_looks},
        {"W8", "the platform makes two posts of one request, and answers", two_bars('2', 'H'),
         lose_the_answer({{"do", "apply_twice"}})},
        {"W8", "the same, and the sender is killed before it is recorded", all('H'), double_and_die},
        {"W10", "as in W3, and a person edits the post before it is looked for", all('L'), edit_unseen},
        {"W10", "the same, and a person removes it", all('R'), remove_unseen},
        {"W11", "the database is set back to before the post was claimed, a minute or more ago", all('L'),
         [](WindowTrial& trial) { restore_what_was_planned(trial, a_while); }},
        {"W11", "the same, to before the turn ended", all('L'), restore_what_was_before},
        {"W11", "the same as the first, less than a minute ago: a failover that lost the last commits",
         two_bars('2', 'H'), [](WindowTrial& trial) { restore_what_was_planned(trial, 0s); }},
        {"W12", "as in W3, and the credential may not look", all('M'), look_in_vain},
        {"W12", "the same, and it has no quota for looking for some minutes", all('L'), look_too_often},
    };
}

std::vector<std::vector<Score>> scores_of(const Window& window, const Database& server,
                                          const std::string& database, std::size_t runs) {
    WindowTrial trial(server, database, runs);
    window.run(trial);
    trial.settle();
    as_usual(trial);
    trial.heal();
    const auto scores = trial.scores();
    std::vector<std::vector<Score>> by_kind(kinds.size());
    for (std::size_t i = 0; i < scores.size(); ++i)
        by_kind.at(static_cast<std::size_t>(trial.runs()[i].place.kind)).push_back(scores[i]);
    return by_kind;
}

}  // namespace epilogue::testing
