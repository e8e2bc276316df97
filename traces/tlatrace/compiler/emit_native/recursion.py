"""Recursive operators as flat Python: how deep they go, and how often, has a limit.

Beyond it there is no sure value; so every call ends, also one whose value nobody needs.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["guarded"]


def guarded(name: str, body: str | None, parameters: Sequence[str]) -> str:
    """Return a function that calls `body`; without one it knows nothing."""
    words = ", ".join(["s", "t", *parameters])
    if body is None:
        return f"def {name}({words}):\n    return BAD\n"
    return f"""def {name}({words}):
    if mem[NESTED] == 0:
        mem[CALLS] = 0
    if mem[NESTED] >= MOST_NESTED or mem[CALLS] >= MOST_CALLS:
        return BAD
    mem[NESTED] = mem[NESTED] + 1
    mem[CALLS] = mem[CALLS] + 1
    found = {body}({words})
    mem[NESTED] = mem[NESTED] - 1
    return found
"""
