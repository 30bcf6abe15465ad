-- Which relay reads an OpenHands app server, and since when what was updated there may not be in the topic.
CREATE TABLE IF NOT EXISTS relay_app_servers (
  server VARBINARY(700) NOT NULL PRIMARY KEY,
  owner VARCHAR(64) NULL,
  lease_until DATETIME(6) NOT NULL,
  floor VARCHAR(40) NOT NULL DEFAULT ''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
-- What of its conversations' logs is in the topic: the newest event's own time, and how many events.
CREATE TABLE IF NOT EXISTS relay_app_positions (
  conversation_id VARBINARY(255) NOT NULL PRIMARY KEY,
  server VARBINARY(700) NOT NULL,
  newest VARCHAR(40) NOT NULL,
  told BIGINT NOT NULL,
  moved_at DATETIME(6) NOT NULL,
  KEY relay_app_positions_moved (moved_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
