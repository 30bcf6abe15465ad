// The body of a webhook: schemas/json/webhook.json.
#pragma once

#include <string>

#include "base/ids.h"
#include "schemas/summary.h"

namespace epilogue {

/// The turn's outcome as JSON, on one line. Its texts are sanitised as those of every post. Pure.
std::string webhook_body(const Summary& summary, const DeliveryId& delivery_id);

}  // namespace epilogue
