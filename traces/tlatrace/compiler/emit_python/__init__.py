"""The closed tree as Python: predicates, successors, and which conjunct is false."""
