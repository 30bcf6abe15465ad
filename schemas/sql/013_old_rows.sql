-- The partition's clock when a delivery's turn was counted: from the event to the visible post.
ALTER TABLE deliveries ADD COLUMN event_at DATETIME(6) NULL;
-- So that the janitor ([retention]) finds what is old without reading what is not.
ALTER TABLE deliveries ADD KEY ix_deliveries_created (created_at);
ALTER TABLE summaries ADD KEY ix_summaries_created (created_at);
ALTER TABLE conversations ADD KEY ix_conversations_last_event (last_event_at);
ALTER TABLE dead_letters ADD KEY ix_dead_letters_created (created_at);
