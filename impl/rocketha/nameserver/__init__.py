"""A name server: who is where, and who acts for a master that is gone."""
