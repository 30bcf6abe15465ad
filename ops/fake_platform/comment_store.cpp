#include "ops/fake_platform/comment_store.h"

#include <algorithm>

#include "base/text.h"

namespace epilogue::fake_platform {

const Comment& CommentStore::add(Comment comment) {
    comment.id = next_id_++;
    if (comment.created_at == Instant{}) comment.created_at = now();
    if (comment.updated_at == Instant{}) comment.updated_at = comment.created_at;
    by_place_[{comment.platform, comment.place}].insert(comment.id);
    return comments_.insert_or_assign(comment.id, std::move(comment)).first->second;
}

const Comment* CommentStore::find(std::int64_t id) const {
    const auto found = comments_.find(id);
    return found == comments_.end() ? nullptr : &found->second;
}

bool CommentStore::remove(std::int64_t id) {
    const auto found = comments_.find(id);
    if (found == comments_.end()) return false;
    by_place_[{found->second.platform, found->second.place}].erase(id);
    comments_.erase(found);
    return true;
}

bool CommentStore::edit(std::int64_t id, std::string body, std::optional<std::string> metadata) {
    const auto found = comments_.find(id);
    if (found == comments_.end()) return false;
    found->second.body = std::move(body);
    if (metadata) found->second.metadata = std::move(*metadata);
    found->second.updated_at = now();
    return true;
}

void CommentStore::hide(std::int64_t id, Instant until) {
    const auto found = comments_.find(id);
    if (found != comments_.end()) found->second.hidden_until = until;
}

void CommentStore::pass(Micros time) {
    for (auto& [id, comment] : comments_)
        if (comment.hidden_until != Instant{}) comment.hidden_until -= time;
}

std::vector<const Comment*> CommentStore::listed(const std::string& platform,
                                                 const std::string& place) const {
    const Instant time = now();
    std::vector<const Comment*> found;
    const auto here = by_place_.find({platform, place});
    if (here == by_place_.end()) return found;
    for (const std::int64_t id : here->second) {
        const Comment& comment = comments_.at(id);
        if (comment.hidden_until <= time) found.push_back(&comment);
    }
    return found;
}

PlaceState CommentStore::state(const std::string& platform, const std::string& place) const {
    const auto found = states_.find({platform, place});
    return found == states_.end() ? PlaceState::open : found->second;
}

void CommentStore::set_state(const std::string& platform, const std::string& place, PlaceState state) {
    states_[{platform, place}] = state;
}

bool CommentStore::accepts(const std::string& token) const {
    return !token.empty() && (tokens_.empty() || tokens_.contains(token));
}

bool CommentStore::has_scope(const std::string& platform, const std::string& scope) const {
    const auto all = split(scopes(platform), ',');
    return std::find(all.begin(), all.end(), scope) != all.end();
}

bool CommentStore::accepts_bearer(const std::string& credential) const {
    constexpr std::string_view scheme = "Bearer ";
    return credential.starts_with(scheme) && accepts(credential.substr(scheme.size()));
}

}  // namespace epilogue::fake_platform
