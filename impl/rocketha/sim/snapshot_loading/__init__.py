"""A node with a log and snapshots, and the group that it follows."""
