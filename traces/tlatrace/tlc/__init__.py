"""TLC as a judge: steps in batches, successors of a state, whole traces, and why one diverges."""
