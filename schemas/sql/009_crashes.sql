-- How many workers crashed one after the other while they worked at the row, as their crash recorders counted
-- (base/process/crash_recorder.h). Of a delivery it is 0 again as soon as work at it ends in another way.
ALTER TABLE deliveries ADD COLUMN crashes INT NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN crashes INT NOT NULL DEFAULT 0;
ALTER TABLE catch_ups ADD COLUMN crashes INT NOT NULL DEFAULT 0;
