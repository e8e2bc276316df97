"""Replication by epochs, under an abstract controller."""
