// A registration as somebody asks for it, by command line or by JSON: `callbacks add`, POST /api/callbacks.
#pragma once

#include <string>
#include <string_view>

#include "worker/registration.h"

namespace epilogue {

/// The options of `callbacks add`, by their names.
struct RegistrationForm {
    std::string conversation;
    std::string processor;              ///< short name or upstream's dotted one
    std::string processor_json = "{}";  ///< where to
    std::string mode;                   ///< empty: once
    std::string triggers;               ///< separated by commas; empty: all
    std::string from = "last";  ///< last: report the last end too when no turn is open; next: only later ones
};

/// The request that a form asks for; register_callback looks at its conversation and processor. Poison names
/// the field and what was expected of it.
Result<RegistrationRequest> request_of(const RegistrationForm& form, std::chrono::seconds inactivity);

/// Why a body is no form.
struct BodyFault {
    bool is_json = false;  ///< it is a JSON object, but not what a registration takes
    std::string detail;    ///< names the field; never the text itself
};

/// Reads {"conversation", "processor", "processor_json"?: object or string, "mode"?, "triggers"?: array or
/// comma list, "from"?}. A member that is none of these is a fault; null means not given.
tl::expected<RegistrationForm, BodyFault> form_from_json(std::string_view body);

}  // namespace epilogue
