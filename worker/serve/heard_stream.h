// A client's connection as the HTTP library takes it: first what the gate has heard of it
// (connection_gate.h), then what comes.
#pragma once

#include <chrono>
#include <string>

#include <httplib.h>

#include "worker/serve/connection_gate.h"

namespace epilogue {

/// One thread at a time.
class HeardStream final : public httplib::Stream {
  public:
    /// `client` outlives it. `patience`: for the next bytes of the client, and for all that is written.
    HeardStream(const HeardClient& client, std::chrono::milliseconds patience);

    bool is_readable() const override;
    bool is_writable() const override;
    ssize_t read(char* bytes, size_t size) override;
    ssize_t write(const char* bytes, size_t size) override;
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    socket_t socket() const override { return client_.socket; }

  private:
    bool wait(short events, std::chrono::milliseconds at_most) const;

    const HeardClient& client_;
    const std::chrono::milliseconds patience_;
    std::chrono::milliseconds spent_writing_{0};
    std::size_t taken_ = 0;  ///< bytes of what was heard
};

}  // namespace epilogue
