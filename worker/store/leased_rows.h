// How the rows that workers lease and work at are named in UnderWay (base/under_way.h), for the count of
// crashes.
#pragma once

#include <string_view>

namespace epilogue {

constexpr std::string_view leased_delivery = "delivery";  ///< key: its id
constexpr std::string_view leased_summary = "summary";  ///< key: the conversation's id, more: the turn's key
constexpr std::string_view leased_catch_up = "catch_up";  ///< key: the conversation's id

}  // namespace epilogue
