// Handles of libcurl's, and a transfer with them that can be ended at any moment.
#pragma once

#include <memory>
#include <stop_token>

#include <curl/curl.h>

namespace epilogue {

struct CurlEasyCleanup {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct CurlListCleanup {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct CurlMultiCleanup {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using CurlEasy = std::unique_ptr<CURL, CurlEasyCleanup>;
using CurlList = std::unique_ptr<curl_slist, CurlListCleanup>;
using CurlMulti = std::unique_ptr<CURLM, CurlMultiCleanup>;

/// What transfers are made with, one after the other. The connections belong to `multi`. Null when libcurl
/// has no memory.
struct CurlHandles {
    CurlMulti multi{curl_multi_init()};
    CurlEasy easy{curl_easy_init()};  // after `multi`: it ends first
};

/// Appends `text`; false when there is no memory, and `list` is as before.
bool append(CurlList& list, const char* text);

/// As curl_easy_perform(), which can only be ended once a second: a request to stop ends it at once, as
/// CURLE_ABORTED_BY_CALLBACK.
CURLcode perform(const CurlHandles& handles, const std::stop_token& stop);

}  // namespace epilogue
