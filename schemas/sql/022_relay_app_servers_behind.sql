-- What the relay that reads an app server saw of it in its last look: how far the topic is behind it, what hindered.
ALTER TABLE relay_app_servers ADD COLUMN behind BIGINT NOT NULL DEFAULT 0;
ALTER TABLE relay_app_servers ADD COLUMN behind_since DATETIME(6) NULL;
ALTER TABLE relay_app_servers ADD COLUMN looked_at DATETIME(6) NULL;
ALTER TABLE relay_app_servers ADD COLUMN last_error TEXT NULL;
ALTER TABLE relay_app_servers ADD COLUMN last_error_at DATETIME(6) NULL;
