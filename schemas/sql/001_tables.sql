-- Every step can be run again; nothing is ever dropped. Ids are bytes (an id of another charset must not stop a
-- partition), times are UTC.

CREATE TABLE IF NOT EXISTS installation (
  singleton TINYINT NOT NULL PRIMARY KEY DEFAULT 1,
  installation_id CHAR(36) NOT NULL,
  created_at DATETIME(6) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Upstream's V0 table: its columns and their meaning are not ours to change.
CREATE TABLE IF NOT EXISTS conversation_callbacks (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  conversation_id VARBINARY(255) NOT NULL,
  status ENUM('ACTIVE','COMPLETED','ERROR') NOT NULL DEFAULT 'ACTIVE',
  processor_type VARCHAR(255) NOT NULL,
  processor_json MEDIUMTEXT NOT NULL,
  created_at DATETIME(6) NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at DATETIME(6) NULL DEFAULT CURRENT_TIMESTAMP(6),
  KEY ix_conversation_callbacks_conversation_id (conversation_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS callback_progress (
  callback_id BIGINT NOT NULL PRIMARY KEY,
  conversation_id VARBINARY(255) NOT NULL,
  phase VARCHAR(16) NOT NULL,
  reason TEXT NULL,
  turn_key VARBINARY(255) NULL,
  options MEDIUMTEXT NOT NULL,
  idempotency_key VARBINARY(255) NULL,
  adopted_at DATETIME(6) NOT NULL,
  generation BIGINT NOT NULL,
  UNIQUE KEY uq_callback_progress_idempotency_key (idempotency_key),
  KEY ix_callback_progress_conversation (conversation_id, phase)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The view of each conversation as its log has told it so far (worker/core/conversation_row.h).
CREATE TABLE IF NOT EXISTS conversations (
  conversation_id VARBINARY(255) NOT NULL PRIMARY KEY,
  partition_id INT NOT NULL,
  status VARCHAR(64) NOT NULL DEFAULT '',
  verdict VARCHAR(32) NULL,
  turn_key VARBINARY(255) NULL,
  tail_kind VARCHAR(16) NULL,
  tail_text MEDIUMTEXT NULL,
  error_code TEXT NULL,
  error_detail MEDIUMTEXT NULL,
  recent_ids MEDIUMTEXT NULL,
  digest MEDIUMTEXT NULL,
  fold MEDIUMTEXT NULL,
  last_event_at DATETIME(6) NULL,
  due_at DATETIME(6) NULL,
  timer TINYINT NOT NULL DEFAULT 0,
  turn_open TINYINT NOT NULL DEFAULT 0,
  held TINYINT NOT NULL DEFAULT 0,
  let_go_at DATETIME(6) NULL,
  generation BIGINT NOT NULL DEFAULT 0,
  KEY ix_conversations_due (partition_id, held, due_at),
  KEY ix_conversations_silence (timer, held, due_at),
  KEY ix_conversations_let_go (let_go_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS agent_endpoints (
  conversation_id VARBINARY(255) NOT NULL PRIMARY KEY,
  url TEXT NOT NULL,
  session_key_sealed VARBINARY(1024) NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One summary for each turn, frozen once, shared by all its callbacks.
CREATE TABLE IF NOT EXISTS summaries (
  conversation_id VARBINARY(255) NOT NULL,
  turn_key VARBINARY(255) NOT NULL,
  source VARCHAR(16) NULL,
  state VARCHAR(16) NOT NULL,
  body MEDIUMTEXT NULL,
  owner VARBINARY(255) NULL,
  lease_until DATETIME(6) NULL,
  generation BIGINT NOT NULL DEFAULT 0,
  created_at DATETIME(6) NOT NULL,
  PRIMARY KEY (conversation_id, turn_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The ledger of posts. `ordinal` is the order in which they became owed.
CREATE TABLE IF NOT EXISTS deliveries (
  delivery_id VARBINARY(36) NOT NULL PRIMARY KEY,
  ordinal BIGINT NOT NULL AUTO_INCREMENT,
  callback_id BIGINT NOT NULL,
  turn_key VARBINARY(255) NOT NULL,
  conversation_id VARBINARY(255) NOT NULL,
  sink VARCHAR(32) NOT NULL,
  target VARBINARY(512) NOT NULL,
  verdict VARCHAR(32) NOT NULL,
  state VARCHAR(16) NOT NULL,
  attempt INT NOT NULL DEFAULT 0,
  lookups INT NOT NULL DEFAULT 0,
  body MEDIUMTEXT NULL,
  body_sha256 CHAR(64) NULL,
  remote_id VARCHAR(255) NULL,
  remote_url TEXT NULL,
  cause TEXT NULL,
  owner VARBINARY(255) NULL,
  generation BIGINT NOT NULL DEFAULT 0,
  lease_until DATETIME(6) NULL,
  next_attempt_at DATETIME(6) NULL,
  intent_at DATETIME(6) NULL,
  sent_at DATETIME(6) NULL,
  heal_due_at DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL,
  source_partition INT NULL,
  source_offset BIGINT NULL,
  UNIQUE KEY uq_deliveries_ordinal (ordinal),
  UNIQUE KEY uq_deliveries_turn (callback_id, turn_key),
  KEY ix_deliveries_due (state, next_attempt_at),
  KEY ix_deliveries_conversation (conversation_id, turn_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The stored position of each partition, moved in the same transaction as everything the records changed.
CREATE TABLE IF NOT EXISTS partition_progress (
  consumer_group VARBINARY(255) NOT NULL,
  topic VARBINARY(255) NOT NULL,
  partition_id INT NOT NULL,
  cluster_id VARBINARY(255) NOT NULL,
  next_offset BIGINT NOT NULL,
  last_offset BIGINT NULL,
  last_record_crc BIGINT NULL,
  last_record_time DATETIME(6) NULL,
  clock_at DATETIME(6) NULL,
  caught_up_at DATETIME(6) NULL,
  touched_at DATETIME(6) NULL,
  returned_at DATETIME(6) NULL,
  owner VARBINARY(255) NOT NULL,
  connection_id BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  sequence BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (consumer_group, topic, partition_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS dead_letters (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  cluster_id VARBINARY(255) NOT NULL,
  topic VARBINARY(255) NOT NULL,
  partition_id INT NOT NULL,
  record_offset BIGINT NOT NULL,
  record_key VARBINARY(1024) NULL,
  reason VARCHAR(64) NOT NULL,
  length BIGINT NOT NULL,
  sha256 CHAR(64) NOT NULL,
  value MEDIUMBLOB NULL,
  created_at DATETIME(6) NOT NULL,
  replayed_at DATETIME(6) NULL,
  UNIQUE KEY uq_dead_letters_record (cluster_id, topic, partition_id, record_offset)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
