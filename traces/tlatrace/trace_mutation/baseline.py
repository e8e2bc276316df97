"""A file of known holes: only those that are not in it count.

    {"format": "rocketproof-holes", "version": 1, "spec": "Lock",
     "holes": [{"kind": "field", "action": "Look", "about": "seen"}]}

A hole is a kind of corruption, the action of the event, and the place, without numbers and values:
another seed or another run meets the same holes elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from tlatrace.errors import SpecError
from tlatrace.trace_mutation.kinds import Kind
from tlatrace.trace_mutation.measure import Hole, MutationResult, Outcome

__all__ = ["Verdict", "judge_mutations", "read_holes", "write_holes"]

_FORMAT: Final = "rocketproof-holes"
_VERSION: Final = 1


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    kind: Kind
    action: str
    about: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    spec: str
    holes: list[_Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is new, and whether it is too much."""

    new: tuple[Hole, ...]
    """Holes that the file does not have."""
    gone: tuple[Hole, ...]
    """Holes of the file that were not met again: closed, or not drawn this time."""
    new_findings: int
    decided: int
    """Corruptions that were refused, equivalent or holes."""
    most_percent: float

    @property
    def percent(self) -> float:
        """New findings among a hundred decided ones."""
        return 100 * self.new_findings / self.decided if self.decided else 0.0

    @property
    def exit_code(self) -> int:
        """Return 0 where new holes are few enough, 1 where not, 3 where nothing was decided."""
        if not self.decided:
            return 3
        return 1 if self.percent > self.most_percent else 0


def judge_mutations(
    result: MutationResult, known: Collection[Hole] = (), *, most_percent: float = 0.0
) -> Verdict:
    """Compare what was found with the holes that are known."""
    met = {one.hole for one in result.holes}
    return Verdict(
        new=tuple(sorted(met - set(known))),
        gone=tuple(sorted(set(known) - met)),
        new_findings=sum(one.hole not in known for one in result.holes),
        decided=result.count(None, None) - result.count(None, Outcome.UNDECIDED),
        most_percent=most_percent,
    )


def read_holes(path: Path, spec: str) -> frozenset[Hole]:
    """Read the known holes of a specification.

    Raises:
        SpecError: unreadable, no such file of holes, or one of another specification.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_File)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise SpecError(path, f"is no file of known holes ({error})") from error
    if (found.format, found.version) != (_FORMAT, _VERSION):
        raise SpecError(path, f"is not of the format {_FORMAT}, version {_VERSION}")
    if found.spec != spec:
        raise SpecError(path, f"holds the holes of {found.spec}, not of {spec}")
    return frozenset(
        [Hole(kind=one.kind, action=one.action, about=one.about) for one in found.holes]
    )


def write_holes(path: Path, spec: str, holes: Collection[Hole]) -> None:
    """Write the known holes of a specification, one a line and sorted.

    Raises:
        SpecError: the file cannot be written.
    """
    rows = [
        msgspec.json.encode(_Row(kind=one.kind, action=one.action, about=one.about)).decode()
        for one in sorted(holes)
    ]
    head = f'{{"format":"{_FORMAT}","version":{_VERSION},"spec":"{spec}","holes":['
    text = head + ",".join([f"\n {row}" for row in rows]) + "\n]}\n"
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise SpecError(path, f"cannot be written ({error})") from error
