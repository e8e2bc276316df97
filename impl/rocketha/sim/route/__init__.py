"""Brokers and their name servers."""
