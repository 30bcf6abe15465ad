// A toy: how many commands the turn ran, as words. Shows all that a summary source consists of: a section,
// what it makes of a turn alone, and what it says once it is asked.
#include <memory>

#include <fmt/format.h>

#include "worker/sources/descriptor.h"

namespace epilogue {
namespace {

/// [tally] of the configuration.
struct TallySection {
    std::string noun = "commands";
    bool operator==(const TallySection&) const = default;
};

SummarySource make_tally(const ConfigExtensions& sections) {
    const std::string noun = sections.get<TallySection>().noun;
    return {.name = {},
            .words_of = [noun](const TurnEnd& turn) -> std::optional<std::string> {
                if (turn.digest.figures.steps == 0) return std::nullopt;
                return fmt::format("Ran {} {}.", turn.digest.figures.steps, noun);
            },
            .may_ask = [](const TurnEnd& turn) { return turn.verdict == Verdict::stuck; }};
}

/// Knows more than the topic at once, and of every turn the same.
class TallyAsker final : public FinalMessageSource {
  public:
    explicit TallyAsker(std::string noun) : noun_(std::move(noun)) {}

    Result<std::string> server_of(const ConversationId&) override { return std::string("tally"); }
    FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds,
                          const std::stop_token&) override {
        return {FinalMessageReply::Kind::confirmed, fmt::format("No {} in {}.", noun_, query.turn.turn_key),
                ""};
    }

  private:
    const std::string noun_;
};

std::unique_ptr<FinalMessageSource> make_asker(const AskerSettings& settings) {
    return std::make_unique<TallyAsker>(settings.sections.get<TallySection>().noun);
}

}  // namespace

const SummarySourceDescriptor& tally_summary_source() {
    static const SummarySourceDescriptor descriptor{
        .name = "tally",
        .doc = "a count of its commands",
        .sections = {{"tally",
                      "Counts commands.",
                      {{"noun", required_text(place(&TallySection::noun)), "What they are called."}}}},
        .make = make_tally,
        .make_asker = make_asker};
    return descriptor;
}

}  // namespace epilogue
