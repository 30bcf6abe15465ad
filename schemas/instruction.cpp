#include "schemas/instruction.h"

#include <algorithm>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view before_id = "<!-- epilogue:ask id=";
constexpr std::string_view behind_id = " -->";

bool is_uuid(std::string_view id) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    return id.size() == form.size() &&
           std::equal(id.begin(), id.end(), form.begin(), [](char c, char wanted) {
               if (wanted == '-') return c == '-';
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
           });
}

}  // namespace

std::string instruction_mark(std::string_view id) {
    return std::string(before_id).append(id).append(behind_id);
}

std::string_view instruction_in(std::string_view text) {
    const std::string_view all = trimmed(text);
    if (!all.ends_with(behind_id)) return {};
    const auto begin = all.rfind(before_id);
    if (begin == std::string_view::npos) return {};
    const auto id =
        all.substr(begin + before_id.size(), all.size() - behind_id.size() - begin - before_id.size());
    return is_uuid(id) ? id : std::string_view();
}

}  // namespace epilogue
