"""A node with a log and snapshots: from runs to traces."""
