-- Breakers (worker/core/breaker.h), for the posts of a credential and for its look-ups: failures of the platform in
-- a row, where (* at several places), since when, and, while it counts as down, when the next call may ask whether it
-- is back.
ALTER TABLE credentials ADD COLUMN post_failures INT NOT NULL DEFAULT 0;
ALTER TABLE credentials ADD COLUMN post_place VARBINARY(255) NULL;
ALTER TABLE credentials ADD COLUMN post_since DATETIME(6) NULL;
ALTER TABLE credentials ADD COLUMN post_probe_at DATETIME(6) NULL;
ALTER TABLE credentials ADD COLUMN look_failures INT NOT NULL DEFAULT 0;
ALTER TABLE credentials ADD COLUMN look_place VARBINARY(255) NULL;
ALTER TABLE credentials ADD COLUMN look_since DATETIME(6) NULL;
ALTER TABLE credentials ADD COLUMN look_probe_at DATETIME(6) NULL;
-- Until when the look-ups that were made fill their budget (worker/core/rate_window.h).
ALTER TABLE rate_windows ADD COLUMN looks_until DATETIME(6) NULL;
-- Look-ups of a delivery that failed in a row, and those of them that were answered with nothing of use.
ALTER TABLE deliveries ADD COLUMN look_failures INT NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN unusable_looks INT NOT NULL DEFAULT 0;
