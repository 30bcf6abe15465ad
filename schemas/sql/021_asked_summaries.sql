-- What the whole pool has used of each named model ([llm.NAME]), by day (UTC); with what answers under way may take.
CREATE TABLE IF NOT EXISTS llm_spending (
  model VARBINARY(255) NOT NULL,
  day DATE NOT NULL,
  requests BIGINT NOT NULL DEFAULT 0,
  tokens_in BIGINT NOT NULL DEFAULT 0,
  tokens_out BIGINT NOT NULL DEFAULT 0,
  cost BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (model, day)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
-- The one instruction that an agent gets about a turn, written down before it is sent: the id of the mark at its end.
CREATE TABLE IF NOT EXISTS instructions (
  conversation_id VARBINARY(255) NOT NULL,
  turn_key VARBINARY(255) NOT NULL,
  ask_id VARBINARY(64) NOT NULL,
  created_at DATETIME(6) NOT NULL,
  PRIMARY KEY (conversation_id, turn_key),
  KEY ix_instructions_created (created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
