"""Read the little that we need from a TLC configuration, and derive others from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

__all__ = [
    "checks_deadlock",
    "for_older_tlc",
    "invariants_of",
    "postconditions_of",
    "properties_of",
    "symmetry_of",
    "view_of",
    "with_only",
    "with_only_invariant",
    "with_overrides",
    "without_sections",
]

_COMMENT: Final = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_KEYWORD_LIST: Final = """
    SPECIFICATION INIT NEXT VIEW SYMMETRY CONSTRAINT CONSTRAINTS ACTION_CONSTRAINT
    ACTION_CONSTRAINTS INVARIANT INVARIANTS PROPERTY PROPERTIES CONSTANT CONSTANTS CHECK_DEADLOCK
    ALIAS POSTCONDITION TYPE TYPE_CONSTRAINT
"""
_INVARIANT: Final = frozenset({"INVARIANT", "INVARIANTS"})
_PROPERTY: Final = frozenset({"PROPERTY", "PROPERTIES"})
_KEYWORDS: Final = frozenset(_KEYWORD_LIST.split())


def properties_of(config: str) -> tuple[str, ...]:
    """Return the names under PROPERTY and PROPERTIES, in the order of the configuration."""
    return tuple(_names_under(config, _PROPERTY))


def invariants_of(config: str) -> tuple[str, ...]:
    """Return the names under INVARIANT and INVARIANTS, in the order of the configuration."""
    return tuple(_names_under(config, _INVARIANT))


def symmetry_of(config: str) -> tuple[str, ...]:
    """Return the names under SYMMETRY."""
    return tuple(_names_under(config, frozenset({"SYMMETRY"})))


def view_of(config: str) -> tuple[str, ...]:
    """Return the names under VIEW."""
    return tuple(_names_under(config, frozenset({"VIEW"})))


def postconditions_of(config: str) -> tuple[str, ...]:
    """Return the names under POSTCONDITION, which TLC evaluates at the end since 1.8."""
    return tuple(_names_under(config, frozenset({"POSTCONDITION"})))


def checks_deadlock(config: str) -> bool | None:
    """Tell what CHECK_DEADLOCK says; None where the configuration does not say it."""
    found = [*_names_under(config, frozenset({"CHECK_DEADLOCK"}))]
    return None if not found else found[-1] == "TRUE"


def for_older_tlc(config: str) -> str:
    """Leave out what TLC before 1.8 does not know, and what does not change what it finds.

    CHECK_DEADLOCK is an option of its command line, ALIAS says how counterexamples are shown.
    """
    newer = {"CHECK_DEADLOCK", "ALIAS"}
    if not any(keyword in newer for keyword, _ in _sections(config)):
        return config
    return without_sections(config, newer)


def with_overrides(config: str, overrides: Iterable[str]) -> str:
    """Add overrides such as "Operator <- Other" to a configuration."""
    added = "".join([f"CONSTANT {override}\n" for override in overrides])
    return f"{config.rstrip()}\n{added}"


def with_only_invariant(config: str, name: str) -> str:
    """Replace all invariants and properties of a configuration by one invariant."""
    return f"{_without_checks(config)}\nINVARIANT {name}\n"


def with_only(config: str, name: str) -> str:
    """Leave one of the invariants and properties of a configuration, and none other."""
    keyword = "PROPERTY" if name in properties_of(config) else "INVARIANT"
    return f"{_without_checks(config)}\n{keyword} {name}\n"


def without_sections(config: str, keywords: Collection[str]) -> str:
    """Leave out the sections with these keywords, and all comments."""
    return "".join([body for keyword, body in _sections(config) if keyword not in keywords])


def _without_checks(config: str) -> str:
    return without_sections(config, _INVARIANT | _PROPERTY).rstrip()


def _sections(config: str) -> Iterator[tuple[str, str]]:
    """Cut a configuration, without its comments, into its keywords and their sections."""
    text = _COMMENT.sub(" ", config)
    starts = [m for m in re.finditer(r"\w+", text) if m[0] in _KEYWORDS]
    ends = [m.start() for m in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=False):
        yield start[0], text[start.start() : end]


def _names_under(config: str, keywords: frozenset[str]) -> Iterator[str]:
    for keyword, body in _sections(config):
        if keyword in keywords:
            yield from re.findall(r"\w+", body)[1:]
