-- Requests of the API that carried an Idempotency-Key, for a day: a repeat finds its callback by `registration`
-- (callback_progress.idempotency_key), another body under the same key is recognised by its digest.
CREATE TABLE IF NOT EXISTS kept_requests (
  request_key VARBINARY(255) NOT NULL PRIMARY KEY,
  body_sha256 CHAR(64) NOT NULL,
  registration VARBINARY(255) NOT NULL,
  created_at DATETIME(6) NOT NULL,
  KEY ix_kept_requests_created (created_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
