#include "schemas/verdict.h"

namespace epilogue {

const std::vector<Verdict>& all_verdicts() {
    static const std::vector<Verdict> all{Verdict::finished, Verdict::awaiting_user_input,
                                          Verdict::error,    Verdict::stuck,
                                          Verdict::rejected, Verdict::stopped,
                                          Verdict::timeout};
    return all;
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::finished:
            return "finished";
        case Verdict::awaiting_user_input:
            return "awaiting_user_input";
        case Verdict::error:
            return "error";
        case Verdict::stuck:
            return "stuck";
        case Verdict::rejected:
            return "rejected";
        case Verdict::stopped:
            return "stopped";
        case Verdict::timeout:
            return "timeout";
    }
    return "";
}

std::optional<Verdict> verdict_named(std::string_view name) {
    for (const Verdict verdict : all_verdicts())
        if (name_of(verdict) == name) return verdict;
    return std::nullopt;
}

}  // namespace epilogue
