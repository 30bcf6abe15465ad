#include "worker/serve/registration_form.h"

#include <array>

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/config_keys.h"
#include "base/text.h"
#include "schemas/json_reader.h"
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
    std::string_view name;
    std::string RegistrationForm::*field;
    Read (*read)(const Json&);
    bool is_required = false;
};
constexpr std::array<Member, 6> members{{
    {"conversation", &RegistrationForm::conversation, text_in, true},
    {"processor", &RegistrationForm::processor, text_in, true},
    {"mode", &RegistrationForm::mode, text_in},
    {"triggers", &RegistrationForm::triggers, list_in},
    {"from", &RegistrationForm::from, text_in},
    {"agent_url", &RegistrationForm::agent_url, text_in},
}};
constexpr std::string_view processor_json = "processor_json";
constexpr std::string_view agent_key = "agent_key";

tl::unexpected<BodyFault> wrong(std::string detail) {
    return tl::unexpected(BodyFault{true, std::move(detail)});
}

/// What is wrong with the name of a member; empty: nothing.
std::string complaint_about(std::string_view name) {
    std::vector<std::string_view> known{processor_json, agent_key};
    for (const Member& member : members) known.push_back(member.name);
    for (const auto& each : known)
        if (each == name) return "";
    return "\"" + std::string(prefix_of(name, 64)) + "\" is no option of a callback" +
           did_you_mean(name, known);
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

Result<RegistrationRequest> request_of(const RegistrationForm& form, const Config& config,
                                       const WatchRules& watch) {
    RegistrationRequest request;
    request.conversation_id = form.conversation;
    request.processor_type = form.processor;
    request.processor_json = form.processor_json;
    TRY(request.options, parse_options(form.mode, form.triggers));
    if (form.from != "last" && form.from != "next")
        return poisonous("from: expected last or next, got \"" + form.from + "\"");
    request.options.from_last = form.from == "last";
    request.watch = watch;
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
    for (const auto& [name, value] : json.items())
        if (auto complaint = complaint_about(name); !complaint.empty()) return wrong(std::move(complaint));
    RegistrationForm form;
    for (const Member& member : members) {
        const auto found = json.find(member.name);
        if (found == json.end() || found->is_null()) {
            if (member.is_required) return wrong(std::string(member.name) + ": is missing");
            continue;
        }
        auto text = member.read(*found);
        if (!text) return wrong(std::string(member.name) + ": expected " + text.error());
        form.*member.field = std::move(*text);
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
