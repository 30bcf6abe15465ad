#include "sinks/port/base64.h"

#include <sodium.h>

namespace epilogue {

std::string base64_of(std::string_view bytes) {
    constexpr int variant = sodium_base64_VARIANT_ORIGINAL;
    std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                      bytes.size(), variant);
    text.pop_back();  // the zero at its end
    return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text, std::size_t max_bytes) {
    std::string bytes(max_bytes, '\0');
    std::size_t size = 0;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                          text.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL) != 0)
        return std::nullopt;
    bytes.resize(size);
    return bytes;
}

}  // namespace epilogue
