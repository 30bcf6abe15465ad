// The two generations of OpenHands' events, each into the same values. Parts of Decoder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record.h"
#include "schemas/event.h"
#include "schemas/json_part.h"

namespace epilogue {

/// What decode_v0 and decode_v1 look at in an event; one document can be either.
const WantedPart& wanted_of_events();

/// An event with a string `kind`; nullopt: nothing for us (unknown kind, no usable id).
std::optional<Event> decode_v1(const JsonPart& event, const RecordMarks& marks);

/// An event with a string `action` or `observation`; nullopt: nothing for us (unknown name, no usable id).
std::optional<Event> decode_v0(const JsonPart& event);

/// The event's own time, when it has one that can be read.
std::optional<Instant> timestamp_of(const JsonPart& event);

/// Adds the pull and merge requests at `links`.
void add_requests(std::vector<Work>& work, std::vector<std::string> links);

/// A shell command that came back.
struct ShellAnswer {
    std::string_view id;  ///< of the action
    std::string_view command;
    std::string_view output;
    std::string_view folder;  ///< where it left the shell
};

/// Adds what a shell command did: how it ended, when `exit_code` is an integer and there is an id; the files
/// that it removed, what it committed and pushed, and the requests that it made.
void add_shell_work(std::vector<Work>& work, const ShellAnswer& answer, const JsonPart& exit_code);

/// How an editor's answer says that it changed a file: `prev_exist`, `old_content` and `new_content` in
/// `answer`. Without the contents the lines are not told.
FileChanged file_change(std::string_view path, const JsonPart& answer);

/// What an object of metrics (`accumulated_cost`, `accumulated_token_usage`) tells; adds to `usage`.
void add_usage(UsageTold& usage, const JsonPart& metrics);

/// The members that add_usage looks at, under that name.
WantedPart wanted_of_usage(std::string_view name);

}  // namespace epilogue
