-- So that counting what hinders does not read every conversation that is asked about.
ALTER TABLE catch_ups ADD KEY ix_catch_ups_hindrance (hindrance);
