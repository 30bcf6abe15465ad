-- The id that the broker gives the topic: one that was made anew has another. NULL: the broker or the client knows none.
ALTER TABLE partition_progress ADD COLUMN topic_id VARBINARY(64) NULL;
