"""Groups whose slaves act for their masters, with all that is around them, simulated."""
