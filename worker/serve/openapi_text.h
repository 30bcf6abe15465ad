// schemas/json/openapi.json as it is built in: what GET /openapi.json answers.
#pragma once

#include <string_view>

namespace epilogue {

extern const std::string_view openapi_document;

}  // namespace epilogue
