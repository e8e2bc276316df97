"""The SyncStateSet of a master: from runs to traces."""
