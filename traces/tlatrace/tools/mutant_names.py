"""Which operators a mutant replaces, by its name.

A mutant `B05` replaces `BatchEntry` when its module defines `B05BatchEntry` and the specification
`BatchEntry`. A name with several tags, `B21_B22`, replaces what each of them replaces. A last part
that is no tag is the property against which the mutant is checked: `B21_B22_AckedInSSS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError

__all__ = ["MutantName", "Operators", "defined_in"]

_DEFINED: Final = re.compile(r"^(\w+)\s*(?:\([^=\n]*\))?\s*==", re.MULTILINE)


def defined_in(module: Path) -> tuple[str, ...]:
    """Return the names that a module defines at the begin of a line, in its order.

    Raises: SpecError when it cannot be read.
    """
    try:
        return tuple(_DEFINED.findall(module.read_text("utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(module, f"cannot be read ({error})") from error


@dataclass(frozen=True, slots=True)
class MutantName:
    """What the name of a mutant says."""

    overrides: tuple[str, ...]
    """Each as in a configuration, "Operator <- WrongOperator"."""
    against: str | None
    """The only property that is checked."""
    unknown: tuple[str, ...] = ()
    """Parts of the name after which no operator is named."""


class Operators:
    """The operators of a specification, and the wrong ones of its mutants' module."""

    def __init__(self, right: Iterable[str], wrong: Iterable[str]) -> None:
        self._right, self._wrong = frozenset(right), tuple(wrong)

    def named(self, name: str) -> MutantName:
        """Read the name of a mutant."""
        *tags, last = name.split("_")
        against = None
        if tags and not self._of(last):
            against = last
        else:
            tags.append(last)
        return MutantName(
            overrides=tuple(override for tag in tags for override in self._of(tag)),
            against=against,
            unknown=tuple(tag for tag in tags if not self._of(tag)),
        )

    def _of(self, tag: str) -> tuple[str, ...]:
        operators = (one.removeprefix(tag) for one in self._wrong if one.startswith(tag))
        return tuple(f"{one} <- {tag}{one}" for one in operators if one in self._right)
