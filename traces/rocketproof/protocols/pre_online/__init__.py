"""A master that comes back, and what its slaves know."""
