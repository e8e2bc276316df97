"""A scenario that was played: what its client saw, and where the records of its nodes are.

It is kept beside these, in `played.json`, so that a run can be judged later, and elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from rocketmq_peer.acting_history import Kind, Outcome, Seen, outcome_of
from rocketmq_peer.errors import PeerError

__all__ = ["Played", "PlayedRun"]

_FILE: Final = "played.json"


class Played(msgspec.Struct, forbid_unknown_fields=True):
    """What a client saw of a scenario."""

    acknowledged: list[str] = msgspec.field(default_factory=list)
    """Messages that were answered SEND_OK, in the order of their answers."""
    answers: dict[str, str] = msgspec.field(default_factory=dict)
    """Message -> its status, or why there is none."""
    read_back: tuple[str, ...] | None = None
    """What a consumer found at the end; None: it was not asked."""
    seen: list[Seen] = msgspec.field(default_factory=list)
    """What was seen of a slave that acts for its master, in order."""

    @property
    def lost(self) -> tuple[str, ...]:
        """Messages that were acknowledged, and that no consumer finds."""
        if self.read_back is None:
            return ()
        found = set(self.read_back)
        return tuple([one for one in self.acknowledged if one not in found])


class PlayedRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scenario that was played with a release."""

    scenario: str
    version: str
    """Of RocketMQ."""
    protocols: tuple[str, ...]
    """Which specifications the run is held against."""
    museum: tuple[str, ...]
    """The known bugs with which a divergence is tried."""
    promises_durability: bool
    """An acknowledged message outlives any clean election, by the configuration."""
    played: Played
    seconds: float
    history: Kind | None = None
    """What `played.seen` is judged as; None: nothing was seen."""
    controller: str = ""
    """`rocketha`, if its controller led the brokers; else it was one of the release."""
    trouble: str | None
    """Why the scenario did not come to its end, or was not recorded as a whole; None: it was."""

    @property
    def outcome(self) -> Outcome | None:
        """What was seen comes to; None: nothing of that kind was looked at."""
        return None if self.history is None else outcome_of(self.history, self.played.seen)

    @property
    def broken(self) -> tuple[str, ...]:
        """Messages with which a promise was broken: lost, or what was seen comes to."""
        if (outcome := self.outcome) is not None:
            return outcome.broken
        return self.played.lost if self.promises_durability else ()

    def write(self, folder: Path) -> None:
        """Write it beside the records. Raises: OSError"""
        text = msgspec.json.format(msgspec.json.encode(self), indent=2)
        (folder / _FILE).write_bytes(text + b"\n")

    @classmethod
    def read(cls, folder: Path) -> PlayedRun:
        """Read what was written to a folder. Raises: PeerError"""
        path = folder / _FILE
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except OSError as error:
            raise PeerError(f"{path}: {error.strerror}: no run was played here") from None
        except (msgspec.MsgspecError, ValueError) as error:
            raise PeerError(f"{path}: {error}") from None
