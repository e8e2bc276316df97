"""A small language of 64-bit words, its translation into LLVM's assembly, and the machine code."""
