"""A slave that acts for its master, and other masters, which get what is due in its log."""
