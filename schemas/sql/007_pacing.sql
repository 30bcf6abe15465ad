-- Pacing for the whole pool. credential, rate_window: whose limits the delivery counts against, noted by its first
-- claim. A delivery that stands in line for its window has no next_attempt_at.
ALTER TABLE deliveries ADD COLUMN credential VARBINARY(80) NULL;
ALTER TABLE deliveries ADD COLUMN rate_window VARBINARY(255) NULL;
ALTER TABLE deliveries ADD KEY ix_deliveries_credential (credential, state, ordinal);
ALTER TABLE deliveries ADD KEY ix_deliveries_line (rate_window, next_attempt_at, ordinal);
-- So that the sweeper does not read everything that was ever sent.
ALTER TABLE deliveries ADD KEY ix_deliveries_heal (heal_due_at);

-- What a platform counts together (worker/core/rate_window.h). open_at: when the next write may begin.
-- calls: microseconds since 1970, separated by blanks. waiting: deliveries stand in line for it.
-- served_at: when a write last left the queue. neglected_until: before that none did for more than a minute.
CREATE TABLE IF NOT EXISTS rate_windows (
  rate_window VARBINARY(255) NOT NULL PRIMARY KEY,
  open_at DATETIME(6) NOT NULL,
  closed_until DATETIME(6) NULL,
  calls MEDIUMTEXT NULL,
  strikes INT NOT NULL DEFAULT 0,
  struck_at DATETIME(6) NULL,
  waiting TINYINT NOT NULL DEFAULT 0,
  served_at DATETIME(6) NULL,
  neglected_until DATETIME(6) NULL,
  KEY ix_rate_windows_line (waiting, open_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Credentials that a platform has refused once, by a digest. parked_since: since when their deliveries wait.
-- unsettled: deliveries of it are still to be parked, or to be let go.
CREATE TABLE IF NOT EXISTS credentials (
  credential VARBINARY(80) NOT NULL PRIMARY KEY,
  parked_since DATETIME(6) NULL,
  cause TEXT NULL,
  probe_at DATETIME(6) NULL,
  unsettled TINYINT NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
