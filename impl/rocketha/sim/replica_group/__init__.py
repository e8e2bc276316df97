"""A broker group with its controller and its clients."""
