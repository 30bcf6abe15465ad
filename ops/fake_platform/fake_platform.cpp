#include "ops/fake_platform/fake_platform.h"

#include "ops/fake_platform/held_request.h"
#include "ops/fake_platform/platform_api.h"
#include "ops/fake_platform/rules.h"

namespace epilogue::standin {

struct Desk::Held {
    Gate gate;
    Entry entry;
};

Desk::Desk() : rules_(std::make_unique<RuleBook>()) {}

Desk::~Desk() = default;

Reply Desk::handle(const Request& request) {
    const Platform* platform = platform_of(request.path);
    if (platform == nullptr) return json_reply(404, R"({"message":"no such platform"})");
    std::unique_lock lock(mutex_);
    if (closed_) return no_reply(Ending::close);
    const Entry entry = note(request);
    const std::optional<Script> script = rules_->next(request);
    if (script) entry->action = script->name;
    Reply reply = script ? play(lock, *platform, request, *script, entry) : serve(*platform, request, *entry);
    if (reply.ending == Ending::answer) entry->status = reply.status;
    changed_.notify_all();
    return reply;
}

Desk::Entry Desk::note(const Request& request) {
    auto entry = std::make_shared<LogEntry>();
    entry->n = log_.size() + 1;
    entry->at = system_now();
    entry->method = request.method;
    entry->path = request.path;
    entry->query = request.query;
    entry->body = request.body;
    log_.push_back(entry);
    const bool deletes = request.path.ends_with("/chat.delete");  // Slack has no DELETE
    if (request.method == "POST" && !deletes) ++totals_.attempts;
    if (request.method == "GET") ++totals_.lookups;
    return entry;
}

Reply Desk::play(std::unique_lock<std::mutex>& lock, const Platform& platform, const Request& request,
                 const Script& script, const Entry& entry) {
    const auto apply = [&] { return serve(platform, request, *entry); };
    switch (script.deed) {
        case Deed::apply_then_hang:
            return hold(lock, request, entry, [reply = apply()] { return reply; });
        case Deed::hang:
            return hold(lock, request, entry, apply);
        case Deed::apply_then_reset:
            apply();
            return no_reply(Ending::reset);
        case Deed::reset:
            return no_reply(Ending::reset);
        case Deed::apply_then_status:
            apply();
            return script.answer;
        case Deed::status:
            return script.answer;
        case Deed::apply_twice: {
            Reply first = apply();
            apply();
            return first;
        }
        case Deed::hide:
            return hide(platform, request, script, *entry);
        case Deed::delay:
            return held_back(lock, script.wait, apply());
        case Deed::half_answer: {
            Reply half = apply();
            half.ending = Ending::half;
            return half;
        }
        case Deed::suppress:
            return suppress(platform, request);
    }
    return script.answer;
}

Reply Desk::serve(const Platform& platform, const Request& request, LogEntry& entry) {
    const std::int64_t first = board_.next_id();
    const std::size_t before = board_.comments().size();
    Reply reply = platform.serve(request, board_);
    totals_.applied += static_cast<std::size_t>(board_.next_id() - first);
    if (board_.comments().size() != before) entry.applied = true;
    for (std::int64_t id = first; id < board_.next_id(); ++id) entry.made.push_back(id);
    return reply;
}

Reply Desk::hide(const Platform& platform, const Request& request, const Script& script, LogEntry& entry) {
    const std::int64_t first = board_.next_id();
    Reply reply = serve(platform, request, entry);
    for (std::int64_t id = first; id < board_.next_id(); ++id) board_.hide(id, system_now() + script.wait);
    return reply;
}

Reply Desk::suppress(const Platform& platform, const Request& request) {
    // Made and taken back under the lock: the answer is a real one, with an id that nothing will ever have.
    const std::int64_t first = board_.next_id();
    Reply reply = platform.serve(request, board_);
    for (std::int64_t id = first; id < board_.next_id(); ++id) board_.remove(id);
    return reply;
}

Reply Desk::hold(std::unique_lock<std::mutex>& lock, const Request& request, const Entry& entry,
                 const std::function<Reply()>& answer) {
    const auto held = std::make_shared<Held>();
    held->entry = entry;
    entry->held = true;
    held_.insert(held);
    ++totals_.held_total;
    if (entry->applied) ++totals_.held_applied_total;
    changed_.notify_all();
    lock.unlock();
    const Gate::Passed passed = held->gate.wait(request.peer);
    lock.lock();
    held_.erase(held);
    entry->held = false;
    return passed == Gate::Passed::answering && !closed_ ? answer() : no_reply(Ending::close);
}

Reply Desk::held_back(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait, Reply reply) {
    changed_.notify_all();
    changed_.wait_for(lock, wait, [this] { return closed_; });
    return closed_ ? no_reply(Ending::close) : reply;
}

void Desk::rules(std::string_view json) {
    const std::lock_guard lock(mutex_);
    rules_->read(json);
}

void Desk::release(bool drop) {
    const std::lock_guard lock(mutex_);
    release_locked(drop);
}

void Desk::release_locked(bool drop) {
    for (const auto& held : held_) {
        held->entry->held = false;
        held->gate.open(drop);
    }
    held_.clear();
    changed_.notify_all();
}

void Desk::accept_tokens(std::set<std::string> tokens) {
    const std::lock_guard lock(mutex_);
    board_.set_tokens(std::move(tokens));
}

void Desk::set_scopes(const std::string& platform, std::string scopes) {
    const std::lock_guard lock(mutex_);
    board_.set_scopes(platform, std::move(scopes));
}

void Desk::set_place(const std::string& platform, const std::string& place, PlaceState state) {
    const std::lock_guard lock(mutex_);
    board_.set_state(platform, place, state);
}

std::int64_t Desk::seed(Comment comment) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return board_.add(std::move(comment)).id;
}

bool Desk::edit(std::int64_t id, std::string body) {
    const std::lock_guard lock(mutex_);
    return board_.edit(id, std::move(body));
}

bool Desk::remove(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return board_.remove(id);
}

void Desk::pass(Micros time) {
    const std::lock_guard lock(mutex_);
    board_.pass(time);
}

void Desk::reset() {
    const std::lock_guard lock(mutex_);
    release_locked(true);
    rules_->clear();
    board_ = Board{};
    log_.clear();
    totals_ = Counts{};
}

Counts Desk::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_locked();
}

Counts Desk::counts_locked() const {
    Counts counts = totals_;
    counts.visible = board_.comments().size();
    counts.held = held_.size();
    return counts;
}

std::vector<LogEntry> Desk::log() const {
    const std::lock_guard lock(mutex_);
    std::vector<LogEntry> entries;
    entries.reserve(log_.size());
    for (const Entry& entry : log_) entries.push_back(*entry);
    return entries;
}

std::vector<Comment> Desk::visible() const {
    const std::lock_guard lock(mutex_);
    std::vector<Comment> comments;
    for (const auto& [id, comment] : board_.comments()) comments.push_back(comment);
    return comments;
}

bool Desk::wait_until(const std::function<bool(const Counts&)>& reached,
                      std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    bool done = false;
    changed_.wait_for(lock, timeout, [&] { return (done = reached(counts_locked())) || closed_; });
    return done;
}

void Desk::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    release_locked(true);
}

}  // namespace epilogue::standin
