#include "agent/relay/follow/follower.h"

#include <algorithm>
#include <functional>

#include "agent/relay/follow/followed.h"
#include "agent/relay/follow/loop.h"
#include "agent/relay/follow/request_pool.h"
#include "base/ids.h"
#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"

namespace epilogue::relay {
namespace {

constexpr std::chrono::seconds pause_of_unusable{300};

}  // namespace

Follower::Follower(Positions& positions, Topic& topic, RecordMaker make_record, FollowRules rules,
                   FollowObserver observer)
    : positions_(positions),
      owner_(rules.owner.empty() ? random_uuid() : rules.owner),
      shared_(std::make_shared<FollowShared>(topic, std::move(make_record), std::move(observer), rules)),
      pool_(std::make_unique<RequestPool>(rules.requests, rules.per_server)) {
    for (int i = 0; i < rules.threads; ++i) loops_.push_back(std::make_shared<Loop>(shared_));
    keeper_ = named_thread("relay positions", [this](const auto& stop) { run(stop); });
}

Follower::~Follower() {
    keeper_.request_stop();
    if (keeper_.joinable()) keeper_.join();
    end_threads();
}

void Follower::stop() {
    keeper_.request_stop();
    if (keeper_.joinable()) keeper_.join();
    std::vector<std::shared_ptr<Followed>> all;
    for (const auto& [id, each] : followed_) all.push_back(each);
    end_threads();
    // What the topic acknowledges from now on is read once more by the next owner.
    if (const auto done = release(all); !done)
        log_warn("positions could not be stored", {{"cause", done.error().text}});
}

void Follower::end_threads() {
    shared_->requests.request_stop();
    for (const auto& [id, each] : followed_) each->stop();
    for (const auto& loop : loops_) loop->stop();
    loops_.clear();
    pool_.reset();
    followed_.clear();
}

std::size_t Follower::followed() const {
    const std::lock_guard lock(mutex_);
    return count_;
}

std::string Follower::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void Follower::run(const std::stop_token& stop) {
    do {
        const auto kept = keep(Clock::now());
        const std::lock_guard lock(mutex_);
        if (!kept && trouble_ != kept.error().text)
            log_warn("positions of followed conversations could not be kept", {{"cause", kept.error().text}});
        trouble_ = kept ? "" : kept.error().text;
        count_ = followed_.size();
    } while (wait_or_stop(stop, shared_->rules.save_every));
}

Result<void> Follower::keep(Clock::time_point now) {
    if (!begun_) TRY_VOID(positions_.end_leases(owner_));
    begun_ = true;
    // First of all: without its lease nothing goes on.
    if (now >= renew_at_) {
        TRY_VOID(renew());
        renew_at_ = now + shared_->rules.renew_every;
    }
    TRY_VOID(save());
    if (now >= discover_at_) {
        TRY_VOID(discover());
        discover_at_ = now + shared_->rules.discover_every;
    }
    return {};
}

Result<void> Follower::discover() {
    const FollowRules& rules = shared_->rules;
    TRY_VOID(positions_.discover());
    while (followed_.size() < rules.most) {
        const std::size_t limit = std::min(rules.claimed_at_once, rules.most - followed_.size());
        const auto asked_at = Clock::now();
        TRY(auto claims, positions_.claim(owner_, limit, rules.lease));
        const bool was_all = claims.size() < limit;
        for (Claim& claim : claims) follow(std::move(claim), asked_at + rules.lease);
        if (was_all) break;
    }
    forget_servers();
    return {};
}

void Follower::follow(Claim claim, Clock::time_point lease_end) {
    const std::string id = claim.conversation_id.text();
    drop(id);
    auto server = server_at(claim.server, claim.session_key);
    if (!server) {
        const PositionUpdate last{claim.conversation_id,
                                  claim.generation,
                                  claim.position,
                                  0,
                                  "the address of the conversation's agent server cannot be used",
                                  false,
                                  claim.key_mark};
        if (const auto released = positions_.release(owner_, last, pause_of_unusable); !released)
            log_warn("a conversation could not be let go", {{"cause", released.error().text}});
        return;
    }
    const auto& loop = loops_[std::hash<std::string>()(id) % loops_.size()];
    auto followed = std::make_shared<Followed>(loop, *pool_, std::move(claim), std::move(server), lease_end);
    followed->start();
    followed_.emplace(id, std::move(followed));
}

std::shared_ptr<const agent::AgentServer> Follower::server_at(const std::string& url, const Secret& key) {
    auto& server = servers_[{url, key.reveal()}];
    if (server) return server;
    auto address = agent::parse_address(url);
    if (!address) return nullptr;
    address->egress = shared_->rules.egress;
    server = std::make_shared<const agent::AgentServer>(*address, key, shared_->rules.deadlines);
    return server;
}

/// Those of which nothing is followed, unless they have logs that are to be left alone for a while.
void Follower::forget_servers() {
    std::erase_if(servers_, [](const auto& each) {
        const auto& server = each.second;
        return !server || (server.use_count() == 1 && !server->logs().spares_any());
    });
}

void Follower::drop(const std::string& conversation_id) {
    const auto found = followed_.find(conversation_id);
    if (found == followed_.end()) return;
    found->second->stop();
    followed_.erase(found);
}

void Follower::drop_fenced(const ConversationId& conversation) {
    drop(conversation);
    positions_.fenced(conversation);
}

Result<void> Follower::renew() {
    std::vector<ConversationId> ids;
    for (const auto& [id, each] : followed_) ids.push_back(each->claim().conversation_id);
    const auto asked_at = Clock::now();
    TRY(const auto held, positions_.renew(owner_, ids, shared_->rules.lease));
    std::map<std::string, HeldClaim> ours;
    for (const HeldClaim& each : held) ours.emplace(each.conversation_id.text(), each);
    std::vector<std::shared_ptr<Followed>> moved;
    for (const ConversationId& id : ids) {
        const auto followed = followed_.at(id);
        const auto found = ours.find(id);
        if (found == ours.end() || found->second.generation != followed->claim().generation)
            drop_fenced(id);  // or no callback waits for it any more
        else if (found->second.server != followed->claim().server)
            moved.push_back(followed);
        else
            followed->renewed(asked_at + shared_->rules.lease);
    }
    return release(moved, true);
}

Result<void> Follower::save() {
    std::vector<PositionUpdate> updates;
    std::vector<std::shared_ptr<Followed>> over;
    FollowState state{followed_.size(), 0, {}};
    for (const auto& [id, each] : followed_) {
        Followed::Report report = each->report();
        state.behind += report.update.behind;
        state.lag = std::max(state.lag, report.lag);
        if (report.over)
            over.push_back(each);
        else if (report.is_new)
            updates.push_back(std::move(report.update));
    }
    shared_->observer.state(state);
    TRY_VOID(release(over));
    if (updates.empty()) return {};
    auto fenced = positions_.advance(owner_, updates);
    if (!fenced) {
        for (const PositionUpdate& update : updates)
            if (const auto found = followed_.find(update.conversation_id); found != followed_.end())
                found->second->not_stored();
        return Failure(fenced.error());
    }
    for (const ConversationId& id : *fenced) drop_fenced(id);
    return {};
}

Result<void> Follower::release(const std::vector<std::shared_ptr<Followed>>& over, bool moved) {
    for (const auto& each : over) {
        Followed::Report last = each->report();
        last.update.moved = moved;
        drop(each->claim().conversation_id);
        TRY_VOID(positions_.release(owner_, last.update, last.over.value_or(std::chrono::seconds(0))));
    }
    return {};
}

}  // namespace epilogue::relay
