"""Compile TLA+: SANY's tree is lowered to one closed tree, looked into by passes, and written.

    lower/        SANY's tree to the closed tree under a configuration, or a refusal
    ir/           the nodes of that tree, its text, and what is asked of it everywhere
    passes/       what is found out or rewritten before anything is written
    emit_python/  the tree as Python

What it accepts is written in `spec/SUBSET.md`; everything else is refused, never approximated.
"""
