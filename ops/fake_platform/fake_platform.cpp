#include "ops/fake_platform/fake_platform.h"

#include "ops/fake_platform/held_request.h"
#include "ops/fake_platform/platform_api.h"
#include "ops/fake_platform/rules.h"

namespace epilogue::fake_platform {

struct FakePlatform::Held {
    HeldRequest request;
    Entry entry;
};

FakePlatform::FakePlatform() : rules_(std::make_unique<RuleBook>()) {}

FakePlatform::~FakePlatform() = default;

Reply FakePlatform::handle(const Request& request) {
    const PlatformApi* api = platform_api_of(request.path);
    if (api == nullptr) return json_reply(404, R"({"message":"no such platform"})");
    std::unique_lock lock(mutex_);
    if (closed_) return no_reply(Ending::close);
    const Entry entry = log_request(request);
    const std::optional<Fault> fault = rules_->next(request);
    if (fault) entry->action = fault->name;
    Reply reply = fault ? serve_with_fault(lock, *api, request, *fault, entry) : serve(*api, request, *entry);
    if (reply.ending == Ending::answer) entry->status = reply.status;
    changed_.notify_all();
    return reply;
}

FakePlatform::Entry FakePlatform::log_request(const Request& request) {
    auto entry = std::make_shared<LogEntry>();
    entry->n = log_.size() + 1;
    entry->at = system_now();
    entry->method = request.method;
    entry->path = request.path;
    entry->query = request.query;
    entry->body = request.body;
    log_.push_back(entry);
    const bool posts = !request.path.ends_with("/chat.delete") &&  // Slack has no DELETE, and no PATCH
                       !request.path.ends_with("/chat.update") && !request.path.ends_with("/access_tokens");
    const bool is_graphql = request.path.ends_with("/graphql");  // Linear has POST alone
    const auto has = [&](std::string_view text) { return request.body.find(text) != std::string::npos; };
    const bool reads = request.method == "GET" || (is_graphql && !has("mutation("));
    const bool is_post = request.method == "POST" && (is_graphql ? has("commentCreate(") : posts);
    if (is_post) ++totals_.attempts;
    if (reads) ++totals_.lookups;
    return entry;
}

Reply FakePlatform::serve_with_fault(std::unique_lock<std::mutex>& lock, const PlatformApi& api,
                                     const Request& request, const Fault& fault, const Entry& entry) {
    const auto apply = [&] { return serve(api, request, *entry); };
    switch (fault.action) {
        case FaultAction::apply_then_hang:
            return hold(lock, request, entry, [reply = apply()] { return reply; });
        case FaultAction::hang:
            return hold(lock, request, entry, apply);
        case FaultAction::apply_then_reset:
            apply();
            return no_reply(Ending::reset);
        case FaultAction::reset:
            return no_reply(Ending::reset);
        case FaultAction::apply_then_status:
            apply();
            return fault.answer;
        case FaultAction::status:
            return fault.answer;
        case FaultAction::apply_twice: {
            Reply first = apply();
            apply();
            return first;
        }
        case FaultAction::hide:
            return hide(api, request, fault, *entry);
        case FaultAction::delay:
            return answer_late(lock, fault.wait, apply());
        case FaultAction::half_answer: {
            Reply half = apply();
            half.ending = Ending::half;
            return half;
        }
        case FaultAction::suppress:
            return suppress(api, request);
    }
    return fault.answer;
}

Reply FakePlatform::serve(const PlatformApi& api, const Request& request, LogEntry& entry) {
    const std::int64_t first = store_.next_id();
    const std::size_t before = store_.comments().size();
    Reply reply = api.serve(request, store_);
    totals_.applied += static_cast<std::size_t>(store_.next_id() - first);
    if (store_.comments().size() != before) entry.applied = true;
    for (std::int64_t id = first; id < store_.next_id(); ++id) entry.made.push_back(id);
    return reply;
}

Reply FakePlatform::hide(const PlatformApi& api, const Request& request, const Fault& fault,
                         LogEntry& entry) {
    const std::int64_t first = store_.next_id();
    Reply reply = serve(api, request, entry);
    for (std::int64_t id = first; id < store_.next_id(); ++id) store_.hide(id, system_now() + fault.wait);
    return reply;
}

Reply FakePlatform::suppress(const PlatformApi& api, const Request& request) {
    // Made and taken back under the lock: the answer is a real one, with an id that nothing will ever have.
    const std::int64_t first = store_.next_id();
    Reply reply = api.serve(request, store_);
    for (std::int64_t id = first; id < store_.next_id(); ++id) store_.remove(id);
    return reply;
}

Reply FakePlatform::hold(std::unique_lock<std::mutex>& lock, const Request& request, const Entry& entry,
                         const std::function<Reply()>& answer) {
    const auto held = std::make_shared<Held>();
    held->entry = entry;
    entry->held = true;
    held_.insert(held);
    ++totals_.held_total;
    if (entry->applied) ++totals_.held_applied_total;
    changed_.notify_all();
    lock.unlock();
    const HeldRequest::Outcome outcome = held->request.wait(request.peer);
    lock.lock();
    held_.erase(held);
    entry->held = false;
    return outcome == HeldRequest::Outcome::answer && !closed_ ? answer() : no_reply(Ending::close);
}

Reply FakePlatform::answer_late(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait,
                                Reply reply) {
    changed_.notify_all();
    changed_.wait_for(lock, wait, [this] { return closed_; });
    return closed_ ? no_reply(Ending::close) : reply;
}

void FakePlatform::rules(std::string_view json) {
    const std::lock_guard lock(mutex_);
    rules_->read(json);
}

void FakePlatform::release(bool drop) {
    const std::lock_guard lock(mutex_);
    release_locked(drop);
}

void FakePlatform::release_locked(bool drop) {
    for (const auto& held : held_) {
        held->entry->held = false;
        held->request.release(drop);
    }
    held_.clear();
    changed_.notify_all();
}

void FakePlatform::accept_tokens(std::set<std::string> tokens) {
    const std::lock_guard lock(mutex_);
    store_.set_tokens(std::move(tokens));
}

void FakePlatform::set_scopes(const std::string& platform, std::string scopes) {
    const std::lock_guard lock(mutex_);
    store_.set_scopes(platform, std::move(scopes));
}

void FakePlatform::set_place(const std::string& platform, const std::string& place, PlaceState state) {
    const std::lock_guard lock(mutex_);
    store_.set_state(platform, place, state);
}

void FakePlatform::with_app(const std::function<void(GithubApp&)>& use) {
    const std::lock_guard lock(mutex_);
    use(store_.app());
}

std::int64_t FakePlatform::seed(Comment comment) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return store_.add(std::move(comment)).id;
}

bool FakePlatform::edit(std::int64_t id, std::string body) {
    const std::lock_guard lock(mutex_);
    return store_.edit(id, std::move(body));
}

bool FakePlatform::remove(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return store_.remove(id);
}

void FakePlatform::pass(Micros time) {
    const std::lock_guard lock(mutex_);
    store_.pass(time);
}

void FakePlatform::reset() {
    const std::lock_guard lock(mutex_);
    release_locked(true);
    rules_->clear();
    store_ = CommentStore{};
    log_.clear();
    totals_ = Counts{};
}

Counts FakePlatform::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_locked();
}

Counts FakePlatform::counts_locked() const {
    Counts counts = totals_;
    counts.visible = store_.comments().size();
    counts.held = held_.size();
    return counts;
}

std::vector<LogEntry> FakePlatform::log() const {
    const std::lock_guard lock(mutex_);
    std::vector<LogEntry> entries;
    entries.reserve(log_.size());
    for (const Entry& entry : log_) entries.push_back(*entry);
    return entries;
}

std::vector<Comment> FakePlatform::visible() const {
    const std::lock_guard lock(mutex_);
    std::vector<Comment> comments;
    for (const auto& [id, comment] : store_.comments()) comments.push_back(comment);
    return comments;
}

bool FakePlatform::wait_until(const std::function<bool(const Counts&)>& reached,
                              std::chrono::milliseconds timeout) const {
    std::unique_lock lock(mutex_);
    bool done = false;
    changed_.wait_for(lock, timeout, [&] { return (done = reached(counts_locked())) || closed_; });
    return done;
}

void FakePlatform::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    release_locked(true);
}

}  // namespace epilogue::fake_platform
