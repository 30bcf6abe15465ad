#include "base/io/curl_options.h"

#include <cstdlib>

namespace epilogue {

void set_common_options(CurlOptions& options) {
    options.set(CURLOPT_PROXY, "");  // set and empty: the environment is not asked
    options.set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    options.set(CURLOPT_NOSIGNAL, 1L);
    options.set(CURLOPT_QUICK_EXIT, 1L);  // a name server that does not answer must not outlast the deadline
    options.set(CURLOPT_SSL_VERIFYPEER, 1L);
    options.set(CURLOPT_SSL_VERIFYHOST, 2L);
    options.set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    // libcurl by itself knows only the file it was built with.
    if (const char* const authorities = std::getenv("SSL_CERT_FILE"))
        options.set(CURLOPT_CAINFO, authorities);
}

}  // namespace epilogue
