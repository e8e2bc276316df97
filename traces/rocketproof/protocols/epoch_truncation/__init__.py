"""Replication by epochs: from runs to traces."""
