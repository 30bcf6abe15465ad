// From a message of librdkafka to a record.
#pragma once

#include <librdkafka/rdkafka.h>

#include "base/record.h"

namespace epilogue {

/// The message's parts, as long as it lives. A header `seq` that is no decimal number from 0 on tells
/// nothing.
RecordView view_of(const rd_kafka_message_t& message);

}  // namespace epilogue
