#include "base/io/kafka_send.h"

#include <array>

namespace epilogue {

KafkaSendError kafka_send(rd_kafka_t* client, const KafkaSend& record) {
    std::vector<rd_kafka_vu_t> fields(5);
    fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    fields[0].u.cstr = record.topic.c_str();
    fields[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    fields[1].u.i = record.flags;
    // The interface takes void*, but neither copying nor sending writes to it.
    fields[2].vtype = RD_KAFKA_VTYPE_KEY;
    fields[2].u.mem = {const_cast<char*>(record.key.data()), record.key.size()};
    fields[3].vtype = RD_KAFKA_VTYPE_VALUE;
    fields[3].u.mem = {const_cast<char*>(record.value.data()), record.value.size()};
    fields[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
    fields[4].u.ptr = record.report;
    for (const auto& [name, text] : record.headers) {
        rd_kafka_vu_t& field = fields.emplace_back();
        field.vtype = RD_KAFKA_VTYPE_HEADER;
        field.u.header = {name.c_str(), text.data(), static_cast<std::int64_t>(text.size())};
    }
    return KafkaSendError(rd_kafka_produceva(client, fields.data(), fields.size()));
}

std::string why_not_delivered(rd_kafka_t* client, rd_kafka_resp_err_t error) {
    std::array<char, 512> why{};
    const bool is_dead = rd_kafka_fatal_error(client, why.data(), why.size()) != RD_KAFKA_RESP_ERR_NO_ERROR;
    return is_dead ? why.data() : rd_kafka_err2str(error);
}

}  // namespace epilogue
