// Rights on a broker with an authorizer: given and taken away.
#pragma once

#include <memory>
#include <string>

struct rd_kafka_s;

namespace epilogue::testing {

/// One right of one user.
struct KafkaRight {
    enum class On { topic, group };
    enum class To { read, write, describe };
    std::string user;  ///< as a principal: "User:NAME"
    On on = On::topic;
    std::string name{};
    To to = To::read;
};

/// One admin connection of a user that may do this. Errors are std::runtime_error with the broker's words.
class KafkaAcls {
  public:
    explicit KafkaAcls(const std::string& bootstrap);
    /// Returns when the broker has taken it.
    void grant(const KafkaRight& right) const;
    void revoke(const KafkaRight& right) const;

  private:
    std::unique_ptr<rd_kafka_s, void (*)(rd_kafka_s*)> client_;
};

}  // namespace epilogue::testing
