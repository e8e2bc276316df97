"""How Spark spells a master; without pyspark, because a command line asks before it is needed."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_master"]

_MASTER: Final = re.compile(
    r"local(\[(\*|\d+)(\s*,\s*\d+)?\])?"
    r"|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]"
    r"|spark://[^\s/,:]+:\d{1,5}(,[^\s/,:]+:\d{1,5})*"
    r"|yarn|k8s://\S+"
)


def is_master(text: str) -> bool:
    """Tell whether a text is a master as Spark spells it."""
    return _MASTER.fullmatch(text) is not None
