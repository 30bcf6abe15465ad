-- Which rows of OpenHands' own database became which of our callbacks (`epilogue import`): a row is taken over once.
-- source: what the operator calls that database; generation: its table (v0: conversation_callbacks, v1:
-- event_callback). version: as that database numbers a row's changes; digest: of what is read of the row. status:
-- there, when it was last read. told: what OpenHands had posted of the conversation before
-- (worker/core/callback.h). callback_id is 0 only inside the transaction that adds the row.
CREATE TABLE IF NOT EXISTS imported_rows (
  source VARBINARY(64) NOT NULL,
  generation VARBINARY(8) NOT NULL,
  row_id VARBINARY(64) NOT NULL,
  conversation_id VARBINARY(255) NOT NULL,
  version VARBINARY(64) NOT NULL,
  digest CHAR(64) NOT NULL,
  status VARCHAR(16) NOT NULL,
  told VARBINARY(255) NULL,
  callback_id BIGINT NOT NULL DEFAULT 0,
  imported_at DATETIME(6) NOT NULL,
  changed_at DATETIME(6) NULL,
  PRIMARY KEY (source, generation, row_id),
  KEY ix_imported_rows_callback (callback_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
