// Requests that are no HTTP: a record to be produced to a topic, or to be looked for there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/http_message.h"
#include "base/instant.h"
#include "sinks/port/transport.h"

namespace epilogue {

struct TopicRecord {
    std::string topic;
    std::string key;
    std::string delivery_id;  ///< a header of the record
    std::string value;
    bool operator==(const TopicRecord&) const = default;
};

/// The methods that such requests have.
inline constexpr std::string_view produce_method = "PRODUCE";
inline constexpr std::string_view search_method = "SEARCH";

/// What a search is answered with; any other status: the record is not there.
inline constexpr int found_status = 200;
inline constexpr int absent_status = 404;

/// The request to produce the record. It is answered when the topic has it for sure, not sent when that
/// cannot be, else uncertain.
HttpRequest topic_write(const TopicRecord& record);
/// The request to look for that very key and value among the records from `since` on.
HttpRequest topic_search(const TopicRecord& record, Instant since);

/// What topic_write() and topic_search() were made of.
TopicRecord topic_record_in(const HttpRequest& request);
/// nullopt when the request is no search.
std::optional<Instant> search_since(const HttpRequest& request);

/// `send` for what is HTTP, and `topics` for records.
Send with_topics(Send send, Send topics);

}  // namespace epilogue
