#include "tests/sim/pace_rows.h"

#include "tests/sim/session.h"

namespace epilogue::sim {
namespace {

bool is_free(const DeliveryRow& row, Instant now) {
    return !row.lease_until || *row.lease_until <= now;
}

template <class Row>
Row committed(const std::map<std::string, Row>& rows, const std::string& name) {
    const auto found = rows.find(name);
    return found == rows.end() ? Row{} : found->second;
}

}  // namespace

Result<RateWindow> SimPaceRows::peek_window(const std::string& window) {
    TRY_VOID(transaction_.statement());
    return committed(database_.windows, window).window;
}

Result<RateWindow> SimPaceRows::hold_window(const std::string& window) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('w', window, true));
    return committed(database_.windows, window).window;
}

Result<RateWindow> SimPaceRows::lock_window(const std::string& window) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('w', window));
    const auto& changed = transaction_.changes().windows;
    return committed(changed.contains(window) ? changed : database_.windows, window).window;
}

Result<void> SimPaceRows::put_window(const std::string& window, const RateWindow& row, Instant open_at) {
    TRY_VOID(transaction_.statement());
    transaction_.changes().windows[window] = {row, open_at};
    return {};
}

Result<std::vector<std::string>> SimPaceRows::open_lines(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<std::string> open;
    for (const auto& [name, stored] : database_.windows)
        if (stored.window.waiting && stored.open_at <= database_.now() && open.size() < limit)
            open.push_back(name);
    return open;
}

Result<std::vector<DeliveryRow>> SimPaceRows::heads_of_line(const std::string& window, std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<DeliveryRow> heads;
    const auto line = database_.lines.find(window);
    if (line == database_.lines.end()) return heads;
    for (const std::int64_t ordinal : line->second) {
        const DeliveryRow& row = database_.deliveries.at(ordinal);
        if (is_free(row, database_.now()) && database_.is_first(ordinal, row)) heads.push_back(row);
        if (heads.size() == limit) break;
    }
    return heads;
}

Result<bool> SimPaceRows::has_line(const std::string& window) {
    TRY_VOID(transaction_.statement());
    const auto line = database_.lines.find(window);
    return line != database_.lines.end() && !line->second.empty();
}

Result<CredentialRow> SimPaceRows::peek_credential(const std::string& credential) {
    TRY_VOID(transaction_.statement());
    return committed(database_.credentials, credential);
}

Result<CredentialRow> SimPaceRows::lock_credential(const std::string& credential) {
    TRY_VOID(transaction_.statement());
    TRY_VOID(transaction_.lock('e', credential));
    const auto& changed = transaction_.changes().credentials;
    return committed(changed.contains(credential) ? changed : database_.credentials, credential);
}

Result<void> SimPaceRows::put_credential(const std::string& credential, const CredentialRow& row) {
    TRY_VOID(transaction_.statement());
    transaction_.changes().credentials[credential] = row;
    return {};
}

Result<std::vector<std::string>> SimPaceRows::unsettled_credentials(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<std::string> names;
    for (const auto& [name, row] : database_.credentials)
        if (row.unsettled && names.size() < limit) names.push_back(name);
    return names;
}

Result<std::vector<std::string>> SimPaceRows::credentials_to_probe(std::size_t limit) {
    TRY_VOID(transaction_.statement());
    std::vector<std::string> names;
    for (const auto& [name, row] : database_.credentials)
        if (row.parked_since && row.probe_at <= database_.now() && names.size() < limit)
            names.push_back(name);
    return names;
}

Result<std::optional<DeliveryRow>> SimPaceRows::oldest_parked(const std::string& credential) {
    TRY_VOID(transaction_.statement());
    for (const auto& [ordinal, row] : database_.deliveries)
        if (row.credential == credential && waits_for_credential(row.progress)) return std::optional(row);
    return std::optional<DeliveryRow>();
}

Result<Moved> SimPaceRows::move(const std::string& credential, std::size_t limit,
                                const std::function<std::optional<DeliveryRow>(const DeliveryRow&)>& change) {
    TRY_VOID(transaction_.statement());
    Moved moved{0, true, {}};
    for (const auto& [ordinal, row] : database_.deliveries) {
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

Result<Moved> SimPaceRows::park(const std::string& credential, const std::string& cause, std::size_t limit) {
    return move(credential, limit, [&](const DeliveryRow& row) -> std::optional<DeliveryRow> {
        const auto parked = step(row.progress, CredentialRefused{cause});
        if (!parked || !is_free(row, database_.now())) return std::nullopt;
        DeliveryRow changed = row;
        changed.progress = *parked;
        return changed;
    });
}

Result<Moved> SimPaceRows::let_go(const std::string& credential, std::size_t limit) {
    return move(credential, limit, [&](const DeliveryRow& row) -> std::optional<DeliveryRow> {
        const auto tried = step(row.progress, CredentialTried{});
        if (!tried) return std::nullopt;
        DeliveryRow changed = row;
        changed.progress = *tried;
        changed.lease_until = database_.now();
        changed.next_attempt_at = row.rate_window.empty() ? std::optional(database_.now()) : std::nullopt;
        return changed;
    });
}

}  // namespace epilogue::sim
