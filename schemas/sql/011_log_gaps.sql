-- Records of a partition that were gone before they were read: [from_offset, to_offset), or without an end when it is
-- another log. asked_until: of the callbacks up to last_callback those up to this one were looked at (worker/agents/
-- gap_survey.h); asked and without_server count the conversations among them, remaining the callbacks that are left.
CREATE TABLE IF NOT EXISTS log_gaps (
  gap_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  topic VARBINARY(255) NOT NULL,
  partition_id INT NOT NULL,
  from_offset BIGINT NOT NULL,
  to_offset BIGINT NULL,
  why TEXT NOT NULL,
  noticed_at DATETIME(6) NOT NULL,
  asked_until BIGINT NOT NULL DEFAULT 0,
  last_callback BIGINT NOT NULL DEFAULT 0,
  asked BIGINT NOT NULL DEFAULT 0,
  without_server BIGINT NOT NULL DEFAULT 0,
  remaining BIGINT NULL,
  done TINYINT NOT NULL DEFAULT 0,
  KEY ix_log_gaps_done (done, gap_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- When records of the partition were last found to be gone: a silence that began before that may be an end that was
-- among them.
ALTER TABLE partition_progress ADD COLUMN gap_at DATETIME(6) NULL;
