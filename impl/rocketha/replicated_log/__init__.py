"""The durable log of a state machine, and snapshots in the place of its beginning."""
