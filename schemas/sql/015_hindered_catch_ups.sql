-- What kept the log of a conversation from being read at the last try: unreachable, unauthorised, … (see
-- worker/core/reconcile_pace.h).
ALTER TABLE catch_ups ADD COLUMN hindrance VARCHAR(16) NULL;
