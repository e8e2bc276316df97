"""A broker group with its controller: from runs to traces."""
