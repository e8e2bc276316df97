"""What was decoded and written back, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeVar

from rocketha.errors import RockethaError

__all__ = ["Count", "Kind", "Mismatch", "Tally", "first_difference", "said_of"]

MISMATCHES_KEPT: Final = 50
"""The others are only counted."""

T = TypeVar("T")
_AROUND: Final = 8


class Kind(Enum):
    """What has a codec; the values are what tables say."""

    RECORD = "record"
    FILLER = "filler"
    EPOCH_FILE = "epoch file"
    CHECKPOINT = "store checkpoint"
    IDENTITY = "identity"
    HANDSHAKE = "handshake"
    HANDSHAKE_REPLY = "handshake reply"
    TRANSFER = "transfer"
    ACK = "ack"
    LEGACY_TRANSFER = "legacy transfer"
    LEGACY_REPORT = "legacy report"
    JSON_FRAME = "JSON frame"
    BINARY_FRAME = "binary frame"
    CONTROLLER_REQUEST = "controller request"
    CONTROLLER_RESPONSE = "controller response"
    ROLE_CHANGE = "role change"

    @property
    def as_values(self) -> bool:
        """Tell whether written back it is compared as values, not as bytes."""
        return self in _AS_VALUES


_AS_VALUES: Final = {
    Kind.JSON_FRAME,
    Kind.CONTROLLER_REQUEST,
    Kind.CONTROLLER_RESPONSE,
    Kind.ROLE_CHANGE,
}


@dataclass(slots=True)
class Count:
    """How often something of a kind was met."""

    decoded: int = 0
    equal: int = 0
    """Of those decoded: written back as they came."""
    mismatched: int = 0
    """Not decoded, or written back otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """Something that rocketha cannot read, or writes otherwise."""

    kind: Kind
    where: str
    """File and offset, or link, connection, way and number."""
    reason: str

    def __str__(self) -> str:
        return f"{self.kind.value}, {self.where}: {self.reason}"


@dataclass(slots=True)
class Tally:
    """The counts of one or more runs."""

    counts: dict[Kind, Count] = field(default_factory=lambda: {kind: Count() for kind in Kind})
    mismatches: list[Mismatch] = field(default_factory=list)
    """The first ones."""
    passed_by: Counter[str] = field(default_factory=Counter)
    """What was seen and has no codec, or is a part of something: a name -> how many."""

    @property
    def mismatched(self) -> int:
        """How many mismatches there are."""
        return sum(count.mismatched for count in self.counts.values())

    def seen(self, kind: Kind) -> bool:
        """Tell whether anything of a kind was met."""
        count = self.counts[kind]
        return count.decoded + count.mismatched > 0

    def decode(self, kind: Kind, where: str, decode: Callable[[], T]) -> T | None:
        """Count what a decoder gives; what it raises, whatever it is, is a mismatch, and None."""
        try:
            value = decode()
        except Exception as error:
            self.mismatch(kind, where, said_of(error))
            return None
        if value is None:
            self.mismatch(kind, where, "is taken for a part of something longer")
            return None
        self.counts[kind].decoded += 1
        return value

    def write_back(self, kind: Kind, where: str, differs: Callable[[], str | None]) -> None:
        """Count what was decoded by what is different when it is written back; None: nothing."""
        try:
            difference = differs()
        except Exception as error:
            difference = f"cannot be written back: {said_of(error)}"
        if difference is None:
            self.counts[kind].equal += 1
        else:
            self.mismatch(kind, where, difference)

    def mismatch(self, kind: Kind, where: str, reason: str) -> None:
        """Count and keep a mismatch."""
        self.counts[kind].mismatched += 1
        if len(self.mismatches) < MISMATCHES_KEPT:
            self.mismatches.append(Mismatch(kind=kind, where=where, reason=reason))

    def pass_by(self, what: str, number: int = 1) -> None:
        """Count what nobody decodes."""
        self.passed_by[what] += number


def first_difference(came: bytes, written: bytes) -> str | None:
    """Say where bytes that were written back are others than those that came; None: nowhere."""
    if came == written:
        return None
    pairs = zip(came, written, strict=False)
    at = next((i for i, (one, other) in enumerate(pairs) if one != other), None)
    if at is None:
        return f"{len(came)} bytes are written back as {len(written)}"
    was, now = came[at : at + _AROUND].hex(), written[at : at + _AROUND].hex()
    return f"byte {at} of {len(came)}: {was} is written back as {now}"


def said_of(error: Exception) -> str:
    """Say in a line what a decoder raised."""
    return str(error) if isinstance(error, RockethaError) else f"{type(error).__name__}: {error}"
