"""A log that a master copies to slaves, one message at a time."""
