// The summary sources that ask, as one: in the order of [summary] sources, within one deadline, of which each
// of those that are still to be asked gets an equal share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "worker/sources/final_message_source.h"

namespace epilogue {

class AskingSources final : public FinalMessageSource {
  public:
    /// One source of [summary] sources, in its order.
    struct Entry {
        std::string name;
        std::unique_ptr<FinalMessageSource> asker;  ///< null: it does not ask
    };

    /// Told of each question: the source, and the kind of its reply ("confirmed" with words, "silent" without
    /// them, else as name_of() spells it). May be called from any thread.
    using Asked = std::function<void(std::string_view source, std::string_view result)>;

    explicit AskingSources(
        std::vector<Entry> entries, Asked asked = [](auto, auto) {})
        : entries_(std::move(entries)), asked_(std::move(asked)) {}

    /// That of the first source that has one.
    Result<std::string> server_of(const ConversationId& conversation_id) override;
    /// The reply of the first source that has words, with its name; else the last reply. Sources behind the
    /// one that made the summary are not asked.
    FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                          const std::stop_token& stop) override;

  private:
    /// How many ask from `entry` on, up to the one that made the summary.
    int still_to_ask(std::vector<Entry>::const_iterator entry, const std::string& made_by) const;

    const std::vector<Entry> entries_;
    const Asked asked_;
};

}  // namespace epilogue
