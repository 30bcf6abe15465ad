// What `[log]` chooses from; base/io/log.h does the logging.
#pragma once

namespace epilogue {

/// Ascending; a level shows itself and everything after it.
enum class LogLevel { debug, info, warn, error };

enum class LogFormat {
    text,  ///< time, level, message, key=value …
    json,  ///< one object a line
};

}  // namespace epilogue
