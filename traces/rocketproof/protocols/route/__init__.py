"""Name servers, and the slave that acts for a master that is gone."""
