"""What each node saw and did, written by the node itself."""
