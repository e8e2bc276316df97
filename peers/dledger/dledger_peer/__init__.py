"""DLedger groups of released servers and of ours, as processes of this machine."""
