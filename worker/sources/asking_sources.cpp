#include "worker/sources/asking_sources.h"

#include <algorithm>

#include "base/text.h"

namespace epilogue {

using Kind = FinalMessageReply::Kind;
using std::chrono::milliseconds;

Result<std::string> AskingSources::server_of(const ConversationId& conversation_id) {
    for (const Entry& entry : entries_) {
        if (!entry.asker) continue;
        TRY(std::string server, entry.asker->server_of(conversation_id));
        if (!server.empty()) return server;
    }
    return std::string();
}

int AskingSources::still_to_ask(std::vector<Entry>::const_iterator entry, const std::string& made_by) const {
    int count = 0;
    for (; entry != entries_.end(); ++entry) {
        count += entry->asker ? 1 : 0;
        if (entry->name == made_by) break;
    }
    return count;
}

FinalMessageReply AskingSources::ask(const FinalMessageQuery& query, milliseconds within,
                                     const std::stop_token& stop) {
    const auto until = std::chrono::steady_clock::now() + within;
    FinalMessageReply reply;
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0) break;
        if (entry->asker) {
            const auto share = left / still_to_ask(entry, query.made_by);
            reply = entry->asker->ask(query, std::max(share, milliseconds{1}), stop);
            reply.source = entry->name;
            const bool has_words = reply.kind == Kind::confirmed && !trimmed(reply.words).empty();
            asked_(entry->name, reply.kind == Kind::confirmed && !has_words ? "silent" : name_of(reply.kind));
            if (has_words || reply.kind == Kind::stopped || stop.stop_requested()) break;
        }
        if (entry->name == query.made_by) break;
    }
    return reply;
}

}  // namespace epilogue
