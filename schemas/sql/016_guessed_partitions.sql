-- 1: no record of the conversation was read when its row was made, so its partition is what its key would have been
-- given by a producer with murmur2. A gap in any partition may concern it.
ALTER TABLE conversations ADD COLUMN partition_guessed TINYINT NOT NULL DEFAULT 0;
