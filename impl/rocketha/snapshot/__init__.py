"""Snapshots of a state machine in the place of the beginning of its log."""
