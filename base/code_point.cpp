#include "base/code_point.h"

#include <cstddef>

#include "base/text.h"

namespace epilogue {

CodePoint first_code_point(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) return {text.substr(0, 1), lead};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    const auto bytes = text.substr(0, length);
    if (!is_utf8(bytes)) return {text.substr(0, 1), std::nullopt};
    char32_t value = lead & (0x7FU >> length);
    for (const char byte : bytes.substr(1))
        value = (value << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
    return {bytes, value};
}

}  // namespace epilogue
