"""A log that is copied: from runs to traces."""
