"""What compiled models compute with: values, sets that are not built, and the operators of TLA+."""
