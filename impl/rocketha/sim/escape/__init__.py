"""A slave that acts for its master, masters of other groups, and clients, simulated."""
