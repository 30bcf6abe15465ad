-- Summaries that are frozen only when the agent server has been asked (state OWED). status_event: the status that
-- ended the turn, for which the server has to vouch. ended_at: the partition's clock then.
ALTER TABLE summaries ADD COLUMN status_event VARBINARY(255) NULL;
ALTER TABLE summaries ADD COLUMN ended_at DATETIME(6) NULL;
ALTER TABLE summaries ADD KEY ix_summaries_owed (state, lease_until);
