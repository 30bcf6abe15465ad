#include "base/io/kafka_record.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/io/kafka_conf.h"

namespace epilogue {
namespace {

/// The value of the last header of that name; nullopt when there is none.
std::optional<std::string_view> header(const rd_kafka_message_t& message, const char* name) {
    rd_kafka_headers_t* headers = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        rd_kafka_header_get_last(headers, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        value == nullptr)
        return std::nullopt;
    return std::string_view(static_cast<const char*>(value), size);
}

RecordMarks marks_of(const rd_kafka_message_t& message) {
    RecordMarks marks;
    if (const auto seq = header(message, "seq")) {
        std::int64_t number = -1;
        const auto read = std::from_chars(seq->data(), seq->data() + seq->size(), number);
        const bool is_whole = read.ec == std::errc() && read.ptr == seq->data() + seq->size();
        if (is_whole && number >= 0) marks.seq = number;
    }
    marks.run_over = header(message, "run_over") == "1";
    return marks;
}

}  // namespace

RecordView view_of(const rd_kafka_message_t& message) {
    RecordView view;
    view.partition = message.partition;
    view.offset = {message.offset};
    view.key = {static_cast<const char*>(message.key), message.key_len};
    view.value = {static_cast<const char*>(message.payload), message.len};
    view.timestamp = timestamp_of(message);
    view.marks = marks_of(message);
    return view;
}

}  // namespace epilogue
