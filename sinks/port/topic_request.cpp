#include "sinks/port/topic_request.h"

#include <utility>

namespace epilogue {
namespace {

constexpr std::string_view key_field = "key: ";
constexpr std::string_view delivery_field = "delivery-id: ";
constexpr std::string_view since_field = "since: ";

HttpRequest request_of(std::string_view method, const TopicRecord& record) {
    HttpRequest request;
    request.method = method;
    request.url = record.topic;
    request.headers = {std::string(key_field) + record.key, std::string(delivery_field) + record.delivery_id};
    request.body = record.value;
    return request;
}

std::string field_of(const HttpRequest& request, std::string_view name) {
    for (const std::string& header : request.headers)
        if (header.starts_with(name)) return header.substr(name.size());
    return "";
}

}  // namespace

HttpRequest topic_write(const TopicRecord& record) {
    return request_of(produce_method, record);
}

HttpRequest topic_search(const TopicRecord& record, Instant since) {
    HttpRequest request = request_of(search_method, record);
    request.headers.push_back(std::string(since_field) + to_iso(since));
    request.changes_nothing = true;
    return request;
}

TopicRecord topic_record_in(const HttpRequest& request) {
    return {.topic = request.url,
            .key = field_of(request, key_field),
            .delivery_id = field_of(request, delivery_field),
            .value = request.body};
}

std::optional<Instant> search_since(const HttpRequest& request) {
    if (request.method != search_method) return std::nullopt;
    return parse_instant(field_of(request, since_field));
}

Send with_topics(Send send, Send topics) {
    return [send = std::move(send), topics = std::move(topics)](const HttpRequest& request) {
        const bool is_record = request.method == produce_method || request.method == search_method;
        return is_record ? topics(request) : send(request);
    };
}

}  // namespace epilogue
