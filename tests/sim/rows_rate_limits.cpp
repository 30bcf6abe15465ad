// Rate windows, their queues and credentials, as a transaction sees them.
#include <algorithm>

#include "tests/sim/rows.h"
#include "tests/sim/session.h"

namespace epilogue::sim {
namespace {

template <class Row>
Row committed(const std::map<std::string, Row>& rows, const std::string& name) {
    const auto found = rows.find(name);
    return found == rows.end() ? Row{} : found->second;
}

}  // namespace

Result<RateWindow> SimRateLimitRows::read(const std::string& window) {
    TRY_VOID(transaction_.statement());
    return committed(transaction_.database().windows, window).window;
}

Result<RateWindow> SimRateLimitRows::share_lock(const std::string& window) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('w', window, true));
    return committed(transaction_.database().windows, window).window;
}

Result<RateWindow> SimRateLimitRows::lock(const std::string& window) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('w', window));
    const auto& changed = transaction_.changes().windows;
    return committed(changed.contains(window) ? changed : transaction_.database().windows, window).window;
}

Result<void> SimRateLimitRows::update(const std::string& window, const RateWindow& row, Instant open_at) {
    TRY_VOID(transaction_.statement());
    transaction_.changes().windows[window] = {row, open_at};
    return {};
}

Result<std::vector<std::string>> SimRateLimitRows::open_queues(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<std::string> open;
    for (const auto& [name, stored] : transaction_.database().windows)
        if (stored.window.waiting && stored.open_at <= transaction_.database().now() && open.size() < limit &&
            !transaction_.database().waits_for_platform(name))
            open.push_back(name);
    return open;
}

Result<std::vector<DueDelivery>> SimRateLimitRows::queue_heads(const std::string& window, std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<DueDelivery> heads;
    const auto line = transaction_.database().lines.find(window);
    if (line == transaction_.database().lines.end()) return heads;
    for (const std::int64_t ordinal : line->second) {
        const DeliveryRow& row = transaction_.database().deliveries.at(ordinal);
        if (is_free(row, transaction_.database().now()) && transaction_.database().is_first(ordinal, row))
            heads.push_back({row.id, row.sink});
        if (heads.size() == limit) break;
    }
    return heads;
}

Result<bool> SimRateLimitRows::has_queue(const std::string& window) {
    TRY_VOID(transaction_.statement());
    const auto line = transaction_.database().lines.find(window);
    return line != transaction_.database().lines.end() && !line->second.empty();
}

Result<CredentialRow> SimCredentialRows::read(const std::string& credential) {
    TRY_VOID(transaction_.statement());
    return committed(transaction_.database().credentials, credential);
}

Result<CredentialRow> SimCredentialRows::lock(const std::string& credential) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('e', credential));
    const auto& changed = transaction_.changes().credentials;
    return committed(changed.contains(credential) ? changed : transaction_.database().credentials,
                     credential);
}

Result<void> SimCredentialRows::update(const std::string& credential, const CredentialRow& row) {
    TRY_VOID(transaction_.statement());
    transaction_.changes().credentials[credential] = row;
    return {};
}

Result<std::vector<std::string>> SimCredentialRows::unsettled(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<std::string> names;
    for (const auto& [name, row] : transaction_.database().credentials)
        if (row.unsettled && names.size() < limit) names.push_back(name);
    return names;
}

Result<std::vector<std::string>> SimCredentialRows::to_probe(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<std::string> names;
    for (const auto& [name, row] : transaction_.database().credentials)
        if (row.parked_since && row.probe_at <= transaction_.database().now() && names.size() < limit)
            names.push_back(name);
    return names;
}

Result<std::vector<DownCredential>> SimCredentialRows::down(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const Instant now = transaction_.database().now();
    std::vector<DownCredential> down;
    for (const auto& [name, row] : transaction_.database().credentials)
        if ((row.posts.is_open() || row.look_ups.is_open()) && down.size() < limit)
            down.push_back(
                {name, row.posts.probe_at && *row.posts.probe_at <= now,
                 row.look_ups.probe_at && *row.look_ups.probe_at <= now,
                 row.look_ups.is_open() && now < *row.look_ups.probe_at + std::chrono::seconds{2}});
    return down;
}

Result<std::vector<DueDelivery>> SimCredentialRows::held_posts(const std::string& credential,
                                                               const std::string& look_queue, bool newest,
                                                               std::size_t limit) {
    TRY_VOID(transaction_.statement());
    const Database& database = transaction_.database();
    std::vector<DueDelivery> held;
    for (const auto& [queue, ordinals] : database.lines) {
        if (queue == look_queue) continue;
        const auto take = [&](std::int64_t ordinal) {
            const DeliveryRow& row = database.deliveries.at(ordinal);
            const bool may = row.credential == credential && is_free(row, database.now()) &&
                             database.is_first(ordinal, row);
            if (may && held.size() < limit) held.push_back({row.id, row.sink});
            return held.size() < limit;
        };
        if (newest)
            static_cast<void>(std::all_of(ordinals.rbegin(), ordinals.rend(), take));
        else
            static_cast<void>(std::all_of(ordinals.begin(), ordinals.end(), take));
    }
    return held;
}

Result<std::optional<DueDelivery>> SimCredentialRows::oldest_parked(const std::string& credential) {
    TRY_VOID(transaction_.statement());
    for (const auto& [ordinal, row] : transaction_.database().deliveries)
        if (row.credential == credential && waits_for_credential(row.progress))
            return std::optional(DueDelivery{row.id, row.sink});
    return std::optional<DueDelivery>();
}

Result<ParkedBatch> SimCredentialRows::change(
    const std::string& credential, std::size_t limit,
    const std::function<std::optional<DeliveryRow>(const DeliveryRow&)>& change) {
    TRY_VOID(transaction_.statement());
    ParkedBatch moved{0, true, {}};
    for (const auto& [ordinal, row] : transaction_.database().deliveries) {
        if (row.credential != credential) continue;
        auto changed = change(row);
        if (!changed) continue;
        if (transaction_.is_locked('d', row.id) || moved.count == static_cast<std::int64_t>(limit)) {
            moved.all = false;
            continue;
        }
        TRY_VOID(transaction_.lock('d', row.id));
        changed->generation.value += 1;
        if (!changed->rate_window.empty()) moved.windows.insert(changed->rate_window);
        transaction_.changes().deliveries[row.id] = *std::move(changed);
        ++moved.count;
    }
    return moved;
}

Result<ParkedBatch> SimCredentialRows::park(const std::string& credential, const std::string& cause,
                                            std::size_t limit) {
    return change(credential, limit, [&](const DeliveryRow& row) -> std::optional<DeliveryRow> {
        const auto parked = step(row.progress, CredentialRefused{cause});
        if (!parked || !is_free(row, transaction_.database().now())) return std::nullopt;
        DeliveryRow changed = row;
        changed.progress = *parked;
        return changed;
    });
}

Result<ParkedBatch> SimCredentialRows::release(const std::string& credential, std::size_t limit) {
    return change(credential, limit, [&](const DeliveryRow& row) -> std::optional<DeliveryRow> {
        const auto tried = step(row.progress, CredentialTried{});
        if (!tried) return std::nullopt;
        DeliveryRow changed = row;
        changed.progress = *tried;
        changed.lease_until = transaction_.database().now();
        changed.next_attempt_at =
            row.rate_window.empty() ? std::optional(transaction_.database().now()) : std::nullopt;
        return changed;
    });
}

}  // namespace epilogue::sim
