"""A slave that acts for its master, and masters that get what is due in its log."""
