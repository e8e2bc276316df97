"""A node of a DLedger group: pure cores of elections, log and reads; its files and snapshots."""
