#include "agent/relay/webhook/sender_keys.h"

#include <algorithm>

#include <openssl/crypto.h>

#include "base/ids.h"
#include "base/text.h"

namespace epilogue::relay {
KeyDigest digest_of_key(std::string_view key) {
    return sha256_hex("epilogue relay key\n" + std::string(key));
}

SenderKeys::SenderKeys(const std::vector<Secret>& entries) {
    for (const Secret& entry : entries) {
        std::vector<KeyDigest> keys;
        for (const std::string& key : split(entry.reveal(), ' ')) keys.push_back(digest_of_key(key));
        if (!keys.empty()) senders_.push_back(std::move(keys));
    }
}

std::optional<Sender> SenderKeys::sender_of(std::string_view offered) const {
    // Digests are of one length, and all of them are looked at.
    const KeyDigest digest = digest_of_key(offered);
    std::optional<Sender> found;
    for (std::size_t i = 0; i < senders_.size(); ++i)
        for (const KeyDigest& key : senders_[i])
            if (CRYPTO_memcmp(key.data(), digest.data(), key.size()) == 0) found = Sender{i, digest};
    return found;
}

Ownership SenderKeys::ownership(const Sender& sender, const KeyDigest& owner) const {
    if (owner == sender.key) return Ownership::own;
    const auto holds = [&](const std::vector<KeyDigest>& keys) {
        return std::ranges::find(keys, owner) != keys.end();
    };
    const auto holder = std::ranges::find_if(senders_, holds);
    if (holder == senders_.end()) return Ownership::inherited;
    return holder - senders_.begin() == static_cast<std::ptrdiff_t>(sender.number) ? Ownership::inherited
                                                                                   : Ownership::others;
}

}  // namespace epilogue::relay
