#include "schemas/verdict.h"

#include "base/enum_names.h"

namespace epilogue {
namespace {

constexpr EnumNames<Verdict, 7> verdict_names{
    {"finished", "awaiting_user_input", "error", "stuck", "rejected", "stopped", "timeout"}};
static_assert(verdict_names.ends_with(Verdict::timeout));

}  // namespace

const std::vector<Verdict>& all_verdicts() {
    static const std::vector<Verdict> all{Verdict::finished, Verdict::awaiting_user_input,
                                          Verdict::error,    Verdict::stuck,
                                          Verdict::rejected, Verdict::stopped,
                                          Verdict::timeout};
    return all;
}

std::string_view name_of(Verdict verdict) {
    return verdict_names.of(verdict);
}

std::optional<Verdict> verdict_named(std::string_view name) {
    return verdict_names.named(name);
}

}  // namespace epilogue
