"""A master that comes back, its slaves, a name server and consumers, simulated."""
