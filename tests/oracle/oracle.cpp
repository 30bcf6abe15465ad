#include "tests/oracle/oracle.h"

#include <algorithm>

#include <fmt/format.h>

namespace epilogue::testing {
namespace {

bool is_final(std::string_view state) {
    return state == "SENT" || state == "FAILED";
}

/// Every nonce "[cN…]" of the text that is not `own`'s.
std::string foreign_nonce(std::string_view text, std::string_view own) {
    for (auto at = text.find("[c"); at != std::string_view::npos; at = text.find("[c", at + 1)) {
        const std::string_view nonce = text.substr(at, text.find(']', at) - at);
        const bool is_own = nonce.substr(2, own.size()) == own &&
                            (nonce.size() == own.size() + 2 || nonce[own.size() + 2] == 't');
        if (!is_own) return std::string(nonce) + "]";
    }
    return "";
}

}  // namespace

void Oracle::complain(std::string what) {
    violations_.push_back(std::move(what));
}

void Oracle::wrote(const PositionWrite& write) {
    if (write.position_after < write.position_before)
        complain(fmt::format("position of partition {} rewinds from {} to {}", write.partition,
                             write.position_before, write.position_after));
    if (write.generation_after < write.generation_before)
        complain(fmt::format("an older generation wrote partition {}", write.partition));
    if (write.generation_after == write.generation_before && write.owner_after != write.owner_before)
        complain(fmt::format("partition {} changed its owner without a new generation", write.partition));
}

void Oracle::wrote(const DeliveryWrite& write) {
    const bool same = write.generation_after == write.generation_before;
    if (write.generation_after < write.generation_before ||
        (same && (write.state_after != write.state_before || write.owner_after != write.owner_before)))
        complain(fmt::format("delivery {}: a write by generation {} after {}", write.delivery_id,
                             write.generation_after, write.generation_before));
    if (write.owner_after != write.owner_before && write.leased_before)
        complain(fmt::format("delivery {}: {} took it while the lease of {} holds", write.delivery_id,
                             write.owner_after, write.owner_before));
    if (write.attempts_after > write.attempts_before) {
        const std::string id(write.delivery_id);
        const bool may_be_out = write.state_before == "SENDING" || write.state_before == "UNKNOWN";
        if (may_be_out && !looked_enough(id))
            complain(fmt::format("delivery {} is sent again, though nobody looked often enough", id));
        empty_looks_.erase(id);
    }
    if (is_final(write.state_before) && write.state_after != write.state_before)
        complain(fmt::format("delivery {}: {} became {}", write.delivery_id, write.state_before,
                             write.state_after));
}

void Oracle::saw_nothing_of(const std::string& delivery_id, std::chrono::microseconds at) {
    empty_looks_[delivery_id].push_back(at);
}

/// Three times: the second at least 15 s after the first, the third at least 60 s after that (sinks.md, R).
bool Oracle::looked_enough(const std::string& delivery_id) const {
    const auto found = empty_looks_.find(delivery_id);
    if (found == empty_looks_.end()) return false;
    const auto& looks = found->second;
    const auto first = looks.front();
    const auto second = std::find_if(looks.begin(), looks.end(),
                                     [&](auto at) { return at - first >= std::chrono::seconds{15}; });
    return second != looks.end() && looks.back() - *second >= std::chrono::seconds{60};
}

void Oracle::wrote(const StatusWrite& write) {
    if (write.before != write.after && write.before != "ACTIVE")
        complain(fmt::format("callback {}: {} became {}", write.callback_id, write.before, write.after));
    if (write.before == "ACTIVE" && write.after == "COMPLETED" && !write.last_report_sent && !write.cancelled)
        complain(fmt::format("callback {} is COMPLETED before its post is SENT", write.callback_id));
}

void Oracle::offset_committed(int partition, std::int64_t committed, std::int64_t stored) {
    if (committed > stored)
        complain(fmt::format("partition {}: offset {} was committed, the state is at {}", partition,
                             committed, stored));
    std::int64_t& last = committed_[partition];
    if (committed < last)
        complain(
            fmt::format("partition {}: committed offset rewinds from {} to {}", partition, last, committed));
    last = std::max(last, committed);
}

void Oracle::judge(const std::vector<OwedPost>& owed, const std::vector<SeenPost>& seen) {
    struct Shown {
        int created = 0;
        int visible = 0;
        int deleted_by_user = 0;
        bool look_up_forbidden = false;
        const SeenPost* any = nullptr;
    };
    std::map<std::string, Shown> shown;
    for (const SeenPost& post : seen) {
        Shown& entry = shown[post.delivery_id];
        ++entry.created;
        entry.look_up_forbidden = entry.look_up_forbidden || post.look_up_forbidden;
        entry.deleted_by_user += post.deleted_by_user ? 1 : 0;
        if (!post.deleted_by_user && !post.removed_by_us) {
            ++entry.visible;
            entry.any = &post;
        } else if (entry.any == nullptr) {
            entry.any = &post;
        }
    }
    for (const OwedPost& post : owed) {
        const auto found = shown.find(post.delivery_id);
        const std::string name =
            fmt::format("callback {} of {}, turn {}", post.callback_id, post.conversation_id, post.turn_key);
        if (found == shown.end()) {
            if (!post.optional) complain("lost: " + name);
            continue;
        }
        const Shown& entry = found->second;
        if (entry.visible > 1 && !entry.look_up_forbidden)
            complain(fmt::format("duplicate: {} is seen {} times", name, entry.visible));
        if (entry.visible == 0 && entry.deleted_by_user == 0)
            complain("lost: " + name + " was removed by us");
        if (entry.any->place != post.place)
            complain(fmt::format("cross-talk: {} is seen at {}", name, entry.any->place));
        const std::string& body = entry.any->body;
        if (body.compare(0, post.headline.size(), post.headline) != 0)
            complain(fmt::format("wrong: {} should start with {}: {}", name, post.headline, body));
        if (!post.words.empty() && body.find(post.words) == std::string::npos)
            complain(fmt::format("wrong: {} should say {}: {}", name, post.words, body));
        const std::string own = post.conversation_id.substr(post.conversation_id.find('c') + 1);
        if (const auto nonce = foreign_nonce(body, own); !nonce.empty())
            complain(fmt::format("cross-talk: {} holds {}", name, nonce));
        shown.erase(found);
    }
    for (const auto& [id, entry] : shown)
        complain(fmt::format("phantom: {} at {}: {}", id, entry.any->place, entry.any->body));
}

}  // namespace epilogue::testing
