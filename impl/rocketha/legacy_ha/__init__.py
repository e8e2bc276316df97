"""The cores of DefaultHA, replication without a controller: a master, its slaves, and waiting."""
