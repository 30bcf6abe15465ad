-- How far the log of each followed conversation is in the topic (agent/relay/positions.h). A relay that takes a
-- row moves lease_until on: until then no other takes it.
CREATE TABLE IF NOT EXISTS relay_positions (
  conversation_id VARBINARY(255) NOT NULL PRIMARY KEY,
  server TEXT NOT NULL,
  next_index BIGINT NOT NULL DEFAULT 0,
  last_event_id VARBINARY(255) NULL,
  renumbered TINYINT NOT NULL DEFAULT 0,
  owner VARBINARY(64) NULL,
  generation BIGINT NOT NULL DEFAULT 0,
  lease_until DATETIME(6) NOT NULL,
  behind BIGINT NOT NULL DEFAULT 0,
  behind_since DATETIME(6) NULL,
  last_error TEXT NULL,
  last_error_at DATETIME(6) NULL,
  moved_at DATETIME(6) NULL,
  added_at DATETIME(6) NOT NULL,
  unwanted_since DATETIME(6) NULL,
  KEY ix_relay_positions_lease (unwanted_since, lease_until)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
-- What callbacks wait for, without reading those that are done long since.
ALTER TABLE callback_progress ADD KEY ix_callback_progress_phase (phase, conversation_id);
