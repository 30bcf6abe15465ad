#include "worker/serve/registration_form.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/config_keys.h"
#include "base/ids.h"
#include "base/json_text.h"
#include "base/text.h"
#include "schemas/json_reader.h"
#include "sinks/plain_key.h"
#include "worker/agents/agent_endpoint.h"
#include "worker/store/agent_endpoint_rows.h"

namespace epilogue {
namespace {

using Json = nlohmann::json;
using Read = tl::expected<std::string, std::string>;  ///< or what was expected

Read text_in(const Json& value) {
    if (!value.is_string()) return tl::unexpected<std::string>("a string");
    return value.get<std::string>();
}

/// An array as the comma list that the command line takes.
Read list_in(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    std::string list;
    bool is_list = value.is_array() && !value.empty();
    for (const Json& item : value) {
        is_list = is_list && item.is_string();
        if (is_list) list += item.get<std::string>() + ",";
    }
    if (!is_list) return tl::unexpected<std::string>("an array of strings, not empty, or a comma list");
    return list;
}

struct Member {
    std::string_view name;   ///< as a callback that is shown has it
    std::string_view other;  ///< as the command line has it; "": the same
    std::string RegistrationForm::*field;
    Read (*read)(const Json&);
    bool is_required = false;
};
constexpr std::array<Member, 3> members{{
    {"conversation_id", "conversation", &RegistrationForm::conversation, text_in, true},
    {"processor_type", "processor", &RegistrationForm::processor, text_in, true},
    {"agent_url", "", &RegistrationForm::agent_url, text_in},
}};
/// Those of `options`; they may also stand beside it.
constexpr std::array<Member, 3> option_members{{
    {"mode", "", &RegistrationForm::mode, text_in},
    {"triggers", "", &RegistrationForm::triggers, list_in},
    {"from", "", &RegistrationForm::from, text_in},
}};
constexpr std::string_view processor_json = "processor_json";
constexpr std::string_view agent_key = "agent_key";
constexpr std::string_view options = "options";
constexpr std::string_view again = "again";

tl::unexpected<BodyFault> wrong(std::string detail) {
    return tl::unexpected(BodyFault{true, std::move(detail)});
}

std::vector<std::string_view> names_of_options() {
    std::vector<std::string_view> names;
    for (const Member& member : option_members) names.push_back(member.name);
    return names;
}

std::vector<std::string_view> names_of_members() {
    std::vector<std::string_view> names = names_of_options();
    names.insert(names.end(), {processor_json, agent_key, options, again});
    for (const Member& member : members) {
        names.push_back(member.name);
        if (!member.other.empty()) names.push_back(member.other);
    }
    return names;
}

/// What is wrong with the names of an object's members; empty: nothing.
std::string complaint_about_names(const Json& object, const std::vector<std::string_view>& known) {
    for (const auto& [name, value] : object.items()) {
        if (std::ranges::find(known, name) != known.end()) continue;
        return "\"" + std::string(prefix_of(name, 64)) + "\" is no option of a callback" +
               did_you_mean(name, known);
    }
    return "";
}

bool has(const Json& object, std::string_view name) {
    const auto found = object.find(name);
    return found != object.end() && !found->is_null();
}

/// Reads a member that may stand in two places, or under two names; what is wrong with it, or empty.
std::string read_member(const Member& member, const Json& object, const Json& elsewhere,
                        RegistrationForm& form) {
    const bool is_here = has(object, member.name);
    const std::string_view other_name = member.other.empty() ? member.name : member.other;
    if (is_here && has(elsewhere, other_name)) return std::string(other_name) + ": is given twice";
    if (!is_here && !has(elsewhere, other_name))
        return !member.is_required
                   ? ""
                   : std::string(member.name) + " or " + std::string(other_name) + ": is missing";
    auto text = member.read(is_here ? object.at(member.name) : elsewhere.at(other_name));
    if (!text) return std::string(is_here ? member.name : other_name) + ": expected " + text.error();
    form.*member.field = std::move(*text);
    return "";
}

/// The agent server that a form names. What it holds may be secret, in the wrong field too: never said.
Result<std::optional<AgentEndpoint>> endpoint_of(const RegistrationForm& form, const Config& config) {
    if (form.agent_url.empty()) {
        if (form.agent_key.reveal().empty()) return std::optional<AgentEndpoint>();
        return poisonous("agent_key: expected together with agent_url");
    }
    TRY(auto endpoint, endpoint_to_keep(form.conversation, form.agent_url, form.agent_key, config));
    return std::optional(std::move(endpoint));
}

}  // namespace

bool is_request_key(std::string_view key) {
    constexpr std::size_t max_key_bytes = 255;
    return !key.empty() && key.size() <= max_key_bytes &&
           std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7F'; });
}

Result<IdempotentRequest> kept_request(const std::string& key, const RegistrationForm& form) {
    if (!is_request_key(key))
        return poisonous("the key of the request: " + std::string(expected_request_key));
    const Json written{form.conversation, form.processor, form.processor_json, form.mode,
                       form.triggers,     form.from,      form.agent_url,      form.again};
    return IdempotentRequest{key, sha256_hex(json_line(written)), ""};
}

Result<RegistrationRequest> request_of(const RegistrationForm& form, const Config& config,
                                       const WatchRules& watch) {
    if (has_plain_key(form.processor_json))
        return poisonous("processor_json: field \"" + std::string(plain_key_member) +
                         "\": a row is kept as it is written, and shown: leave the key out, and set the "
                         "token of that Jira in [jira] or [jira.sites]");
    RegistrationRequest request;
    request.conversation_id = form.conversation;
    request.processor_type = form.processor;
    request.processor_json = form.processor_json;
    TRY(request.options, parse_options(form.mode, form.triggers));
    if (form.from != "last" && form.from != "next")
        return poisonous("from: expected last or next, got \"" + form.from + "\"");
    request.options.from_last = form.from == "last";
    request.watch = watch;
    request.again = form.again;
    TRY(request.endpoint, endpoint_of(form, config));
    return request;
}

tl::expected<RegistrationForm, BodyFault> form_from_json(std::string_view body) {
    // It bounds the depth, and keeps processor_json as it is written.
    JsonReader reader;
    if (const auto checked = reader.read(body, {}); !checked)
        return tl::unexpected(BodyFault{false, "the body: " + std::string(checked.error().reason) +
                                                   (checked.error().detail.empty() ? "" : ": ") +
                                                   checked.error().detail});
    const Json json = parse_json(body);
    if (!json.is_object()) return tl::unexpected(BodyFault{false, "the body: expected a JSON object"});
    if (auto complaint = complaint_about_names(json, names_of_members()); !complaint.empty())
        return wrong(std::move(complaint));
    RegistrationForm form;
    for (const Member& member : members)
        if (auto complaint = read_member(member, json, member.other.empty() ? Json::object() : json, form);
            !complaint.empty())
            return wrong(std::move(complaint));
    const Json nested = has(json, options) ? json.at(options) : Json::object();
    if (!nested.is_object()) return wrong("options: expected an object");
    if (auto complaint = complaint_about_names(nested, names_of_options()); !complaint.empty())
        return wrong("options: " + std::move(complaint));
    for (const Member& member : option_members)
        if (auto complaint = read_member(member, nested, json, form); !complaint.empty())
            return wrong(std::move(complaint));
    if (has(json, again)) {
        if (!json.at(again).is_boolean()) return wrong("again: expected true or false");
        form.again = json.at(again).get<bool>();
    }
    if (const auto found = json.find(processor_json); found != json.end() && !found->is_null())
        form.processor_json =
            found->is_string() ? found->get<std::string>() : reader.raw_member(body, processor_json);
    if (const auto found = json.find(agent_key); found != json.end() && !found->is_null()) {
        if (!found->is_string()) return wrong("agent_key: expected a string");
        form.agent_key = Secret(found->get<std::string>());
    }
    return form;
}

}  // namespace epilogue
