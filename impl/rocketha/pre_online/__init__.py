"""A broker whose master comes back: what it does before it serves again."""
