#include "worker/core/error_catalogue.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace epilogue {
namespace {

using Of = CatalogueEntry::Of;

constexpr std::array<CatalogueEntry, 136> rows{{
    // V0: `reason` of `agent_state_changed` to `error`.
    {Of::v0_reason, "STATUS$ERROR_LLM_AUTHENTICATION", Phrase::provider_refused_key, Retry::helps_not,
     Mender::administrator, Phrase::advise_key},
    {Of::v0_reason, "STATUS$ERROR_LLM_SERVICE_UNAVAILABLE", Phrase::provider_away, Retry::helps_later,
     Mender::wait, Phrase::advise_wait},
    {Of::v0_reason, "STATUS$ERROR_LLM_INTERNAL_SERVER_ERROR", Phrase::provider_failed, Retry::helps_later,
     Mender::wait, Phrase::advise_wait},
    {Of::v0_reason, "STATUS$ERROR_LLM_OUT_OF_CREDITS", Phrase::out_of_credits, Retry::helps_not,
     Mender::administrator, Phrase::advise_credits},
    {Of::v0_reason, "STATUS$ERROR_LLM_CONTENT_POLICY_VIOLATION", Phrase::provider_refused_content,
     Retry::helps_not, Mender::you, Phrase::advise_content},
    {Of::v0_reason, "STATUS$ERROR_RUNTIME_DISCONNECTED", Phrase::sandbox_lost, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v0_reason, "STATUS$ERROR_MEMORY", Phrase::sandbox_out_of_memory, Retry::helps_not, Mender::you,
     Phrase::advise_memory},
    {Of::v0_reason, "STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR", Phrase::git_refused_key, Retry::helps_not,
     Mender::you, Phrase::advise_git},
    {Of::v0_reason, "STATUS$ERROR", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v0_reason, "CHAT_INTERFACE$AGENT_RATE_LIMITED_STOPPED_MESSAGE", Phrase::provider_limits_rate,
     Retry::helps_later, Mender::wait, Phrase::advise_wait},
    {Of::v0_reason, "AGENT_ERROR$TOO_MANY_CONVERSATIONS", Phrase::too_many_conversations, Retry::helps_later,
     Mender::you, Phrase::advise_close},
    {Of::v0_reason, "RuntimeError: Agent reached maximum iteration", Phrase::iterations_used_up, Retry::helps,
     Mender::you, Phrase::advise_go_on},
    {Of::v0_reason, "RuntimeError: Agent reached maximum budget", Phrase::budget_used_up, Retry::helps_not,
     Mender::administrator, Phrase::advise_budget},
    // V1: `code` of ConversationErrorEvent; V0 has the same names before the colon of its free texts.
    {Of::v1_code, "LLMAuthenticationError", Phrase::provider_refused_key, Retry::helps_not,
     Mender::administrator, Phrase::advise_key},
    {Of::v1_code, "AuthenticationError", Phrase::provider_refused_key, Retry::helps_not,
     Mender::administrator, Phrase::advise_key},
    {Of::v1_code, "PermissionDeniedError", Phrase::provider_refused_key, Retry::helps_not,
     Mender::administrator, Phrase::advise_key},
    {Of::v1_code, "LLMRateLimitError", Phrase::provider_limits_rate, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "RateLimitError", Phrase::provider_limits_rate, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "LLMServiceUnavailableError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "ServiceUnavailableError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "APIConnectionError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "BadGatewayError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "InternalServerError", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "LLMTimeoutError", Phrase::provider_timed_out, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "Timeout", Phrase::provider_timed_out, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "LLMBadRequestError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "BadRequestError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "NotFoundError", Phrase::settings_wrong, Retry::helps_not, Mender::administrator,
     Phrase::advise_settings},
    {Of::v1_code, "ContentPolicyViolationError", Phrase::provider_refused_content, Retry::helps_not,
     Mender::you, Phrase::advise_content},
    {Of::v1_code, "LLMContextWindowExceedError", Phrase::context_full, Retry::helps_not, Mender::you,
     Phrase::advise_smaller},
    {Of::v1_code, "ContextWindowExceededError", Phrase::context_full, Retry::helps_not, Mender::you,
     Phrase::advise_smaller},
    {Of::v1_code, "LLMMalformedActionError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "LLMMalformedConversationHistoryError", Phrase::model_answer_unusable, Retry::helps_not,
     Mender::you, Phrase::advise_smaller},
    {Of::v1_code, "LLMNoActionError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "LLMResponseError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "FunctionCallConversionError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "FunctionCallValidationError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "FunctionCallNotExistsError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "LLMNoResponseError", Phrase::model_silent, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "MaxIterationsReached", Phrase::iterations_used_up, Retry::helps, Mender::you,
     Phrase::advise_go_on},
    {Of::v1_code, "MaxBudgetReached", Phrase::budget_used_up, Retry::helps_not, Mender::administrator,
     Phrase::advise_budget},
    {Of::v1_code, "BudgetExceededError", Phrase::budget_used_up, Retry::helps_not, Mender::administrator,
     Phrase::advise_budget},
    {Of::v1_code, "UnicodeEncodeError", Phrase::answer_not_storable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "PydanticSerializationError", Phrase::answer_not_storable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "AgentRuntimeDisconnectedError", Phrase::sandbox_lost, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "AgentRuntimeTimeoutError", Phrase::sandbox_lost, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "UserCancelledError", Phrase::cancelled, Retry::helps, Mender::you, Phrase::advise_again},
    {Of::v1_code, "OperationCancelled", Phrase::cancelled, Retry::helps, Mender::you, Phrase::advise_again},
    {Of::v1_code, "CredentialNeedsReauthentication", Phrase::provider_refused_key, Retry::helps_not,
     Mender::administrator, Phrase::advise_key},
    {Of::v1_code, "ACPAuthRequired", Phrase::provider_refused_key, Retry::helps_not, Mender::administrator,
     Phrase::advise_key},
    {Of::v1_code, "MidStreamFallbackError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "APITimeoutError", Phrase::provider_timed_out, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "ReadTimeout", Phrase::provider_timed_out, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_code, "UnprocessableEntityError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "InvalidRequestError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "RejectedRequestError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "UnsupportedParamsError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "ConflictError", Phrase::provider_refused_request, Retry::helps_not, Mender::administrator,
     Phrase::advise_settings},
    {Of::v1_code, "ImageFetchError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "VectorStoreSearchError", Phrase::provider_refused_request, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "LiteLLMUnknownProvider", Phrase::settings_wrong, Retry::helps_not, Mender::administrator,
     Phrase::advise_settings},
    {Of::v1_code, "ModelNotMappedError", Phrase::settings_wrong, Retry::helps_not, Mender::administrator,
     Phrase::advise_settings},
    {Of::v1_code, "LLMContentPolicyViolationError", Phrase::provider_refused_content, Retry::helps_not,
     Mender::you, Phrase::advise_content},
    {Of::v1_code, "UsagePolicyRefusal", Phrase::provider_refused_content, Retry::helps_not, Mender::you,
     Phrase::advise_content},
    {Of::v1_code, "ContentFilterFinishReasonError", Phrase::provider_refused_content, Retry::helps_not,
     Mender::you, Phrase::advise_content},
    {Of::v1_code, "GuardrailRaisedException", Phrase::provider_refused_content, Retry::helps_not, Mender::you,
     Phrase::advise_content},
    {Of::v1_code, "BlockedPiiEntityError", Phrase::provider_refused_content, Retry::helps_not, Mender::you,
     Phrase::advise_content},
    {Of::v1_code, "SensitiveDataRouteException", Phrase::provider_refused_content, Retry::helps_not,
     Mender::you, Phrase::advise_content},
    {Of::v1_code, "ModifyResponseException", Phrase::provider_refused_content, Retry::helps_not, Mender::you,
     Phrase::advise_content},
    {Of::v1_code, "NoCondensationAvailableException", Phrase::context_full, Retry::helps_not, Mender::you,
     Phrase::advise_smaller},
    {Of::v1_code, "CondensationUnavailable", Phrase::context_full, Retry::helps_not, Mender::you,
     Phrase::advise_smaller},
    {Of::v1_code, "LLMContextWindowTooSmallError", Phrase::context_too_small, Retry::helps_not,
     Mender::administrator, Phrase::advise_settings},
    {Of::v1_code, "APIResponseValidationError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "JSONSchemaValidationError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "LengthFinishReasonError", Phrase::model_answer_unusable, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "AgentStuckInLoopError", Phrase::agent_stuck, Retry::helps_not, Mender::you,
     Phrase::next_stuck},
    {Of::v1_code, "AgentRuntimeUnavailableError", Phrase::sandbox_lost, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "AgentRuntimeNotFoundError", Phrase::sandbox_lost, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "AgentRuntimeBuildError", Phrase::sandbox_not_started, Retry::helps_later,
     Mender::administrator, Phrase::advise_look},
    {Of::v1_code, "AgentRuntimeNotReadyError", Phrase::sandbox_not_started, Retry::helps_later,
     Mender::administrator, Phrase::advise_look},
    {Of::v1_code, "BrowserInitException", Phrase::browser_not_started, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_code, "BrowserUnavailableException", Phrase::browser_not_started, Retry::helps,
     Mender::administrator, Phrase::advise_look},
    {Of::v1_code, "MCPError", Phrase::tool_away, Retry::helps, Mender::administrator, Phrase::advise_look},
    {Of::v1_code, "MCPTimeoutError", Phrase::tool_away, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_code, "LibTmuxException", Phrase::tool_away, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_code, "ResourceLockTimeout", Phrase::tool_away, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_code, "ClientToolRegistrationError", Phrase::tool_away, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_code, "ClientToolSchemaConflictError", Phrase::tool_away, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_code, "ACPInitError", Phrase::agent_not_started, Retry::helps_not, Mender::administrator,
     Phrase::advise_agent},
    {Of::v1_code, "ACPSpawnError", Phrase::agent_not_started, Retry::helps_not, Mender::administrator,
     Phrase::advise_agent},
    {Of::v1_code, "ACPStartupTimeout", Phrase::agent_not_started, Retry::helps_not, Mender::administrator,
     Phrase::advise_agent},
    {Of::v1_code, "AgentNotRegisteredError", Phrase::agent_not_started, Retry::helps_not,
     Mender::administrator, Phrase::advise_agent},
    {Of::v1_code, "AgentAlreadyRegisteredError", Phrase::agent_not_started, Retry::helps_not,
     Mender::administrator, Phrase::advise_agent},
    {Of::v1_code, "ACPPromptError", Phrase::agent_failed, Retry::helps, Mender::you, Phrase::advise_look},
    {Of::v1_code, "AgentNoInstructionError", Phrase::agent_failed, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "AgentEventTypeError", Phrase::agent_failed, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "TaskInvalidStateError", Phrase::agent_failed, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "MicroAgentError", Phrase::agent_failed, Retry::helps, Mender::you, Phrase::advise_look},
    {Of::v1_code, "MicroAgentValidationError", Phrase::agent_failed, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_code, "ConversationOwnershipLostError", Phrase::taken_over, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "ConversationLeaseHeldError", Phrase::taken_over, Retry::helps, Mender::you,
     Phrase::advise_again},
    {Of::v1_code, "ConversationRunLimitExceeded", Phrase::too_many_conversations, Retry::helps_later,
     Mender::you, Phrase::advise_close},
    {Of::v1_code, "CredentialSyncError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_code, "CredentialConflict", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    // V1: `classification.kind` of ConversationErrorEvent, for a code that is not above.
    {Of::v1_kind, "auth", Phrase::provider_refused_key, Retry::helps_not, Mender::administrator,
     Phrase::advise_key},
    {Of::v1_kind, "quota", Phrase::budget_used_up, Retry::helps_not, Mender::administrator,
     Phrase::advise_budget},
    {Of::v1_kind, "rate_limit", Phrase::provider_limits_rate, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_kind, "config", Phrase::settings_wrong, Retry::helps_not, Mender::administrator,
     Phrase::advise_settings},
    {Of::v1_kind, "transient", Phrase::provider_away, Retry::helps_later, Mender::wait, Phrase::advise_wait},
    {Of::v1_kind, "agent_action", Phrase::agent_failed, Retry::helps, Mender::you, Phrase::advise_look},
    {Of::v1_kind, "internal", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    // V1: a code that tells little by itself: the kind is looked up before it.
    {Of::v1_wrapper, "APIError", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "APIStatusError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "HTTPStatusError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "RequestError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "CloudflareError", Phrase::provider_away, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "LLMError", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "OpenAIError", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "BaseLLMException", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "AnthropicError", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "OpenRouterException", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "OllamaError", Phrase::provider_failed, Retry::helps_later, Mender::wait,
     Phrase::advise_wait},
    {Of::v1_wrapper, "AgentError", Phrase::agent_failed, Retry::helps, Mender::you, Phrase::advise_look},
    {Of::v1_wrapper, "AgentRuntimeError", Phrase::sandbox_lost, Retry::helps, Mender::you,
     Phrase::advise_look},
    {Of::v1_wrapper, "ConversationRunError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "AssertionError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "AttributeError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "Exception", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "FileNotFoundError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "IndexError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "KeyError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "NotImplementedError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "RuntimeError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "TimeoutError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "TypeError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
    {Of::v1_wrapper, "ValueError", Phrase::server_failed, Retry::helps, Mender::administrator,
     Phrase::advise_look},
}};

const CatalogueEntry* find(Of of, std::string_view code) {
    const auto found = std::ranges::find_if(
        rows, [&](const CatalogueEntry& entry) { return entry.of == of && entry.code == code; });
    return found == rows.end() ? nullptr : &*found;
}

/// V0's free texts that say more than the name before their colon.
const CatalogueEntry* by_beginning(std::string_view reason) {
    const auto found = std::ranges::find_if(rows, [&](const CatalogueEntry& entry) {
        return entry.code.find(' ') != std::string_view::npos && reason.starts_with(entry.code);
    });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace

std::span<const CatalogueEntry> error_catalogue() {
    return rows;
}

const CatalogueEntry& catalogue_entry(std::string_view code, std::string_view kind) {
    static const CatalogueEntry unknown{};
    static const CatalogueEntry silent{Of::v1_code,  "",          Phrase::error_without_code,
                                       Retry::helps, Mender::you, Phrase::advise_look};
    const std::string name = public_code(code);
    const std::string_view bare = std::string_view(name).substr(name.rfind('.') + 1);
    for (const CatalogueEntry* entry :
         {by_beginning(code), find(Of::v0_reason, name), find(Of::v1_code, bare), find(Of::v1_kind, kind),
          find(Of::v1_wrapper, bare)})
        if (entry != nullptr) return *entry;
    return name.empty() ? silent : unknown;
}

std::string public_code(std::string_view code) {
    constexpr std::size_t max_bytes = 120;
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.";
    const std::string_view name = code.substr(0, code.find_first_not_of(allowed));
    const bool is_name = name.size() == code.size() || code[name.size()] == ':';
    return is_name ? std::string(prefix_of(name, max_bytes)) : "";
}

std::string error_sentence(Language language, std::string_view code, std::string_view kind) {
    const CatalogueEntry& entry = catalogue_entry(code, kind);
    const auto sentence = phrase(language, entry.sentence);
    if (entry.sentence != Phrase::unknown_error) return std::string(sentence);
    return fmt::format(fmt::runtime(sentence), "`" + public_code(code) + "`");
}

}  // namespace epilogue
