"""A node of a DLedger group: who leads it. Pure cores; their log is not here yet."""
