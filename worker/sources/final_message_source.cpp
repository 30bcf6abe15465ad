#include "worker/sources/final_message_source.h"

#include "base/enum_names.h"

namespace epilogue {
namespace {

constexpr EnumNames<FinalMessageReply::Kind, 6> reply_names{
    {"confirmed", "not_confirmed", "refused", "unreachable", "late", "stopped"}};
static_assert(reply_names.ends_with(FinalMessageReply::Kind::stopped));

}  // namespace

std::string_view name_of(FinalMessageReply::Kind kind) {
    return reply_names.of(kind);
}

}  // namespace epilogue
