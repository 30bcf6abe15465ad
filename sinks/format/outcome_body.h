// A turn's outcome for programs: schemas/json/outcome.json. What the sinks for programs send.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/ids.h"
#include "schemas/summary.h"

namespace epilogue {

/// The outcome of the turn that the delivery is for, `{"type": …, "data": …}`. Its texts are sanitised as
/// those of every post. Pure.
nlohmann::ordered_json outcome_of(const Summary& summary, const DeliveryId& delivery_id);

/// The same as text, on one line.
std::string outcome_body(const Summary& summary, const DeliveryId& delivery_id);

/// Whether a line is one that outcome_body() made.
bool is_outcome_body(std::string_view line);

}  // namespace epilogue
