// The summary sources that ask, as one: in the order of [summary] sources, within one deadline.
#pragma once

#include <memory>
#include <string>
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

    explicit AskingSources(std::vector<Entry> entries) : entries_(std::move(entries)) {}

    /// That of the first source that has one.
    Result<std::string> server_of(const ConversationId& conversation_id) override;
    /// The reply of the first source that has words, with its name; else the last reply. Sources behind the
    /// one that made the summary are not asked.
    FinalMessageReply ask(const FinalMessageQuery& query, std::chrono::milliseconds within,
                          const std::stop_token& stop) override;

  private:
    const std::vector<Entry> entries_;
};

}  // namespace epilogue
