"""The SyncStateSet of a broker group, in runs of the whole group."""
