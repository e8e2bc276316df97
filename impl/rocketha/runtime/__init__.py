"""What runs a core: the effects that it has, the events that it hears, and its host."""
