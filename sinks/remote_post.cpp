#include "sinks/remote_post.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace epilogue {

bool Account::same_as(const Account& other) const {
    if (id != 0 && other.id != 0) return id == other.id;
    return !name.empty() && lowered(name) == lowered(other.name);
}

std::optional<Account> OwnAccount::get(const Ask& ask) {
    {
        const std::lock_guard lock(mutex_);
        if (me_) return me_;
    }
    auto me = ask();
    if (me) remember(*me);
    return me;
}

void OwnAccount::remember(const Account& author) {
    const std::lock_guard lock(mutex_);
    if (!me_ || me_->unnamed()) me_ = author;
}

Sighting own_posts(std::vector<RemotePost> marked, Account me) {
    Sighting sighting;
    sighting.looked = true;
    if (marked.empty()) return sighting;
    std::sort(marked.begin(), marked.end(), [](const auto& a, const auto& b) {
        return std::pair(a.created_at, a.id) < std::pair(b.created_at, b.id);
    });
    if (me.unnamed()) me = marked.front().author;
    for (const auto& post : marked) {
        Receipt receipt{.remote_id = fmt::format("{}", post.id), .remote_url = post.url};
        // Listed twice is not posted twice: the worker removes all but the first.
        const bool known = std::any_of(sighting.seen.begin(), sighting.seen.end(), [&](const Receipt& other) {
            return other.remote_id == receipt.remote_id && other.remote_url == receipt.remote_url;
        });
        const bool ours = post.author.same_as(me) || (me.unnamed() && post.author.unnamed());
        if (ours && !known) sighting.seen.push_back(std::move(receipt));
    }
    return sighting;
}

Sighting blind(std::string cause) {
    Sighting sighting;
    sighting.cause = std::move(cause);
    return sighting;
}

}  // namespace epilogue
