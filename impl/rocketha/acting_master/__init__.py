"""A broker of a group whose slaves act for their master: the cores of its parts, together."""
