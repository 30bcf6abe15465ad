#include "schemas/verdict.h"

#include <algorithm>

#include "base/enum_names.h"

namespace epilogue {
namespace {

constexpr EnumNames<Verdict, 9> verdict_names{{"finished", "awaiting_user_input", "error", "stuck",
                                               "rejected", "stopped", "timeout", "waiting_for_confirmation",
                                               "paused"}};
static_assert(verdict_names.ends_with(Verdict::paused));

}  // namespace

const std::vector<Verdict>& all_verdicts() {
    static const std::vector<Verdict> all{Verdict::finished, Verdict::awaiting_user_input,
                                          Verdict::error,    Verdict::stuck,
                                          Verdict::rejected, Verdict::stopped,
                                          Verdict::timeout};
    return all;
}

const std::vector<Verdict>& all_notices() {
    static const std::vector<Verdict> all{Verdict::waiting_for_confirmation, Verdict::paused};
    return all;
}

bool is_notice(Verdict verdict) {
    return std::ranges::find(all_notices(), verdict) != all_notices().end();
}

std::string_view name_of(Verdict verdict) {
    return verdict_names.of(verdict);
}

std::optional<Verdict> verdict_named(std::string_view name) {
    return verdict_names.named(name);
}

}  // namespace epilogue
