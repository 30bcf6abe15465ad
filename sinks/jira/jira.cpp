#include "sinks/jira/jira.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "sinks/format/format.h"
#include "sinks/format/marker.h"
#include "sinks/jira/jira_answers.h"
#include "sinks/jira/wiki_markup.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_body_characters = 32000;  ///< Jira takes 32,767 where nothing else is configured
constexpr std::size_t max_pages = 60;
constexpr std::size_t per_page = 100;
constexpr const char* no_place = "the target is no Jira issue";

/// The marker as a line of wiki markup: what the HTML comment holds, written small.
std::string wiki_marker(std::string_view marker) {
    constexpr std::string_view opening = "<!-- ";
    constexpr std::string_view closing = " -->";
    marker.remove_prefix(opening.size());
    marker.remove_suffix(closing.size());
    return "~" + std::string(marker) + "~";
}

/// The marker frozen into `body`, else the one that `key` would make today.
std::string wiki_marker_in(std::string_view body, std::string_view key, std::string_view delivery_id) {
    const auto made = wiki_marker(marker_line(key, delivery_id));
    const auto last = body.substr(body.rfind('\n') + 1);
    const std::size_t before_mac = made.find("mac=");
    return last.size() == made.size() && last.substr(0, before_mac) == made.substr(0, before_mac)
               ? std::string(last)
               : made;
}

/// True when a whole line of the text is the marker. Cloud keeps comments in a form of its own, and what it
/// gives back may be escaped or spaced otherwise.
bool holds(const std::string& text, const std::string& marker) {
    const auto plain = [](std::string_view line) {
        return std::string(trimmed(replaced(replaced(replaced(line, "\\", ""), "~", ""), "\r", "")));
    };
    const auto lines = split(text, '\n');
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return plain(line) == plain(marker); });
}

std::string comments_url(const JiraSites::Access& at, const JiraTarget& place) {
    return fmt::format("{}/rest/api/2/issue/{}/comment", at.api.url(), place.issue_key);
}

}  // namespace

JiraSink::JiraSink(JiraSettings settings)
    : mac_key_(std::move(settings.mac_key)),
      budget_(std::move(settings.budget)),
      sites_(std::move(settings.usual), settings.sites, settings.version) {}

std::string JiraSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    const auto marker = wiki_marker(marker_line(mac_key_, delivery_id));
    const std::size_t room = max_body_characters - marker.size() - 2;
    // What is escaped grows, at most to twice its size and what blocks add.
    for (std::size_t characters = room;; characters = characters * 3 / 4) {
        auto text = wiki_markup(markdown_post(summary, "", characters));
        if (code_points(text) <= room || characters < 12000)
            return (text.empty() ? "" : text + "\n\n") + marker;
    }
}

Dialogue<LookupResult> JiraSink::find(Post post) {
    const Place place = place_of(post);
    if (place.at == nullptr) co_return place.lookup();
    auto reading = read_marked(post, *place.target, place.at);
    auto marked = co_await reading;
    if (!marked.what) co_return marked.failure;
    if (marked.what->empty()) co_return own_posts({}, {});
    for (auto& comment : *marked.what)
        comment.url = place.at->page_of(*place.target, fmt::format("{}", comment.id), comment.url);
    auto asking = ask_who_we_are(place.at);
    const auto me = co_await asking;
    if (!me.what) co_return me.failure;
    co_return own_posts(std::move(*marked.what), *me.what);
}

Dialogue<Attempt> JiraSink::create(Post post) {
    const Place place = place_of(post);
    if (place.at == nullptr) co_return place.attempt();
    const nlohmann::json message{{"body", post.body}};
    auto request = place.at->api.request("POST", comments_url(*place.at, *place.target), json_line(message));
    const auto answer = co_await request;
    auto attempt = classify_jira_comment(answer);
    auto& receipt = attempt.receipt;
    if (attempt.answer == Answer::sent) {
        receipt.remote_url = place.at->page_of(*place.target, receipt.remote_id, receipt.remote_url);
        if (const auto comment = read_jira_comment(answer.body)) place.at->me.remember(comment->author);
    }
    co_return attempt;
}

Dialogue<bool> JiraSink::remove(Post post, Receipt duplicate) {
    const Place place = place_of(post);
    if (place.at == nullptr || !is_number(duplicate.remote_id)) co_return false;
    auto request =
        place.at->api.request("DELETE", comments_url(*place.at, *place.target) + "/" + duplicate.remote_id);
    const auto answer = co_await request;
    co_return is_deleted(answer);
}

std::vector<Dialogue<TokenStatus>> JiraSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    for (const Access* at : sites_.all()) checks.push_back(check_token(at));
    return checks;
}

Dialogue<TokenStatus> JiraSink::check_token(const Access* at) {
    const std::string setting = at->section() + " token";
    if (!at->is_set()) co_return TokenStatus{.setting = setting};
    auto request = at->api.request("GET", at->api.url() + "/rest/api/2/myself");
    const auto myself = co_await request;
    TokenStatus report = token_status(setting, myself);
    const auto answer = parsed(myself.body);
    report.identity = text_at(answer, "displayName");
    report.needed = "browse the project, add and delete own comments";
    co_return report;
}

Quota JiraSink::quota(const Target& target) const {
    const auto* place = target_in<JiraTarget>(target);
    const auto called = place == nullptr ? std::string() : site_named_by(*place);
    const Access* at = sites_.of(place == nullptr ? JiraTarget{} : *place);
    return quota_by_credential({.platform = "jira",
                                .token = at == nullptr ? "" : at->site.token,
                                .budget = budget_,
                                .api_url = at == nullptr ? "https://" + called : at->site.api_url,
                                .origin = "",
                                .published = "",
                                .setting = at == nullptr ? section_of(called) : at->section() + " token"});
}

JiraSink::Place JiraSink::place_of(const Post& post) {
    Place place;
    const auto* target = target_in<JiraTarget>(post.target);
    if (target == nullptr || path_segments(target->issue_key) != 1) {
        place.objection = no_place;
        place.is_final = true;
        return place;
    }
    place.target = target;
    Access* const at = sites_.of(*target);
    if (at == nullptr) {
        const auto called = site_named_by(*target);
        place.objection = fmt::format("the row is of the Jira \"{}\": set {}", called, section_of(called));
    } else if (!at->is_set()) {
        place.objection = fmt::format("no token: set {} api_url and token", at->section());
    } else {
        place.at = at;
    }
    return place;
}

Dialogue<ReadOf<std::vector<RemotePost>>> JiraSink::read_marked(Post post, JiraTarget place,
                                                                Access* at) const {
    const auto marker = wiki_marker_in(post.body, mac_key_, post.delivery_id);
    const auto since = look_up_from(post);
    std::vector<RemotePost> marked;
    for (int reading = 1;; ++reading) {
        std::size_t page = 0;
        std::size_t read = 0;
        for (bool is_last = false; !is_last;) {
            if (++page > max_pages)
                co_return unusable_answer(fmt::format("more than {} pages of comments", max_pages));
            const auto url = fmt::format("{}?orderBy=-created&maxResults={}&startAt={}",
                                         comments_url(*at, place), per_page, read);
            auto request = at->api.request("GET", url);
            const auto answer = co_await request;
            if (answer.outcome != HttpOutcome::answered || answer.status != 200) {
                auto failure = jira_lookup_failed(answer);
                co_return page == 1 && reading == 1 ? failure : later_page_failed(failure);
            }
            auto list = read_jira_comments(answer.body);
            if (!list) co_return unusable_answer("200 without a readable list of comments");
            read += list->comments.size();
            // Data Center may give all in one page, and the oldest first: an old one ends the list only where
            // a newer one stands before it.
            const bool falls = !list->comments.empty() &&
                               list->comments.front().created_at > list->comments.back().created_at;
            is_last = list->comments.empty() || static_cast<std::int64_t>(read) >= list->total ||
                      (falls && list->comments.back().created_at.value_or(since) < since);
            for (auto& comment : list->comments)
                if (comment.created_at.value_or(since) >= since && holds(comment.body, marker))
                    marked.push_back(std::move(comment));
        }
        if (page == 1 || reading == readings_of_pages) co_return marked;
    }
}

Dialogue<ReadOf<Account>> JiraSink::ask_who_we_are(Access* at) {
    if (const auto known = at->me.known()) co_return *known;
    auto request = at->api.request("GET", at->api.url() + "/rest/api/2/myself");
    const auto answer = co_await request;
    const int status = answer.outcome == HttpOutcome::answered ? answer.status : 0;
    const bool may_not_ask = status == 403 || status == 404;
    const auto me = may_not_ask     ? std::optional<Account>(Account{})
                    : status == 200 ? read_jira_account(answer.body)
                                    : std::nullopt;
    if (!me) co_return jira_lookup_failed(answer);
    at->me.remember(*me);
    co_return *me;
}

}  // namespace epilogue
