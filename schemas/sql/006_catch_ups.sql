-- Conversations whose agent server is to be asked what the topic did not tell (worker/agents/reconciler.h). A
-- worker that takes a row moves next_try_at on: until then the row is leased.
CREATE TABLE IF NOT EXISTS catch_ups (
  conversation_id VARBINARY(255) NOT NULL PRIMARY KEY,
  why VARCHAR(16) NOT NULL,
  asked_at DATETIME(6) NOT NULL,
  next_try_at DATETIME(6) NOT NULL,
  attempts INT NOT NULL DEFAULT 0,
  owner VARBINARY(255) NULL,
  KEY ix_catch_ups_due (next_try_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
