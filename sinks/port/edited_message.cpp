#include "sinks/port/edited_message.h"

namespace epilogue {
namespace {

bool is_mode(std::string_view text) {
    return text == "new" || text == "update";
}

constexpr TextRule mode_rule{is_mode, R"("new" or "update")"};

}  // namespace

bool is_update(const ProcessorReader& json) {
    return json.optional_text(member_mode_of_post, mode_rule) == "update";
}

void write_update(const ProcessorWriter& json, bool is_update, bool notify) {
    const bool was_update = json.member(member_mode_of_post).string_or_empty() == "update";
    if (was_update != is_update) json.text(member_mode_of_post, is_update ? "update" : "new");
    if (is_update) json.flag(member_notify, notify);
}

}  // namespace epilogue
