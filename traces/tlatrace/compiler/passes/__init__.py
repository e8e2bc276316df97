"""What is found out about a closed tree, and rewritten in it, before anything is written."""
