"""A register on a DLedger log: runs in the words of its specification."""
