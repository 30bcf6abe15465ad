-- Which log a position belongs to. anchor_*: a record that was applied and is known to be of this log; it is read
-- again to see whether the log still is the same one. caught_up_offset: the log's end when nothing was left to
-- read (it may lie behind next_offset, for markers that no consumer is given). first_partitions: how many
-- partitions the topic had when this row was made. moved_*: the last time the position moved other than by
-- reading on, from where, and why.
ALTER TABLE partition_progress ADD COLUMN anchor_offset BIGINT NULL;
ALTER TABLE partition_progress ADD COLUMN anchor_crc BIGINT NULL;
ALTER TABLE partition_progress ADD COLUMN anchor_time DATETIME(6) NULL;
ALTER TABLE partition_progress ADD COLUMN caught_up_offset BIGINT NULL;
ALTER TABLE partition_progress ADD COLUMN first_partitions INT NULL;
ALTER TABLE partition_progress ADD COLUMN moved_at DATETIME(6) NULL;
ALTER TABLE partition_progress ADD COLUMN moved_from BIGINT NULL;
ALTER TABLE partition_progress ADD COLUMN moved_why TEXT NULL;

-- A partition's position is that of the row with the highest generation, whichever group made it.
ALTER TABLE partition_progress ADD KEY ix_partition_progress_log (topic, partition_id);

-- A topic that was made anew has other records at the same offsets. The wider key comes first, so that a record
-- is unique all the time.
ALTER TABLE dead_letters ADD UNIQUE KEY uq_dead_letters_value (cluster_id, topic, partition_id, record_offset, sha256);
ALTER TABLE dead_letters DROP KEY uq_dead_letters_record;
