"""Where the traces of a set of constants lie in the folder of a corpus, while it is made or if
they are not all alike: in a folder that is named after the constants, by all writers alike.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from tlatrace.errors import ValueFormatError
from tlatrace.trace import Trace
from tlatrace.values import canonical_state

__all__ = ["NO_CONSTANTS", "is_place", "place_of"]

NO_CONSTANTS: Final = "constants-none"
"""The folder of what a part holds of which no trace was made."""

_PLACE: Final = re.compile(r"constants-(?:[0-9a-f]{16}|none)", re.ASCII)


def is_place(name: str) -> bool:
    """Tell whether a folder is named as those of sets of constants."""
    return _PLACE.fullmatch(name) is not None


def place_of(trace: Trace) -> str:
    """Name the folder of a trace.

    Raises:
        ValueFormatError: it has no header, or a constant that has no canonical text.
    """
    if trace.header is None:
        raise ValueFormatError("the trace has no header, which has its constants")
    text = canonical_state(trace.header.constants)
    return f"constants-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
