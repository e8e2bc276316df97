"""DLedger: a run of a group in the words of its specification."""
