#include "agent/relay/app_server/app_poll.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "agent/relay/app_server/produced.h"
#include "base/instant.h"
#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"

namespace epilogue::relay {
namespace {

/// What agent servers told late is stored among older events: so far back they are read once more.
constexpr std::chrono::minutes read_again{2};
constexpr std::chrono::seconds to_reach{3};
constexpr int most_failures = 3;  ///< of one look
constexpr std::size_t most_held_bytes = std::size_t{1} << 20U;

/// That long before `time`; "" when it is no time without a zone, which the server compares as text.
std::string before(const std::string& time, Micros by) {
    const auto at = parse_instant(time);
    const bool has_zone = time.find_first_of("Z+") != std::string::npos || time.rfind('-') > 10;
    if (!at || has_zone) return "";
    std::string text = to_iso(*at - by);
    text.pop_back();
    return text;
}

std::size_t hash_of(const std::string& id) {
    return std::hash<std::string>()(id);
}

}  // namespace

AppPoll::AppPoll(AppServer::Rules server, AppPositions& positions, Topic& topic, AppPollRules rules,
                 AppPollObserver observer)
    : server_(std::move(server)),
      positions_(positions),
      topic_(topic),
      rules_(std::move(rules)),
      observer_(std::move(observer)) {
    thread_ = named_thread("relay app srv", [this](const std::stop_token& stop) { run(stop); });
}

AppPoll::~AppPoll() {
    thread_.request_stop();
    thread_.join();
    if (const auto done = positions_.release(server_.name(), rules_.owner); !done)
        log_warn("an app server could not be let go", {{"cause", done.error().text}});
}

std::string AppPoll::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void AppPoll::tell(const std::string& trouble) {
    const AppLook look{tell_behind(), trouble};
    if (const auto noted = positions_.note_look(server_.name(), rules_.owner, look); !noted)
        log_warn("what was seen of an app server could not be stored", {{"cause", noted.error().text}});
    const std::lock_guard lock(mutex_);
    if (!trouble.empty() && trouble != trouble_)
        log_warn("an app server could not be read", {{"server", server_.name()}, {"cause", trouble}});
    trouble_ = trouble;
}

/// What is behind, which it returns, to those who ask.
std::int64_t AppPoll::tell_behind() const {
    std::int64_t behind = 0;
    std::optional<Lag::Time> since;
    for (const auto& [id, each] : looked_) {
        behind += each.behind;
        const auto known = each.lag.since();
        if (known && (!since || *known < *since)) since = known;
    }
    observer_.behind(behind, since);
    return behind;
}

void AppPoll::run(const std::stop_token& stop) {
    Clock::duration pause{};
    int failures = 0;
    do {
        const auto began = Clock::now();
        const auto looked = look(stop);
        if (stop.stop_requested()) return;
        tell(looked ? hindrance_ : looked.error().text);
        failures = looked ? 0 : std::min(failures + 1, 6);
        pause = std::max<Clock::duration>(rules_.look_every * (1 << failures),
                                          rules_.rest * (Clock::now() - began));
        pause = std::min<Clock::duration>(pause, rules_.most_rest);
        // What the server itself wants is obeyed in full.
        pause = std::max<Clock::duration>(pause, std::exchange(wanted_pause_, {}));
    } while (wait_or_stop(stop, pause));
}

Result<bool> AppPoll::hold() {
    const auto asked_at = Clock::now();
    if (lease_end_ - asked_at > rules_.lease / 2) return true;
    TRY(const auto floor, positions_.hold(server_.name(), rules_.owner, rules_.lease));
    if (!floor) {
        looked_.clear();
        return false;
    }
    floor_ = floor->empty() ? to_iso(system_now() - rules_.first_floor) : *floor;
    lease_end_ = asked_at + rules_.lease;
    return true;
}

Result<bool> AppPoll::look(const std::stop_token& stop) {
    requests_ = 0;
    hindrance_.clear();
    TRY(const bool is_ours, hold());
    if (!is_ours) return true;
    auto listing = list(stop);
    wanted_pause_ = server_.take_retry_after();
    if (!listing) return Failure(listing.error());
    std::vector<AppConversation>& listed = *listing;
    TRY_VOID(learn_positions(listed));
    // Those that had to wait the last time come first.
    std::ranges::stable_sort(listed, {}, [&](const auto& each) { return looked_.at(each.id).at; });
    bool is_complete = true;
    int failures = 0;
    std::string newest;
    for (const AppConversation& each : listed) {
        Looked& looked = looked_.at(each.id);
        newest = std::max(newest, each.updated_at);
        if (looked.updated_at == each.updated_at && Clock::now() - looked.at < rules_.quiet_every) continue;
        if (requests_ >= rules_.requests) {
            is_complete = false;
            break;
        }
        const auto done = read(each, looked, stop);
        looked.at = Clock::now();
        if (!done) {
            // One that cannot be read holds up no other; a server that is away is not asked for each.
            wanted_pause_ = server_.take_retry_after();
            if (++failures == most_failures || wanted_pause_.count() > 0 || stop.stop_requested())
                return Failure(done.error());
            hindrance_ = done.error().text;
            is_complete = false;
            continue;
        }
        reach(each, stop);
        looked.updated_at = each.updated_at;
    }
    const auto updated = parse_instant(newest);
    if (!is_complete || !updated) return is_complete;
    const std::string floor = to_iso(*updated - rules_.linger);
    if (floor > floor_) {
        TRY_VOID(positions_.set_floor(server_.name(), rules_.owner, floor));
        floor_ = floor;
    }
    return true;
}

Result<std::vector<AppConversation>> AppPoll::list(const std::stop_token& stop) {
    std::vector<AppConversation> listed;
    std::set<ConversationId> known;
    std::string page_id;
    do {
        ++requests_;
        TRY(auto page, server_.conversations(floor_, page_id, stop));
        for (AppConversation& each : page.items)
            if (known.insert(each.id).second) listed.push_back(std::move(each));
        if (page.next_page_id == page_id) break;
        page_id = page.next_page_id;
    } while (!page_id.empty());
    std::erase_if(looked_, [&](const auto& each) { return !known.contains(each.first); });
    return listed;
}

Result<void> AppPoll::learn_positions(const std::vector<AppConversation>& conversations) {
    std::vector<ConversationId> unknown;
    for (const auto& each : conversations)
        if (!looked_.contains(each.id)) unknown.push_back(each.id);
    if (unknown.empty()) return {};
    TRY(const auto known, positions_.positions(unknown));
    for (const ConversationId& each : unknown) {
        const auto found = known.find(each);
        looked_[each].position = found == known.end() ? AppPosition{} : found->second;
    }
    return {};
}

Result<void> AppPoll::read(const AppConversation& conversation, Looked& looked, const std::stop_token& stop) {
    ++requests_;
    TRY(const auto count, server_.count(conversation.id, stop));
    looked.behind = std::max<std::int64_t>(0, count - looked.position.told);
    looked.lag.note(count, looked.position.told, Clock::now());
    if (count == looked.position.told) return {};
    tell_behind();  // the topic may take nothing for a while
    const AppPosition before_it = looked.position;
    const bool is_shorter = count < before_it.told;
    Pass pass;
    if (!is_shorter) {
        TRY_VOID(bring(conversation, looked, before(before_it.newest, read_again), &pass, stop));
    }
    if (is_shorter || before_it.told + pass.fresh < count) {
        // Some were stored among those that had been read, and may stand before an end that was held back; or
        // some are gone, and what was told is no number any more to find others by.
        TRY_VOID(bring(conversation, looked, "", nullptr, stop));
        looked.position.told = count;
    } else {
        TRY_VOID(produce(conversation, looked, pass.held, stop));
        looked.position.told = before_it.told + pass.fresh;
    }
    looked.has_ids = true;
    looked.behind = 0;
    looked.lag = {};
    return positions_.save(server_.name(), rules_.owner, conversation.id, looked.position);
}

Result<void> AppPoll::produce(const AppConversation& conversation, Looked& looked,
                              const std::vector<AppEvent>& events, const std::stop_token& stop) {
    if (events.empty()) return {};
    TRY(const bool is_ours, hold());
    if (!is_ours || lease_end_ - Clock::now() < rules_.delivery)
        return retryable("another relay reads it by now");
    Produced produced(topic_);
    for (const AppEvent& event : events)
        if (const auto record = observer_.make_record(conversation.id, event.json))
            produced.add(*record, stop);
    TRY_VOID(produced.wait());
    for (const AppEvent& event : events) {
        looked.ids.insert(hash_of(event.id));
        looked.position.newest = std::max(looked.position.newest, event.timestamp);
    }
    return {};
}

Result<void> AppPoll::bring(const AppConversation& conversation, Looked& looked, const std::string& since,
                            Pass* holds, const std::stop_token& stop) {
    const std::string newest_before = looked.position.newest;
    std::string page_id;
    std::size_t held_bytes = 0;
    bool may_hold = !since.empty();  // where all of the log is read nothing is missing before an end
    do {
        TRY(const bool is_ours, hold());
        if (!is_ours) return retryable("another relay reads it by now");
        ++requests_;
        TRY(auto page, server_.events(conversation.id, since, page_id, stop));
        std::vector<AppEvent> events;
        for (AppEvent& event : page.items) {
            if (looked.ids.contains(hash_of(event.id))) continue;
            if (holds == nullptr) {
                events.push_back(std::move(event));
                continue;
            }
            if (looked.has_ids || event.timestamp > newest_before) ++holds->fresh;
            const bool waits = may_hold && (event.ends_run || !holds->held.empty());
            held_bytes += waits ? event.json.size() : 0;
            (waits ? holds->held : events).push_back(std::move(event));
        }
        if (held_bytes > most_held_bytes) {
            events.insert(events.end(), std::move_iterator(holds->held.begin()),
                          std::move_iterator(holds->held.end()));
            holds->held.clear();
            may_hold = false;
        }
        TRY_VOID(produce(conversation, looked, events, stop));
        if (page.next_page_id == page_id) break;
        page_id = page.next_page_id;
    } while (!page_id.empty());
    return {};
}

void AppPoll::reach(const AppConversation& conversation, const std::stop_token& stop) {
    if (conversation.agent_url.empty()) return;
    auto [found, is_new] = reached_.try_emplace(conversation.agent_url);
    Reached& reached = found->second;
    if (is_new || Clock::now() - reached.at >= rules_.reach_again) {
        HttpRequest request;
        request.url = conversation.agent_url + "/alive";
        request.timeout = to_reach;
        request.stop = stop;
        request.egress = rules_.egress;
        const auto answer = http_.send(request);
        reached = {answer.outcome == HttpOutcome::answered && answer.status < 500, Clock::now()};
    }
    if (reached.answers) observer_.reachable(conversation);
    constexpr std::size_t most = 10'000;
    if (reached_.size() > most) reached_.clear();
}

}  // namespace epilogue::relay
