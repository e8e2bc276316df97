"""The simulation of a log that is copied."""
