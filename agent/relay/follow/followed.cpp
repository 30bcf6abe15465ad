#include "agent/relay/follow/followed.h"

#include <functional>

#include <boost/asio/post.hpp>

#include "agent/log_page.h"
#include "agent/relay/follow/log_plan.h"
#include "agent/relay/follow/session_frame.h"
#include "agent/relay/follow/session_plan.h"
#include "base/backoff.h"
#include "base/io/log.h"

namespace epilogue::relay {
namespace {

using std::chrono::milliseconds;
using Kind = agent::AgentError::Kind;

constexpr std::size_t own_timer = 2;
constexpr milliseconds ask_features_again{5'000};
constexpr milliseconds look_for_room_again{100};
constexpr std::chrono::seconds pause_of_refused{300};
constexpr std::chrono::seconds pause_of_unknown{600};

std::size_t bytes_of(const agent::LogPage& page) {
    std::size_t bytes = 0;
    for (const auto& event : page.events) bytes += event.json.size();
    return bytes;
}

}  // namespace

Followed::Followed(std::shared_ptr<Loop> loop, RequestPool& pool, Claim claim,
                   std::shared_ptr<const agent::AgentServer> server, Clock::time_point lease_end)
    : loop_(std::move(loop)),
      pool_(pool),
      claim_(std::move(claim)),
      server_(std::move(server)),
      lease_end_(lease_end),
      connect_at_(loop_->context()),
      timers_{boost::asio::steady_timer(loop_->context()), boost::asio::steady_timer(loop_->context()),
              boost::asio::steady_timer(loop_->context())} {
    report_.update = {claim_.conversation_id, claim_.generation, claim_.position, 0, "", false,
                      claim_.key_mark};
    target_ = {
        server_->address(), claim_.conversation_id, server_->session_key(), agent::SocketAuth::query, {}};
    limits_ = loop_->shared().rules.socket;
}

void Followed::post(std::function<void(Followed&)> work) {
    boost::asio::post(loop_->context(), [weak = weak_from_this(), work = std::move(work)] {
        const auto self = weak.lock();
        if (self && !self->stopped_) work(*self);
    });
}

void Followed::start() {
    post([](Followed& self) { self.ask_features(); });
}

void Followed::stop() {
    // Held, so that its connection's last word finds it.
    boost::asio::post(loop_->context(), [self = shared_from_this()] {
        self->stopped_ = true;
        self->clear_outbox();
        self->connect_at_.cancel();
        for (auto& timer : self->timers_) timer.cancel();
        if (self->connection_) std::exchange(self->connection_, nullptr)->cut();
    });
}

void Followed::renewed(Clock::time_point lease_end) {
    post([lease_end](Followed& self) {
        self.lease_end_ = lease_end;
        self.go_on();
    });
}

Followed::Report Followed::report() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    const auto give_up_after = loop_->shared().rules.give_up_after;
    report_.lag = lag_.at(now);
    if (give_up_after.count() > 0 && trouble_since_ && now - *trouble_since_ > give_up_after && !report_.over)
        report_.over = std::chrono::seconds(0);
    Report copy = report_;
    report_.is_new = false;
    return copy;
}

void Followed::after(milliseconds pause, std::function<void(Followed&)> work) {
    timers_[own_timer].expires_after(pause);
    timers_[own_timer].async_wait(
        [weak = weak_from_this(), work = std::move(work)](boost::system::error_code cancelled) {
            const auto self = weak.lock();
            if (!cancelled && self && !self->stopped_) work(*self);
        });
}

void Followed::not_stored() {
    const std::lock_guard lock(mutex_);
    report_.is_new = true;
}

void Followed::ask_features() {
    pool_.add(server_->address().url(), false, [weak = weak_from_this(), server = server_, loop = loop_] {
        const auto features = server->features({}, loop->shared().requests.get_token());
        const auto self = weak.lock();
        if (!self) return;
        self->post([features](Followed& there) {
            if (features) {
                there.begin(*features);
                return;
            }
            there.in_trouble(Of::reading, features.error().text);
            there.after(ask_features_again, [](Followed& who) { who.ask_features(); });
        });
    });
}

void Followed::begin(const agent::Features& features) {
    in_trouble(Of::reading, "");
    is_session_ = features.session_socket;
    target_.auth = features.socket_auth;
    if (!limits_.quiet) limits_.quiet = agent::quiet_of(features);
    const PlanRules& rules = loop_->shared().rules.plan;
    if (is_session_)
        plan_ = std::make_unique<SessionPlan>(claim_.position, rules);
    else
        plan_ = std::make_unique<LogPlan>(claim_.position, rules);
    carry_out(plan_->begin());
}

void Followed::happened(Happening happening) {
    if (is_finished_) return;
    // What was not sent yet is read again from where the topic is.
    if (std::holds_alternative<GivenUp>(happening)) clear_outbox();
    carry_out(plan_->step(std::move(happening)));
}

void Followed::carry_out(Effects effects) {
    for (Effect& effect : effects) std::visit([this](auto& each) { carry_out(std::move(each)); }, effect);
    go_on();
    note_behind();
    if (loop_->shared().rules.until_caught_up && plan_->caught_up()) finish();
}

void Followed::finish() {
    over("", std::chrono::seconds(0));
    // What happens from now on is for the next one.
    is_finished_ = true;
    ++connections_;
    for (auto& timer : timers_) timer.cancel();
    connect_at_.cancel();
    if (connection_) std::exchange(connection_, nullptr)->cut();
}

void Followed::carry_out(Produce&& record) {
    loop_->shared().waiting_bytes += record.json.size();
    outbox_.push_back(std::move(record));
}

void Followed::clear_outbox() {
    for (const Produce& record : std::exchange(outbox_, {}))
        loop_->shared().waiting_bytes -= record.json.size();
}

bool Followed::may_produce() const {
    return Clock::now() + loop_->shared().rules.delivery < lease_end_;
}

void Followed::go_on() {
    if (sending_ || stopped_) return;
    sending_ = true;
    bool has_room = true;
    while (!outbox_.empty() && may_produce()) {
        has_room = send(outbox_.front());
        if (!has_room) break;
        loop_->shared().waiting_bytes -= outbox_.front().json.size();
        outbox_.pop_front();
    }
    sending_ = false;
    if (!has_room) loop_->wait_for_room(shared_from_this());
    if (connection_) {
        if (outbox_.empty())
            connection_->resume();
        else
            connection_->pause();
    }
    read_if_room();
}

bool Followed::send(const Produce& record) {
    const Ticket ticket = record.ticket;
    const auto settled = [weak = weak_from_this(), ticket](const Result<void>& result) {
        const auto self = weak.lock();
        if (!self) return;
        const bool kept = result.has_value();
        if (!kept) log_warn("the topic gave a record up", {{"cause", result.error().text}});
        self->post([ticket, kept](Followed& there) {
            there.happened(kept ? Happening(Acked{ticket}) : Happening(GivenUp{ticket}));
        });
    };
    auto made =
        loop_->shared().make_record({claim_.conversation_id, record.json, record.seq, record.run_over});
    if (!made) {
        settled({});
        return true;
    }
    return loop_->shared().topic.produce(std::move(*made), settled);
}

void Followed::carry_out(OpenSocket&& open) {
    target_.after_seq = open.after;
    ++connections_;  // what an older one still says is not heard
    if (connection_) std::exchange(connection_, nullptr)->cut();
    if (failures_ == 0 && open.pause.count() == 0) {
        connect();
        return;
    }
    std::uniform_real_distribution<double> uniform(0, 1);
    const auto pause =
        failures_ == 0 ? milliseconds(0)
                       : full_jitter(failures_, uniform(random_), limits_.backoff_base, limits_.backoff_cap);
    connect_at_.expires_after(std::max(pause, open.pause));
    connect_at_.async_wait([weak = weak_from_this()](boost::system::error_code cancelled) {
        const auto self = weak.lock();
        if (!cancelled && self && !self->stopped_) self->connect();
    });
}

void Followed::connect() {
    agent::ConnectionEvents events;
    const auto heard = [weak = weak_from_this(), number = connections_]() {
        auto self = weak.lock();
        return self && !self->stopped_ && self->connections_ == number ? self : nullptr;
    };
    events.on_open = [] {};
    events.on_frame = [heard](const std::string& text) {
        if (const auto self = heard()) self->frame(text);
    };
    // Held until it has ended: it refers to our target and limits.
    events.on_end = [heard, held = shared_from_this()](const agent::ConnectionEnd& end) {
        if (const auto self = heard()) self->connection_ended(end);
    };
    connection_ = agent::open_connection(loop_->context(), target_, limits_, std::move(events));
}

void Followed::frame(const std::string& text) {
    failures_ = 0;
    in_trouble(Of::socket, "");
    if (is_session_) {
        if (auto happening = parse_session_frame(text)) happened(std::move(*happening));
    } else if (auto event = agent::parse_event(text)) {
        happened(EventFrame{std::move(*event), std::nullopt});
    }
}

void Followed::connection_ended(const agent::ConnectionEnd& end) {
    connection_.reset();
    if (end.fatal && end.fatal->kind == Kind::unauthorised) {
        over(end.fatal->text, pause_of_refused);
        return;
    }
    if (end.fatal) {
        happened(NotFound{});
        return;
    }
    if (!end.too_large) {
        ++failures_;
        in_trouble(Of::socket, end.cause);
    }
    happened(SocketDown{end.too_large});
}

void Followed::carry_out(ReadPage&& page) {
    ++pages_asked_;
    page_wanted_ = std::move(page);
}

void Followed::read_if_room() {
    const FollowShared& shared = loop_->shared();
    if (!page_wanted_ || !outbox_.empty()) return;
    if (shared.waiting_bytes > shared.rules.waiting_bytes) {
        after(look_for_room_again, [](Followed& self) { self.read_if_room(); });
        return;
    }
    const bool heavy = page_wanted_->page_id.empty();
    pool_.add(server_->address().url(), heavy,
              [weak = weak_from_this(), server = server_, loop = loop_, id = claim_.conversation_id.text(),
               number = pages_asked_, page = *std::exchange(page_wanted_, std::nullopt)] {
                  if (weak.expired()) return;
                  const auto began = Clock::now();
                  auto read = agent::read_log_page(*server, id, page.page_id, page.newest_first,
                                                   loop->shared().requests.get_token());
                  const auto took = std::chrono::ceil<milliseconds>(Clock::now() - began);
                  const auto self = weak.lock();
                  if (!self) return;
                  const std::size_t bytes = read ? bytes_of(*read) : 0;
                  loop->shared().waiting_bytes += bytes;
                  const std::shared_ptr<void> counted(
                      nullptr, [loop, bytes](void*) { loop->shared().waiting_bytes -= bytes; });
                  self->post([number, took, counted, read = std::move(read)](Followed& there) mutable {
                      if (number != there.pages_asked_) return;
                      if (!read) return there.failed(read.error());
                      there.in_trouble(Of::reading, "");
                      there.happened(PageRead{std::move(read->events), read->next_page_id, took});
                  });
              });
}

void Followed::carry_out(AskCount&&) {
    pool_.add(server_->address().url(), false,
              [weak = weak_from_this(), server = server_, loop = loop_, id = claim_.conversation_id.text(),
               number = ++counts_asked_] {
                  if (weak.expired()) return;
                  const auto count = agent::count_log(*server, id, loop->shared().requests.get_token());
                  const auto self = weak.lock();
                  if (!self) return;
                  self->post([number, count](Followed& there) {
                      if (number != there.counts_asked_) return;
                      if (!count) return there.failed(count.error());
                      there.in_trouble(Of::reading, "");
                      there.happened(CountRead{static_cast<std::int64_t>(*count)});
                  });
              });
}

void Followed::failed(const agent::AgentError& error) {
    switch (error.kind) {
        case Kind::closed:
            return;
        case Kind::unauthorised:
            over(error.text, pause_of_refused);
            return;
        case Kind::not_found:
            happened(NotFound{});
            return;
        default:
            in_trouble(Of::reading, error.text);
            happened(ReadFailed{error.retry_after});
    }
}

void Followed::carry_out(SetTimer&& set) {
    auto& timer = timers_.at(static_cast<std::size_t>(set.timer));
    timer.expires_after(set.after);
    timer.async_wait([weak = weak_from_this(), which = set.timer](boost::system::error_code cancelled) {
        const auto self = weak.lock();
        if (!cancelled && self && !self->stopped_) self->happened(TimerFired{which});
    });
}

void Followed::carry_out(Moved&& moved) {
    const std::lock_guard lock(mutex_);
    report_.update.position = std::move(moved.position);
    report_.is_new = true;
}

void Followed::carry_out(GapSeen&& gap) {
    loop_->shared().observer.gap(gap);
}

void Followed::carry_out(Ended&&) {
    over("the agent server does not know the conversation", pause_of_unknown);
}

void Followed::over(std::string why, std::chrono::seconds pause) {
    in_trouble(Of::socket, "");
    in_trouble(Of::reading, std::move(why));
    const std::lock_guard lock(mutex_);
    report_.over = pause;
}

void Followed::in_trouble(Of what, std::string why) {
    const std::lock_guard lock(mutex_);
    troubles_.at(static_cast<std::size_t>(what)) = std::move(why);
    const auto& [socket, reading] = troubles_;
    const std::string& trouble = reading.empty() ? socket : reading;
    if (trouble.empty())
        trouble_since_.reset();
    else if (!trouble_since_)
        trouble_since_ = Clock::now();
    if (report_.update.trouble == trouble) return;
    report_.update.trouble = trouble;
    report_.is_new = true;
}

void Followed::note_behind() {
    const std::lock_guard lock(mutex_);
    const std::int64_t in_topic = plan_->position().next;
    lag_.note(in_topic + plan_->behind(), in_topic, Clock::now());
    if (report_.update.behind == plan_->behind()) return;
    report_.update.behind = plan_->behind();
    report_.is_new = true;
}

}  // namespace epilogue::relay
