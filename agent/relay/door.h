// The ways by which events of agent servers come in.
#pragma once

#include "base/enum_names.h"

namespace epilogue::relay {

enum class Door {
    webhook,     ///< an agent server posts them to us
    follower,    ///< we read them from an agent server
    app_server,  ///< we read them from an OpenHands app server
};

/// As the record's header `source` and the metrics' label spell them.
constexpr EnumNames<Door, 3> door_names{{"webhook", "follower", "app_server"}};
static_assert(door_names.ends_with(Door::app_server));

}  // namespace epilogue::relay
