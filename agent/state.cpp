#include "agent/state.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "agent/json.h"
#include "base/bounded_json.h"
#include "base/instant.h"

namespace epilogue::agent {

struct StateFields {
    Json json = Json::object();
};

namespace {

/// Told after something newer. By more than a minute it is not: the server's clock was set back.
bool is_late(const std::string& newest, const std::string& timestamp) {
    constexpr std::chrono::minutes latest{1};
    const auto before = parse_instant(newest);
    const auto now = parse_instant(timestamp);
    return before && now && *now < *before && *before - *now < latest;
}

}  // namespace

std::string ConversationState::json_of(const char* field) const {
    const auto found = fields_->json.find(field);
    return found == fields_->json.end() ? "null" : text_of(*found);
}

std::string ConversationState::execution_status() const {
    return string_in(fields_->json, "execution_status");
}

std::string ConversationState::confirmation_policy() const {
    return json_of("confirmation_policy");
}

std::string ConversationState::security_analyzer() const {
    return json_of("security_analyzer");
}

std::vector<std::string> ConversationState::activated_knowledge_skills() const {
    std::vector<std::string> skills;
    const auto found = fields_->json.find("activated_knowledge_skills");
    if (found == fields_->json.end() || !found->is_array()) return skills;
    for (const Json& skill : *found)
        if (skill.is_string()) skills.push_back(skill.get<std::string>());
    return skills;
}

std::string ConversationState::agent() const {
    return json_of("agent");
}

std::string ConversationState::workspace() const {
    return json_of("workspace");
}

std::string ConversationState::persistence_dir() const {
    return string_in(fields_->json, "persistence_dir");
}

std::string ConversationState::stats() const {
    return json_of("stats");
}

std::string ConversationState::title() const {
    return string_in(fields_->json, "title");
}

std::string ConversationState::dump() const {
    return text_of(fields_->json);
}

StateCache::StateCache() : fields_(std::make_shared<const StateFields>()) {}

std::uint64_t StateCache::mark() const {
    const std::lock_guard lock(mutex_);
    return count_;
}

void StateCache::replace(const std::string& info, std::uint64_t mark) {
    Json fields = parse_ordered_json(info);
    if (!fields.is_object()) return;
    const std::lock_guard lock(mutex_);
    for (const auto& [field, update] : updates_)
        if (update.number > mark) fields[field] = fields_->json.at(field);
    fields_ = std::make_shared<const StateFields>(StateFields{std::move(fields)});
}

void StateCache::apply(const RemoteEvent& update) {
    if (update.key.empty()) return;
    const Json event = parse_ordered_json(update.json);
    if (!event.is_object() || !event.contains("value")) return;
    const std::lock_guard lock(mutex_);
    ++count_;
    Json fields = fields_->json;
    const auto set = [&](const std::string& field, const Json& value) {
        Update& newest = updates_[field];
        if (is_late(newest.timestamp, update.timestamp)) return;
        newest = {update.timestamp, count_};
        fields[field] = value;
    };
    if (!update.is_full_state())
        set(update.key, event["value"]);
    else if (event["value"].is_object())
        for (const auto& [field, value] : event["value"].items()) set(field, value);
    fields_ = std::make_shared<const StateFields>(StateFields{std::move(fields)});
}

ConversationState StateCache::snapshot() const {
    const std::lock_guard lock(mutex_);
    return ConversationState(fields_);
}

}  // namespace epilogue::agent
