"""Locks on queues: from runs to traces."""
