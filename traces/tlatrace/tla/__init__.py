"""Read specifications: what modules declare, their configuration, and both as one subject."""
