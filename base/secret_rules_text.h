// The two rule sets as they are built in: TOML. For base/secret_rules.cpp alone.
#pragma once

#include <string_view>

namespace epilogue {

extern const std::string_view gitleaks_rules;
extern const std::string_view own_secret_rules;

}  // namespace epilogue
