"""Tests driven by the model: state machines, agreement with TLC, mutants, proofs."""
