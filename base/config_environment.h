// A snapshot of the process's environment: a value, so that tests can make their own.
#pragma once

#include <map>
#include <string>

namespace epilogue {

using Environment = std::map<std::string, std::string>;

/// The variables of this process, as they are now. Not to be called while another thread sets variables.
Environment process_environment();

}  // namespace epilogue
