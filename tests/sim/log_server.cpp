#include "tests/sim/log_server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace epilogue::sim {
namespace {

using namespace std::chrono_literals;
using relay::EventFrame;
using relay::PageRead;

constexpr std::size_t page_size = 5;  // small, so that there are several pages

agent::RemoteEvent event_at(std::string id, Micros time) {
    agent::RemoteEvent event;
    event.id = std::move(id);
    event.timestamp = fmt::format("{:015}", time.count());
    event.kind = "MessageEvent";
    event.json = event.id;
    return event;
}

agent::RemoteEvent state_at(std::string id, Micros time, const char* key) {
    agent::RemoteEvent event = event_at(std::move(id), time);
    event.kind = "ConversationStateUpdateEvent";
    event.key = key;
    event.status = "finished";
    return event;
}

}  // namespace

void LogServer::happens(bool ends) {
    const std::string id = fmt::format("{}{}", ends ? "end" : "e", made_++);
    if (!ends) {
        agent::RemoteEvent event = event_at(id, schedule_.now());
        // Made by a thread that has to wait for its turn to write.
        const bool late = schedule_.random.chance(troubles_.written_late);
        if (schedule_.random.chance(troubles_.too_large)) large_.insert(id);
        schedule_.after(late ? schedule_.random.between(1ms, 2s) : 0us,
                        [this, event = std::move(event)] { write(event); });
        return;
    }
    write(state_at(id, schedule_.now(), "execution_status"));
    // When a run is over; no log holds it.
    schedule_.after(schedule_.random.between(1ms, 20ms), [this, id] {
        const auto snapshot = state_at("over " + id, schedule_.now(), "full_state");
        for (const auto& [client, socket] : sockets_)
            send(socket, EventFrame{snapshot, std::nullopt}, schedule_.random.between(1ms, 30ms));
    });
}

void LogServer::write(agent::RemoteEvent event) {
    const auto place =
        numbered_ ? log_.end()
                  : std::upper_bound(log_.begin(), log_.end(), event,
                                     [](const auto& a, const auto& b) { return a.timestamp < b.timestamp; });
    if (agent::ends_run(event.status)) {
        auto& before = before_[event.id];
        for (auto each = log_.begin(); each != place; ++each) before.insert(each->id);
    }
    schedule_.say("written: {} at {}", event.id, place - log_.begin());
    log_.insert(place, event);
    publish(event);
}

void LogServer::publish(const agent::RemoteEvent& event) {
    std::vector<int> clients;
    for (const auto& [client, socket] : sockets_) clients.push_back(client);
    for (const int client : clients) {
        if (numbered_) {
            send_numbered(client, log_.size() - 1, !schedule_.random.chance(troubles_.unnumbered));
            continue;
        }
        const bool late = schedule_.random.chance(troubles_.frame_late);
        send(sockets_.at(client), EventFrame{event, std::nullopt},
             late ? schedule_.random.between(50ms, 500ms) : schedule_.random.between(1ms, 30ms));
    }
}

void LogServer::send(const std::shared_ptr<Socket>& socket, relay::Happening frame, Micros delay) {
    if (socket->is_deaf || schedule_.random.chance(troubles_.frame_lost)) return;
    const Micros arrives =
        numbered_ ? std::max(socket->last, schedule_.now() + delay) : schedule_.now() + delay;
    socket->last = arrives;
    schedule_.at(arrives, [socket, frame = std::move(frame)]() mutable { socket->tell(std::move(frame)); });
}

bool LogServer::send_numbered(int client, std::size_t index, bool has_number) {
    const auto& event = log_.at(index);
    if (large_.contains(event.id)) {
        end(client, true);
        return false;
    }
    const auto number = has_number ? std::optional(static_cast<std::int64_t>(index)) : std::nullopt;
    send(sockets_.at(client), EventFrame{event, number}, schedule_.random.between(1ms, 30ms));
    return true;
}

void LogServer::end(int client, bool too_large) {
    const auto socket = sockets_.at(client);
    sockets_.erase(client);
    if (socket->is_deaf) return;
    schedule_.at(std::max(socket->last, schedule_.now() + 1ms),
                 [socket, too_large] { socket->tell(relay::SocketDown{too_large}); });
}

void LogServer::goes_away(Micros back) {
    schedule_.say("the server goes away");
    away_until_ = back;
    while (!sockets_.empty()) end(sockets_.begin()->first, false);
}

void LogServer::open(int client, const relay::OpenSocket& wanted, Tell tell) {
    sockets_.erase(client);
    schedule_.after(schedule_.random.between(1ms, 200ms), [this, client, wanted, tell = std::move(tell)] {
        if (schedule_.now() < away_until_) {
            tell(relay::SocketDown{});
            return;
        }
        const auto socket = std::make_shared<Socket>(Socket{tell, false, schedule_.now()});
        sockets_[client] = socket;
        send(socket, EventFrame{state_at("snapshot", schedule_.now(), "full_state"), std::nullopt}, 1ms);
        if (numbered_) {
            const auto count = static_cast<std::int64_t>(log_.size());
            send(socket, relay::SyncFrame{count == 0 ? std::nullopt : std::optional(count - 1)}, 1ms);
            for (auto index = static_cast<std::size_t>(*wanted.after + 1); index < log_.size(); ++index)
                if (!send_numbered(client, index)) return;
        }
        if (schedule_.random.chance(troubles_.deaf))
            schedule_.after(schedule_.random.between(1ms, 10s), [socket] { socket->is_deaf = true; });
    });
}

void LogServer::answer(const Tell& tell, std::function<relay::Happening()> what) {
    const Micros out = schedule_.random.between(1ms, 100ms);
    schedule_.after(out, [this, tell, what = std::move(what)] {
        const bool fails = schedule_.now() < away_until_ || schedule_.random.chance(troubles_.read_fails);
        // What stands now is what is told, and it is told a little later.
        schedule_.after(schedule_.random.between(1ms, 100ms),
                        [tell, happening = fails ? relay::Happening(relay::ReadFailed{}) : what()]() mutable {
                            tell(std::move(happening));
                        });
    });
}

void LogServer::read(const relay::ReadPage& wanted, const Tell& tell) {
    answer(tell, [this, wanted]() -> relay::Happening {
        auto shown = log_;
        if (wanted.newest_first) std::reverse(shown.begin(), shown.end());
        auto from = std::find_if(shown.begin(), shown.end(),
                                 [&](const auto& event) { return event.id == wanted.page_id; });
        if (from == shown.end()) from = shown.begin();
        PageRead page;
        for (; from != shown.end() && page.events.size() < page_size; ++from) page.events.push_back(*from);
        if (from != shown.end()) page.next_page_id = from->id;
        return page;
    });
}

void LogServer::count(const Tell& tell) {
    answer(tell,
           [this]() -> relay::Happening { return relay::CountRead{static_cast<std::int64_t>(log_.size())}; });
}

}  // namespace epilogue::sim
