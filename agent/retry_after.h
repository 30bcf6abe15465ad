// For how long an answer wants the next request to wait.
#pragma once

#include <chrono>

#include "base/http_message.h"

namespace epilogue::agent {

/// What its Retry-After header asks for, in seconds or as a date, at most a day; 0 when there is none.
std::chrono::seconds retry_after_in(const HttpAnswer& answer);

}  // namespace epilogue::agent
