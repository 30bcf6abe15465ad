// Tokens that a platform gives for a while, by what they are for. They are asked for by the dialogues that
// need them: one renews, before the token ends, and meanwhile the others use the one there is.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/instant.h"

namespace epilogue {

/// Thread-safe; outlives the renewals.
class ExpiringTokens {
  public:
    /// The right to ask for a new token; who has it must ask. Given up when it ends without done() or
    /// put_off().
    class Renewal {
      public:
        Renewal(Renewal&& other) noexcept
            : tokens_(std::exchange(other.tokens_, nullptr)), key_(std::move(other.key_)) {}
        Renewal(const Renewal&) = delete;
        Renewal& operator=(const Renewal&) = delete;
        Renewal& operator=(Renewal&&) = delete;
        ~Renewal() { give_up(); }

        /// The new token, given at `now`.
        void done(std::string token, Instant now, Micros lifetime);
        /// The platform could not be asked: the token until now, or "" when that is of no more use. Others
        /// ask again when half of what it has left is over.
        std::string put_off(Instant now);

      private:
        friend class ExpiringTokens;

        Renewal(ExpiringTokens& tokens, std::string key) : tokens_(&tokens), key_(std::move(key)) {}
        void give_up();

        ExpiringTokens* tokens_;  // null: over
        std::string key_;
    };
    /// There is no token until another dialogue has renewed it.
    struct Busy {};

    /// A token of `key` that is good at `now`. `refused`: one that the platform has refused, and is not to be
    /// handed out again; "" for none.
    std::variant<std::string, Renewal, Busy> ask(const std::string& key, std::string_view refused,
                                                 Instant now);

  private:
    struct Entry {
        std::string token;
        Instant renew_from{};
        Instant ends{};
        bool is_renewed = false;  // now, by a dialogue
    };

    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

}  // namespace epilogue
