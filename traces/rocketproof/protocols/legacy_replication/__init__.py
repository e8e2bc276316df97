"""A master and its slaves without a controller: from runs to traces."""
