"""A broker among name servers: it registers, and acts for a master that is gone."""
