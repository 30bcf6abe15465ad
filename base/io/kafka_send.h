// Handing one record to a producing client.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "base/io/kafka_conf.h"

namespace epilogue {

using KafkaSendError = Handle<rd_kafka_error_t, rd_kafka_error_destroy>;

struct KafkaSend {
    const std::string& topic;
    std::string_view key;
    std::string_view value;
    const std::vector<std::pair<std::string, std::string>>& headers;
    int flags = RD_KAFKA_MSG_F_COPY;  ///< 0: the value stays where it is until the record's report
    void* report = nullptr;           ///< _private of the record's delivery report
};

/// Puts the record into the client's queue; null when that is done, else nothing was taken.
KafkaSendError kafka_send(rd_kafka_t* client, const KafkaSend& record);

/// Why a record was not delivered. A client that gave up, as one without any right to produce does, purges
/// what it has: that says not why.
std::string why_not_delivered(rd_kafka_t* client, rd_kafka_resp_err_t error);

}  // namespace epilogue
