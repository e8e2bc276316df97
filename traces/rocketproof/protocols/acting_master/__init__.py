"""Groups whose slaves act for their masters, all of it together: only what clients saw."""
