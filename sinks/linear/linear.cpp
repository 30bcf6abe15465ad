#include "sinks/linear/linear.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "sinks/format/format.h"
#include "sinks/linear/linear_answers.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/remote_post.h"

namespace epilogue {
namespace {

constexpr std::size_t max_body_characters = 30000;  ///< Linear publishes no limit
constexpr const char* own_origin = "https://api.linear.app";
constexpr const char* published_limits = "1500/h";
constexpr const char* no_place = "the target is no Linear issue";

constexpr const char* create_text =
    "mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id url } } }";
constexpr const char* find_text =
    "query($id: ID!) { viewer { id } comments(first: 1, filter: {id: {eq: $id}}) "
    "{ nodes { id url user { id } } } }";
constexpr const char* remove_text = "mutation($id: String!) { commentDelete(id: $id) { success } }";
constexpr const char* viewer_text = "query { viewer { displayName } organization { name } }";

/// Keys of people stand for themselves; what OAuth gave out is a bearer's.
std::string authorization_of(const std::string& token) {
    return "Authorization: " + (token.starts_with("lin_api_") ? token : "Bearer " + token);
}

HttpRequest request_of(const HttpApi& api, const char* text, nlohmann::json variables) {
    const nlohmann::json message{{"query", text}, {"variables", std::move(variables)}};
    return api.request("POST", api.url(), json_line(message));
}

HttpRequest read_of(const HttpApi& api, const char* text, nlohmann::json variables) {
    HttpRequest request = request_of(api, text, std::move(variables));
    request.changes_nothing = true;
    return request;
}

std::string setting_of(const std::string& workspace) {
    return workspace.empty() ? "[linear] token" : "[linear.workspaces.\"" + workspace + "\"] token";
}

}  // namespace

std::string linear_comment_id(const DeliveryId& delivery_id) {
    constexpr std::size_t version_at = 14;
    std::string id = delivery_id.text();
    if (id.size() > version_at) id[version_at] = '4';
    return id;
}

LinearSink::Access::Access(const LinearSettings& settings, std::string of, const std::string& its_token)
    : workspace(std::move(of)),
      token(trimmed(its_token)),
      api(settings.api_url, {"Accept: application/json", authorization_of(std::string(trimmed(its_token))),
                             "User-Agent: epilogue/" + settings.version}) {}

std::string LinearSink::Access::setting() const {
    return setting_of(workspace);
}

LinearSink::LinearSink(LinearSettings settings) : budget_(settings.budget) {
    accesses_.try_emplace("", settings, "", settings.token);
    for (const auto& [name, token] : settings.workspaces)
        accesses_.try_emplace(lowered(name), settings, lowered(name), token);
}

std::string LinearSink::render(const Summary& summary, const DeliveryId&) const {
    return markdown_post(summary, "", max_body_characters);
}

Dialogue<LookupResult> LinearSink::find(Post post) {
    const Place place = place_of(post);
    if (place.at == nullptr) co_return place.lookup();
    auto looking = look(post, place.at);
    co_return co_await looking;
}

Dialogue<Attempt> LinearSink::create(Post post) {
    const Place place = place_of(post);
    if (place.at == nullptr) co_return place.attempt();
    nlohmann::json input{
        {"id", linear_comment_id(post.delivery_id)}, {"issueId", place.target->issue()}, {"body", post.body}};
    auto request = request_of(place.at->api, create_text, {{"input", std::move(input)}});
    const auto answer = co_await request;
    auto attempt = classify_linear_comment(answer);
    if (attempt.answer != Answer::refused) co_return attempt;
    // A list that lags did not show it: the no was to a second comment of the same id.
    auto looking = look(post, place.at);
    const auto lookup = co_await looking;
    if (!lookup.ok) attempt.answer = Answer::unknown;
    if (!lookup.found.empty()) {
        attempt.answer = Answer::sent;
        attempt.receipt = lookup.found.front();
        attempt.cause.clear();
    }
    co_return attempt;
}

Dialogue<bool> LinearSink::remove(Post post, Receipt duplicate) {
    const Place place = place_of(post);
    if (place.at == nullptr) co_return false;
    auto request = request_of(place.at->api, remove_text, {{"id", duplicate.remote_id}});
    const auto answer = co_await request;
    co_return is_linear_deletion(answer);
}

Quota LinearSink::quota(const Target& target) const {
    const auto* const given = target_in<LinearTarget>(target);
    const LinearTarget place = given == nullptr ? LinearTarget{} : *given;
    const Access* at = access_of(place);
    // A workspace without a token is a credential of its own: what waits for it holds up no other.
    const std::string workspace = at == nullptr ? lowered(place.workspace) : at->workspace;
    const Access& usual = accesses_.at("");
    return quota_by_credential({.platform = "linear",
                                .token = at == nullptr ? "workspace " + workspace : at->token,
                                .budget = budget_,
                                .api_url = usual.api.url(),
                                .origin = own_origin,
                                .published = published_limits,
                                .setting = setting_of(workspace)});
}

std::vector<Dialogue<TokenStatus>> LinearSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    for (const auto& [workspace, at] : accesses_)
        if (!workspace.empty() || !at.token.empty() || accesses_.size() == 1)
            checks.push_back(check_token(&at));
    return checks;
}

Dialogue<TokenStatus> LinearSink::check_token(const Access* at) {
    if (at->token.empty()) co_return TokenStatus{.setting = at->setting()};
    auto request = read_of(at->api, viewer_text, nlohmann::json::object());
    HttpAnswer answer = co_await request;
    const std::string identity = read_linear_viewer(answer);
    // A 200 that holds an authentication error refuses the token.
    if (refuses_linear_token(answer)) answer.status = 401;
    TokenStatus report = token_status(at->setting(), answer);
    report.identity = identity;
    report.needed = "read, comments:create";
    co_return report;
}

Dialogue<LookupResult> LinearSink::look(Post post, const Access* at) {
    const std::string id = linear_comment_id(post.delivery_id);
    auto request = read_of(at->api, find_text, {{"id", id}});
    const auto answer = co_await request;
    co_return read_linear_lookup(answer, id);
}

LinearSink::Place LinearSink::place_of(const Post& post) const {
    const auto* target = target_in<LinearTarget>(post.target);
    if (target == nullptr || target->issue().empty()) return {.objection = no_place, .is_final = true};
    const Access* at = access_of(*target);
    if (at == nullptr)
        return {.objection = fmt::format("the row is of the Linear workspace \"{}\": set {}",
                                         target->workspace, setting_of(lowered(target->workspace)))};
    if (at->token.empty()) return {.objection = "no token: set " + at->setting()};
    return {.target = target, .at = at};
}

const LinearSink::Access* LinearSink::access_of(const LinearTarget& place) const {
    const auto found = accesses_.find(lowered(place.workspace));
    if (found != accesses_.end()) return &found->second;
    // A key is another issue's in another workspace; an id is not.
    return place.issue_id.empty() ? nullptr : &accesses_.at("");
}

}  // namespace epilogue
