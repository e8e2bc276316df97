"""Consumers that lock queues on brokers."""
