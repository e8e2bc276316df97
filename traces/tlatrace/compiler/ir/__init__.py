"""The closed tree of a specification: its nodes, their text, and what is asked of them."""
