#include "agent/relay/webhook/known_owners.h"

#include <utility>

#include "base/thread_name.h"

namespace epilogue::relay {

KnownOwners::KnownOwners(ConversationOwners& owners, const SenderKeys& keys) : owners_(owners), keys_(keys) {
    constexpr int threads = 2;
    for (int i = 0; i < threads; ++i)
        threads_.push_back(named_thread("relay-owners", [this](const auto& stop) { run(stop); }));
}

KnownOwners::~KnownOwners() {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
    for (const OwnerQuery& question : questions_) question.then(retryable("the relay is ending"));
}

void KnownOwners::check(const Sender& sender, const std::vector<ConversationId>& conversations,
                        Checked then) {
    OwnerQuery question{sender, conversations, std::move(then)};
    std::unique_lock lock(mutex_);
    auto answer = from_memory(question);
    if (!answer) {
        questions_.push_back(std::move(question));
        lock.unlock();
        asked_.notify_one();
        return;
    }
    lock.unlock();
    question.then(std::move(*answer));
}

std::optional<KeyDigest> KnownOwners::known(const ConversationId& conversation) const {
    for (const auto* memory : {&newer_, &older_})
        if (const auto found = memory->find(conversation); found != memory->end()) return found->second;
    return std::nullopt;
}

void KnownOwners::remember(const ConversationId& conversation, const KeyDigest& owner) {
    if (newer_.size() >= remembered) older_ = std::exchange(newer_, {});
    newer_[conversation] = owner;
}

std::optional<std::set<ConversationId>> KnownOwners::from_memory(const OwnerQuery& question) const {
    std::set<ConversationId> forbidden;
    for (const ConversationId& conversation : question.conversations) {
        const auto owner = known(conversation);
        if (!owner) return std::nullopt;
        const Ownership whose = keys_.ownership(question.sender, *owner);
        if (whose == Ownership::inherited) return std::nullopt;
        if (whose == Ownership::others) forbidden.insert(conversation);
    }
    return forbidden;
}

Result<std::set<ConversationId>> KnownOwners::from_store(const OwnerQuery& question) {
    TRY(const auto found, owners_.claim(question.conversations, question.sender.key));
    std::set<ConversationId> forbidden;
    for (const auto& [conversation, owner] : found) {
        const Ownership whose = keys_.ownership(question.sender, owner);
        if (whose == Ownership::inherited)
            TRY_VOID(owners_.hand_over(conversation, owner, question.sender.key));
        if (whose == Ownership::others) forbidden.insert(conversation);
        const std::lock_guard lock(mutex_);
        // One that was handed over is asked about once more: another sender may have been first.
        if (whose != Ownership::inherited) remember(conversation, owner);
    }
    return forbidden;
}

void KnownOwners::run(const std::stop_token& stop) {
    while (true) {
        std::unique_lock lock(mutex_);
        if (!asked_.wait(lock, stop, [this] { return !questions_.empty(); })) return;
        const OwnerQuery question = std::move(questions_.front());
        questions_.pop_front();
        lock.unlock();
        question.then(from_store(question));
    }
}

}  // namespace epilogue::relay
