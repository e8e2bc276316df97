"""Locks on queues, for consumers that keep the order of messages: RIP-32's lock quorum."""
