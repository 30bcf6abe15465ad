#include "worker/mysql/relay_position_rows.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

using relay::PositionUpdate;

constexpr int most_tries = 5;
constexpr std::size_t changed_together = 128;  // rows of one transaction
constexpr std::chrono::seconds pause_of_unopened{300};
constexpr int days_remembered = 30;  // a callback that comes later has the log read from its first event

// A callback that is ACTIVE for its platform (worker/core/callback.h).
const std::string waited_for = "p.phase IN ('watching','delivering','dormant')";

const std::string is_waited_for =
    "EXISTS (SELECT 1 FROM callback_progress p WHERE p.conversation_id=r.conversation_id AND " + waited_for +
    ")";

constexpr const char* still_ours =
    "WHERE conversation_id=? AND owner=? AND generation=? AND lease_until>UTC_TIMESTAMP(6)";

/// Of an UPDATE, before still_ours.
constexpr const char* moves_on =
    "UPDATE relay_positions SET next_index=?, last_event_id=?, renumbered=?, moved_at=UTC_TIMESTAMP(6), "
    "behind_since=IF(?=0,NULL,COALESCE(behind_since,UTC_TIMESTAMP(6))), behind=?, "
    "last_error_at=IF(?='',last_error_at,UTC_TIMESTAMP(6)), last_error=? ";

/// Of the session key that the conversation has now (relay::Claim::key_mark).
const std::string mark_of_key =
    "COALESCE((SELECT CRC32(e.session_key_sealed) FROM agent_endpoints e WHERE "
    "e.conversation_id=relay_positions.conversation_id),0)";

std::vector<SqlValue> values_of(const PositionUpdate& update) {
    return {update.position.next,
            sql_value_or_null(update.position.last_id),
            std::int64_t{update.position.renumbered},
            update.behind,
            update.behind,
            update.trouble,
            sql_value_or_null(update.trouble)};
}

void append_owner(std::vector<SqlValue>& values, const std::string& owner, const PositionUpdate& update) {
    values.emplace_back(update.conversation_id.text());
    values.emplace_back(owner);
    values.emplace_back(update.generation);
}

}  // namespace

Result<void> MysqlRelayPositions::transact(const std::function<Result<void>(MysqlSession&)>& work) {
    for (int tries = 1;; ++tries) {
        auto done = store_.with_session([&](MysqlSession& session) -> Result<void> {
            TRY_VOID(session.run("BEGIN"));
            auto worked = work(session);
            if (worked) worked = session.run("COMMIT");
            if (!worked && !session.is_broken()) TRY_VOID(session.run("ROLLBACK"));
            return worked;
        });
        // Every change here may be made twice: each names the owner and generation under which it holds.
        const bool again = !done && (is_conflict(done.error()) || is_lost_connection(done.error()));
        if (!again || tries == most_tries) return done;
    }
}

Result<relay::Discovered> MysqlRelayPositions::discover() {
    relay::Discovered found;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        // Where a conversation has no server of its own, and there is no other, nothing can be followed.
        TRY(const auto added,
            session.execute(
                "INSERT IGNORE INTO relay_positions (conversation_id, server, lease_until, added_at) "
                "SELECT DISTINCT p.conversation_id, COALESCE(e.url,?), UTC_TIMESTAMP(6), "
                "UTC_TIMESTAMP(6) FROM callback_progress p LEFT JOIN agent_endpoints e ON "
                "e.conversation_id=p.conversation_id LEFT JOIN relay_positions r ON "
                "r.conversation_id=p.conversation_id WHERE " +
                    waited_for + " AND r.conversation_id IS NULL AND COALESCE(e.url,?)<>''",
                {fallback_.url, fallback_.url}));
        TRY_VOID(
            session.execute("UPDATE relay_positions r JOIN agent_endpoints e ON "
                            "e.conversation_id=r.conversation_id SET r.server=e.url WHERE "
                            "r.server<>e.url"));
        const auto whole = urls_of_all();
        TRY(const auto dropped,
            session.execute("UPDATE relay_positions r SET r.unwanted_since=UTC_TIMESTAMP(6) WHERE "
                            "r.unwanted_since IS NULL AND NOT " +
                                is_waited_for +
                                (whole.empty() ? "" : " AND r.server NOT IN " + placeholders(whole.size())),
                            whole));
        TRY_VOID(
            session.execute("UPDATE relay_positions r SET r.unwanted_since=NULL WHERE r.unwanted_since IS "
                            "NOT NULL AND " +
                            is_waited_for));
        TRY_VOID(
            session.execute("DELETE FROM relay_positions WHERE unwanted_since<UTC_TIMESTAMP(6) - INTERVAL " +
                            std::to_string(days_remembered) + " DAY"));
        found = {static_cast<std::size_t>(added), static_cast<std::size_t>(dropped)};
        return {};
    }));
    return found;
}

std::vector<SqlValue> MysqlRelayPositions::urls_of_all() const {
    std::vector<SqlValue> urls;
    for (const KnownServer& each : servers_)
        if (each.all) urls.emplace_back(each.url);
    return urls;
}

const Secret& MysqlRelayPositions::key_of(const std::string& server) const {
    static const Secret none;
    for (const KnownServer& each : servers_)
        if (relay::is_same_server(each.url, server)) return each.session_key;
    return relay::is_same_server(fallback_.url, server) ? fallback_.session_key : none;
}

Result<void> MysqlRelayPositions::found(const std::string& server,
                                        const std::vector<ConversationId>& conversations, bool is_all) {
    // Short transactions: others discover and claim meanwhile.
    TRY_VOID(in_id_chunks(conversations, [&](const std::vector<SqlValue>& ids) -> Result<void> {
        return transact([&](MysqlSession& session) { return place(session, server, ids); });
    }));
    if (!is_all) return {};
    std::vector<ConversationId> gone;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        // What was added while the server was being listed may be there and not on the list.
        TRY(const auto followed,
            first_column<ConversationId>(
                session,
                "SELECT conversation_id FROM relay_positions r WHERE server=? AND unwanted_since IS NULL AND "
                "added_at<UTC_TIMESTAMP(6) - INTERVAL 10 MINUTE AND NOT " +
                    is_waited_for,
                {server}));
        const std::set<ConversationId> listed(conversations.begin(), conversations.end());
        gone.clear();
        std::ranges::copy_if(followed, std::back_inserter(gone),
                             [&](const auto& each) { return !listed.contains(each); });
        return {};
    }));
    return in_id_chunks(gone, [&](const std::vector<SqlValue>& ids) -> Result<void> {
        return transact([&](MysqlSession& session) -> Result<void> {
            TRY_VOID(session.execute(
                "UPDATE relay_positions SET unwanted_since=UTC_TIMESTAMP(6) WHERE conversation_id IN " +
                    placeholders(ids.size()),
                ids));
            return {};
        });
    });
}

Result<void> MysqlRelayPositions::place(MysqlSession& session, const std::string& server,
                                        const std::vector<SqlValue>& ids) {
    std::string rows;
    std::vector<SqlValue> values;
    for (const SqlValue& id : ids) {
        rows += std::string(rows.empty() ? "" : ",") + "(?,?,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))";
        values.push_back(id);
        values.emplace_back(server);
    }
    TRY_VOID(session.execute(
        "INSERT IGNORE INTO relay_positions (conversation_id, server, lease_until, added_at) VALUES " + rows,
        values));
    // One that has an address of its own, or is followed at another of these servers, stays there.
    const auto whole = urls_of_all();
    const std::string among = "r.conversation_id IN " + placeholders(ids.size());
    std::vector<SqlValue> moved{server};
    moved.insert(moved.end(), ids.begin(), ids.end());
    moved.insert(moved.end(), whole.begin(), whole.end());
    TRY_VOID(
        session.execute("UPDATE relay_positions r LEFT JOIN agent_endpoints e ON "
                        "e.conversation_id=r.conversation_id SET r.server=? WHERE " +
                            among +
                            " AND e.conversation_id IS NULL AND (r.unwanted_since IS NOT NULL OR "
                            "r.server NOT IN " +
                            placeholders(whole.size()) + ")",
                        moved));
    std::vector<SqlValue> wanted(ids);
    wanted.emplace_back(server);
    TRY_VOID(session.execute("UPDATE relay_positions r SET r.unwanted_since=NULL WHERE " + among +
                                 " AND r.server=? AND r.unwanted_since IS NOT NULL",
                             wanted));
    return {};
}

Result<void> MysqlRelayPositions::take(MysqlSession& session, const std::string& owner,
                                       const std::vector<ConversationId>& free, std::chrono::seconds lease,
                                       std::vector<relay::Claim>& claims, std::vector<std::string>& sealed) {
    return in_id_chunks(free, [&](std::vector<SqlValue> ids) -> Result<void> {
        const std::string among = "conversation_id IN " + placeholders(ids.size());
        std::vector<SqlValue> values{owner, std::chrono::microseconds(lease).count()};
        values.insert(values.end(), ids.begin(), ids.end());
        TRY_VOID(
            session.execute("UPDATE relay_positions SET owner=?, generation=generation+1, "
                            "lease_until=UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE " +
                                among,
                            values));
        return read_claims(session, ids, claims, sealed);
    });
}

Result<void> MysqlRelayPositions::read_claims(MysqlSession& session, const std::vector<SqlValue>& ids,
                                              std::vector<relay::Claim>& claims,
                                              std::vector<std::string>& sealed) {
    TRY(const auto rows, session.query("SELECT r.conversation_id, r.server, r.next_index, r.last_event_id, "
                                       "r.renumbered, r.generation, COALESCE(CRC32(e.session_key_sealed),0), "
                                       "e.session_key_sealed "
                                       "FROM relay_positions r LEFT JOIN agent_endpoints e ON "
                                       "e.conversation_id=r.conversation_id WHERE r.conversation_id IN " +
                                           placeholders(ids.size()),
                                       ids));
    for (const SqlRow& row : rows) {
        Columns columns(row);
        relay::Claim& each = claims.emplace_back();
        each.conversation_id = columns.id<ConversationId>();
        each.server = columns.text();
        each.position.next = columns.number();
        each.position.last_id = columns.text();
        each.position.renumbered = columns.number() != 0;
        each.generation = columns.number();
        each.key_mark = columns.number();
        sealed.push_back(columns.text());
        if (sealed.back().empty()) each.session_key = key_of(each.server);
    }
    return {};
}

Result<std::vector<relay::Claim>> MysqlRelayPositions::claim(const std::string& owner, std::size_t limit,
                                                             std::chrono::seconds lease) {
    std::vector<relay::Claim> claims;
    std::vector<std::string> sealed;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        claims.clear();
        sealed.clear();
        TRY(const auto free,
            first_column<ConversationId>(
                session,
                "SELECT conversation_id FROM relay_positions WHERE "
                "unwanted_since IS NULL AND lease_until<=UTC_TIMESTAMP(6) ORDER BY lease_until LIMIT " +
                    std::to_string(limit) + " FOR UPDATE SKIP LOCKED"));
        return take(session, owner, free, lease, claims, sealed);
    }));
    return open_keys(owner, std::move(claims), sealed);
}

Result<std::vector<ConversationId>> MysqlRelayPositions::told_lately() {
    std::vector<ConversationId> lately;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        TRY(lately,
            first_column<ConversationId>(
                session,
                "SELECT conversation_id FROM relay_owners WHERE created_at>UTC_TIMESTAMP(6) - INTERVAL "
                "1 DAY ORDER BY created_at DESC LIMIT 1000"));
        return {};
    }));
    return lately;
}

Result<void> MysqlRelayPositions::place_to_compare(MysqlSession& session, const std::vector<SqlValue>& ids) {
    // Its own address, else the server whose key told of it, else [agent_server].
    std::string server = "COALESCE(e.url,";
    std::vector<SqlValue> values;
    std::string by_sender;
    for (const KnownServer& each : servers_) {
        if (each.sender.empty()) continue;
        by_sender += " WHEN ? THEN ?";
        values.emplace_back(each.sender);
        values.emplace_back(each.url);
    }
    if (!by_sender.empty()) server += "CASE o.owner" + by_sender + " END,";
    server += "?)";
    values.emplace_back(fallback_.url);
    values.insert(values.end(), ids.begin(), ids.end());
    TRY_VOID(session.execute(
        "INSERT IGNORE INTO relay_positions (conversation_id, server, lease_until, added_at, unwanted_since) "
        "SELECT id, server, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM (SELECT "
        "o.conversation_id AS id, " +
            server +
            " AS server FROM relay_owners o LEFT JOIN agent_endpoints e ON "
            "e.conversation_id=o.conversation_id LEFT JOIN relay_positions r ON "
            "r.conversation_id=o.conversation_id WHERE r.conversation_id IS NULL AND o.conversation_id IN " +
            placeholders(ids.size()) + ") told WHERE server<>''",
        values));
    return {};
}

Result<std::vector<relay::Claim>> MysqlRelayPositions::claim_to_compare(
    const std::string& owner, const std::vector<ConversationId>& conversations, std::chrono::seconds lease) {
    std::vector<relay::Claim> claims;
    std::vector<std::string> sealed;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        claims.clear();
        sealed.clear();
        return in_id_chunks(conversations, [&](const std::vector<SqlValue>& ids) -> Result<void> {
            TRY_VOID(place_to_compare(session, ids));
            TRY(const auto free, first_column<ConversationId>(
                                     session,
                                     "SELECT conversation_id FROM relay_positions WHERE server<>'' AND "
                                     "unwanted_since IS NOT NULL AND lease_until<=UTC_TIMESTAMP(6) AND "
                                     "conversation_id IN " +
                                         placeholders(ids.size()) + " FOR UPDATE SKIP LOCKED",
                                     ids));
            return take(session, owner, free, lease, claims, sealed);
        });
    }));
    return open_keys(owner, std::move(claims), sealed);
}

Result<std::vector<relay::Claim>> MysqlRelayPositions::claims_to_read(
    const std::vector<ConversationId>& conversations) {
    std::vector<relay::Claim> claims;
    std::vector<std::string> sealed;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        claims.clear();
        sealed.clear();
        return in_id_chunks(conversations, [&](const std::vector<SqlValue>& ids) {
            return read_claims(session, ids, claims, sealed);
        });
    }));
    return open_keys("", std::move(claims), sealed);
}

Result<std::vector<relay::Claim>> MysqlRelayPositions::open_keys(const std::string& owner,
                                                                 std::vector<relay::Claim> claims,
                                                                 const std::vector<std::string>& sealed) {
    std::vector<relay::Claim> opened;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        relay::Claim& each = claims[i];
        if (!sealed[i].empty()) {
            auto key = sealer_.open(sealed[i], each.conversation_id.text());
            if (!key) {
                TRY_VOID(release(
                    owner,
                    {each.conversation_id, each.generation, each.position, 0,
                     "the session key of its agent server: " + key.error().text, false, each.key_mark},
                    pause_of_unopened));
                continue;
            }
            each.session_key = std::move(*key);
        }
        opened.push_back(std::move(each));
    }
    return opened;
}

Result<void> MysqlRelayPositions::end_leases(const std::string& owner) {
    return transact([&](MysqlSession& session) -> Result<void> {
        TRY_VOID(session.execute(
            "UPDATE relay_positions SET owner=NULL, lease_until=UTC_TIMESTAMP(6) WHERE owner=?", {owner}));
        // Refused under a key of the configuration, which may have another one now.
        TRY_VOID(session.execute(
            "UPDATE relay_positions SET lease_until=UTC_TIMESTAMP(6) WHERE unwanted_since IS NULL AND "
            "lease_until>UTC_TIMESTAMP(6) AND owner IS NULL AND 0=" +
                mark_of_key,
            {}));
        return {};
    });
}

Result<std::vector<relay::HeldClaim>> MysqlRelayPositions::renew(const std::string& owner,
                                                                 const std::vector<ConversationId>& followed,
                                                                 std::chrono::seconds lease) {
    return renew_those(owner, followed, lease, " AND unwanted_since IS NULL");
}

Result<std::vector<relay::HeldClaim>> MysqlRelayPositions::renew_compared(
    const std::string& owner, const std::vector<ConversationId>& compared, std::chrono::seconds lease) {
    return renew_those(owner, compared, lease, "");
}

Result<std::vector<relay::HeldClaim>> MysqlRelayPositions::renew_those(
    const std::string& owner, const std::vector<ConversationId>& conversations, std::chrono::seconds lease,
    const std::string& and_only) {
    std::vector<relay::HeldClaim> held;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        held.clear();
        return in_id_chunks(conversations, [&](std::vector<SqlValue> ids) -> Result<void> {
            const std::string ours = "WHERE conversation_id IN " + placeholders(ids.size()) +
                                     " AND owner=? AND lease_until>UTC_TIMESTAMP(6)" + and_only;
            ids.emplace_back(owner);
            std::vector<SqlValue> values{std::chrono::microseconds(lease).count()};
            values.insert(values.end(), ids.begin(), ids.end());
            TRY_VOID(session.execute(
                "UPDATE relay_positions SET lease_until=UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND " + ours,
                values));
            TRY(const auto rows,
                session.query("SELECT conversation_id, generation, server FROM relay_positions " + ours,
                              ids));
            for (const SqlRow& row : rows) {
                Columns columns(row);
                relay::HeldClaim& each = held.emplace_back();
                each.conversation_id = columns.id<ConversationId>();
                each.generation = columns.number();
                each.server = columns.text();
            }
            return {};
        });
    }));
    return held;
}

Result<std::vector<ConversationId>> MysqlRelayPositions::advance(const std::string& owner,
                                                                 const std::vector<PositionUpdate>& updates) {
    std::vector<ConversationId> fenced;
    for (std::size_t first = 0; first < updates.size(); first += changed_together) {
        const std::size_t end = std::min(updates.size(), first + changed_together);
        std::vector<ConversationId> refused;
        TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
            refused.clear();
            for (std::size_t i = first; i < end; ++i) {
                auto values = values_of(updates[i]);
                append_owner(values, owner, updates[i]);
                TRY(const auto changed, session.execute(std::string(moves_on) + still_ours, values));
                if (changed == 0) refused.push_back(updates[i].conversation_id);
            }
            return {};
        }));
        fenced.insert(fenced.end(), refused.begin(), refused.end());
    }
    return fenced;
}

Result<bool> MysqlRelayPositions::release(const std::string& owner, const PositionUpdate& last,
                                          std::chrono::seconds pause) {
    bool was_ours = false;
    TRY_VOID(transact([&](MysqlSession& session) -> Result<void> {
        auto values = values_of(last);
        values.emplace_back(last.key_mark);
        values.emplace_back(std::chrono::microseconds(pause).count());
        append_owner(values, owner, last);
        TRY(const auto changed,
            session.execute(std::string(moves_on) +
                                ", owner=NULL, lease_until=UTC_TIMESTAMP(6) + INTERVAL IF(?=" + mark_of_key +
                                ",?,0) MICROSECOND " + still_ours,
                            values));
        was_ours = changed != 0;
        return {};
    }));
    return was_ours;
}

}  // namespace epilogue
