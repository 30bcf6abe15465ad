// What the platforms' answers mean for a comment where they all say it in the same way. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/http_message.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// Status and the platform's own `message`, if it has one, in a few words for people.
std::string status_cause(int status, const std::string& message);

/// An attempt to post that got `answer`, before its status is looked at: retry when nothing was sent, else
/// unknown.
Attempt attempt_after(const HttpAnswer& answer, std::string cause);

/// The receipt for a comment that an answer shows; nullopt when it shows none.
std::optional<Receipt> receipt_of(const std::optional<RemotePost>& comment);

/// Makes of `attempt` what a status says that is neither about rates nor about rights: sent with the comment
/// that was `made`, unknown after a success without one, refused, or still unknown. `noun` is what the
/// platform calls a comment.
void take_status(int status, std::optional<Receipt> made, const char* noun, Attempt& attempt);

/// A look-up that saw nothing because of `answer`: forbidden when its status says that waiting will not help,
/// because the token is refused, or the place is gone or has moved where we do not follow.
LookupResult lookup_after(const HttpAnswer& answer, std::string cause);

}  // namespace epilogue
