"""A master and its slaves without a controller."""
