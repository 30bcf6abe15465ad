#include "agent/relay/follow/server_listing.h"

#include <algorithm>
#include <utility>

#include "agent/calls.h"
#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"

namespace epilogue::relay {

ServerListing::ServerListing(std::shared_ptr<const agent::AgentServer> server, Found found,
                             ListingRules rules)
    : server_(std::move(server)), found_(std::move(found)), rules_(rules) {
    thread_ = named_thread("relay listing", [this](const std::stop_token& stop) { run(stop); });
}

ServerListing::~ServerListing() {
    thread_.request_stop();
}

std::string ServerListing::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void ServerListing::note(std::string trouble) {
    const std::lock_guard lock(mutex_);
    if (!trouble.empty() && trouble != trouble_)
        log_warn("the conversations of an agent server could not be listed",
                 {{"server", server_->address().url()}, {"cause", trouble}});
    trouble_ = std::move(trouble);
}

void ServerListing::run(const std::stop_token& stop) {
    Clock::time_point all_at{};
    Clock::duration pause{};
    do {
        const auto began = Clock::now();
        const bool all = began >= all_at;
        const auto looked = look(all, stop);
        if (stop.stop_requested()) return;
        note(looked ? "" : looked.error().text);
        const auto took = Clock::now() - began;
        if (!looked)
            all_at = {};
        else if (all)
            all_at = began + std::max<Clock::duration>(rules_.all_every, rules_.rest * took);
        pause = std::max<Clock::duration>(rules_.look_every, rules_.rest * took);
    } while (wait_or_stop(stop, pause));
}

Result<void> ServerListing::look(bool all, const std::stop_token& stop) {
    std::set<ConversationId> listed;
    std::vector<ConversationId> found;
    std::string page_id;
    do {
        const auto page = agent::list_conversation_ids(*server_, rules_.page, page_id, stop);
        if (!page) return retryable(page.error().text);
        const std::size_t found_before = found.size();
        const std::size_t listed_before = listed.size();
        for (const std::string& id : page->ids) {
            auto conversation = normalise_conversation_id(id);
            if (!listed.insert(conversation).second) continue;
            if (all || !known_.contains(conversation)) found.push_back(std::move(conversation));
        }
        // The newest come first: behind a page without a new one there is none. A server that begins again at
        // the first page shows nothing more, either.
        if ((!all && found.size() == found_before) || listed.size() == listed_before) break;
        page_id = page->next_page_id;
    } while (!page_id.empty());
    if (!found.empty() || all) TRY_VOID(found_(found, all));
    if (all)
        known_ = std::move(listed);
    else
        known_.insert(found.begin(), found.end());
    return {};
}

}  // namespace epilogue::relay
