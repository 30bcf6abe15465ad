#include "worker/sources/asking_sources.h"

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

FinalMessageReply AskingSources::ask(const FinalMessageQuery& query, milliseconds within,
                                     const std::stop_token& stop) {
    const auto until = std::chrono::steady_clock::now() + within;
    FinalMessageReply reply;
    for (const Entry& entry : entries_) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0) break;
        if (entry.asker) {
            reply = entry.asker->ask(query, left, stop);
            reply.source = entry.name;
            const bool has_words = reply.kind == Kind::confirmed && !trimmed(reply.words).empty();
            if (has_words || reply.kind == Kind::stopped) break;
        }
        if (entry.name == query.made_by) break;
    }
    return reply;
}

}  // namespace epilogue
