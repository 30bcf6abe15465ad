#include "worker/mysql/crash_rows.h"

#include "worker/store/leased_rows.h"

namespace epilogue {

Result<bool> count_crash(MysqlSession& session, const UnderWay& what) {
    const std::string key(what.key.view());
    std::int64_t changed = 0;
    if (what.what.view() == leased_delivery) {
        TRY(changed, session.execute("UPDATE deliveries SET crashes=crashes+1 WHERE delivery_id=?", {key}));
    } else if (what.what.view() == leased_summary) {
        TRY(changed,
            session.execute("UPDATE summaries SET crashes=crashes+1 WHERE conversation_id=? AND turn_key=?",
                            {key, std::string(what.more.view())}));
    } else if (what.what.view() == leased_catch_up) {
        TRY(changed,
            session.execute("UPDATE catch_ups SET crashes=crashes+1 WHERE conversation_id=?", {key}));
    }
    return changed > 0;
}

}  // namespace epilogue
