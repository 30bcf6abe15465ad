#include "base/io/curl_handles.h"

namespace epilogue {

bool append(CurlList& list, const char* text) {
    curl_slist* const longer = curl_slist_append(list.get(), text);
    if (longer == nullptr) return false;
    static_cast<void>(list.release());
    list.reset(longer);
    return true;
}

CURLcode perform(const CurlHandles& handles, const std::stop_token& stop) {
    constexpr int longest_wait_ms = 60'000;  // libcurl's own times make it shorter
    CURLM* const multi = handles.multi.get();
    if (curl_multi_add_handle(multi, handles.easy.get()) != CURLM_OK) return CURLE_FAILED_INIT;
    const std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
    CURLMcode fault = CURLM_OK;
    int running = 1;
    while (running > 0 && fault == CURLM_OK && !stop.stop_requested()) {
        fault = curl_multi_perform(multi, &running);
        if (running > 0 && fault == CURLM_OK)
            fault = curl_multi_poll(multi, nullptr, 0, longest_wait_ms, nullptr);
    }
    CURLcode code = fault == CURLM_OK ? CURLE_ABORTED_BY_CALLBACK : CURLE_OUT_OF_MEMORY;
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi, &left))
        if (message->msg == CURLMSG_DONE) code = message->data.result;
    curl_multi_remove_handle(multi, handles.easy.get());
    return code;
}

}  // namespace epilogue
