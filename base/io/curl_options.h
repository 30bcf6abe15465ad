// The options of one transfer of libcurl's.
#pragma once

#include <curl/curl.h>

namespace epilogue {

/// Sets options and remembers whether all were taken: one that is not has to be reported.
class CurlOptions {
  public:
    explicit CurlOptions(CURL* handle) : handle_(handle) {}

    template <class T>
    void set(CURLoption option, T value) {
        taken_ = taken_ && curl_easy_setopt(handle_, option, value) == CURLE_OK;
    }
    bool all_taken() const { return taken_; }

  private:
    CURL* handle_;
    bool taken_ = true;
};

/// What every transfer has: no proxy and no credentials from the environment, no signals, certificates
/// checked by the authorities that OpenSSL's own users look for, TLS 1.2 or newer.
void set_common_options(CurlOptions& options);

}  // namespace epilogue
