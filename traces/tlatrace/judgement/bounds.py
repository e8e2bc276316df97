r"""Whether parameters of an action lie outside of the sets that Next takes them from.

TLC decides it, too, with the action. But it stops with an error at `5 \in {"b1"}` and at
`"x" \in Nat`, where the answer is plain.
"""

from __future__ import annotations

import re
from typing import Final

from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.values import TlaSet, Value

__all__ = ["out_of_bounds"]

_NAMED_SET: Final = re.compile(r"\\in \((\w+)\)")


def out_of_bounds(spec: SpecUnderTest, action: str | None, params: tuple[Value, ...]) -> bool:
    """Tell whether every place of the action in Next excludes the parameters for certain.

    They are values that are read.
    """
    places = spec.places.get(action or "")
    if not places or action in spec.woven:
        return False
    return all(
        len(place.bounds) == len(params)
        and any(
            _excluded(spec, bound, value) for bound, value in zip(place.bounds, params, strict=True)
        )
        for place in places
    )


def _excluded(spec: SpecUnderTest, bound: str, value: Value) -> bool:
    match = _NAMED_SET.fullmatch(bound)
    if match is None:
        return False
    known = spec.values.get(match[1])
    if isinstance(known, TlaSet):
        return value not in known
    if match[1] in ("Nat", "Int"):
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return not is_number or (match[1] == "Nat" and isinstance(value, int) and value < 0)
    return False
