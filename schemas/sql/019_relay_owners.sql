-- Whose a conversation is that came by a webhook: the sender who told of it first. `owner` is a digest of the key.
CREATE TABLE IF NOT EXISTS relay_owners (
  conversation_id VARBINARY(255) NOT NULL PRIMARY KEY,
  owner CHAR(64) NOT NULL,
  created_at DATETIME(6) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
