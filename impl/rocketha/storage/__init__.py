"""A replica's disk: files with real durability rules, the CommitLog and the epoch file on them."""
