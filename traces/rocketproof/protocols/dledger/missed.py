"""What is missed of members of a DLedger group, in time and of acknowledged entries.

How long a member may wait is in its settings, which its obligations read (`dledger_times`); the
specification has no time, and says whether something was to be waited for (`DLedgerMessages`).
Which acknowledgements a leader has heard while it waited for them, `dledger_duties` follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocketha.formats.dledger_codes import DLedgerRequestCode
from rocketha.obligations import dledger_times
from rocketha.obligations.dledger_duties import (
    CUT,
    FREED,
    GO_ON,
    HANDED,
    JUDGED,
    PUSHED,
    RESTED,
    SAVED,
    Duties,
)
from rocketha.obligations.dledger_times import Times
from rocketha.obligations.dledger_turns import Turn, TurnsOfNode, pauses_of
from rocketha.obligations.obligation import time_ms
from rocketha.recording.record import STARTED, STOPPED, NodeRecord, RecordError, SentMessage
from rocketproof.protocols.dledger.group import Told
from tlatrace.values import tla_set

__all__ = ["MissedOfMembers"]

_ACTIONS: Final = {
    dledger_times.APPLIED: "NoApply",
    dledger_times.ASKED: "NoVotes",
    dledger_times.BEATS: "NoHeartbeats",
    dledger_times.CLIENTS: "LeaveUnanswered",
    dledger_times.GIVEN_UP: "NoLeader",
    dledger_times.OPERATORS: "LeaveUnanswered",
    dledger_times.PUSHES: "NoPush",
    dledger_times.REPEATED: "NoPush",
    dledger_times.QUORUMS: "NoMajority",
    dledger_times.ROUNDS: "NoResult",
    dledger_times.SYNCED: "NoSync",
    dledger_times.TO_LEAD: "LeaveUnanswered",
    dledger_times.TRANSFERS: "NoTransfer",
}
"""What is due in time -> what is asked when it is not done."""
_TRANSFER: Final = DLedgerRequestCode.LEADERSHIP_TRANSFER
_IN_A_TURN: Final = {
    CUT: "KeepEntries",
    FREED: "KeepFiles",
    GO_ON: "LeaveBehind",
    JUDGED: "KeepRound",
    PUSHED: "LeaveBehind",
    RESTED: "RepeatEarly",
}
"""What is due in a turn -> the same."""


class _Member:
    """What one member owes."""

    def __init__(self, name: str, settings: Mapping[str, Any], turns: TurnsOfNode) -> None:
        self.turns = turns
        self._name, self._settings = name, settings
        self._pauses: list[tuple[int, int]] = []
        self._times = Times(name, settings, self._pauses)
        self._duties = Duties(settings)

    def take(self, record: NodeRecord) -> Iterator[Told]:
        """Take the next record; yield what is overdue before it, once."""
        over = list(self.turns.take(record))
        if record.event in (STARTED, STOPPED):
            self._times = Times(self._name, self._settings, self._pauses)
            self._duties = Duties(self._settings)
            return
        for turn in over:
            self._times.take(turn)
            for name, done in self._duties.of(turn):
                if not done:
                    yield from self._not_done(name, turn)
            for action in self._times.too_soon:
                yield action, (self._name,)
            self._times.too_soon.clear()
            counted = self._duties.counted(turn)
            if counted is not None:
                holders, index = counted
                yield "CountHolders", (self._name, tla_set(sorted(holders)), index + 1)
        self._pauses += pauses_of([record])
        self._times.sees(time_ms(record), record.shows_ms)
        for name, about in self._times.overdue(time_ms(record)):
            if name in (dledger_times.PUSHES, dledger_times.REPEATED):
                yield _ACTIONS[name], (self._name, str(about))
            elif name == dledger_times.APPLIED:
                assert isinstance(about, int)
                yield _ACTIONS[name], (self._name, about + 1)
            else:
                yield _ACTIONS[name], (self._name,)

    def _not_done(self, name: str, turn: Turn) -> Iterator[Told]:
        """Yield what is asked when something is not done in a turn."""
        heard = turn.heard
        if name in _IN_A_TURN:
            yield _IN_A_TURN[name], (self._name,)
        elif name == SAVED:
            yield "SaveLate", (self._name, self._settings["snapshot_threshold"])
        elif name == HANDED and heard is not None and heard.code == _TRANSFER:
            asked = heard.body
            leader, index = str(asked["transferId"]), asked["takeLeadershipLedgerIndex"]
            yield "StayFollower", (self._name, leader, asked["term"] + 1, index + 1)


class MissedOfMembers:
    """Follows what members owe in time."""

    def __init__(self, settings: Mapping[str, Mapping[str, Any]]) -> None:
        """Begin before the first record; `settings` are those of each member."""
        self._sent: dict[str, tuple[SentMessage, str]] = {}
        self._members = {
            name: _Member(name, one, TurnsOfNode(one, self._sent)) for name, one in settings.items()
        }

    def before(self, record: NodeRecord) -> list[Told]:
        """Return what is overdue of a member when its next record comes. Raises: RecordError"""
        for one in record.sent:
            self._sent.setdefault(one.id, (one, record.node))
        try:
            return list(self._members[record.node].take(record))
        except (LookupError, TypeError, ValueError) as error:
            said = f"{type(error).__name__}: {error}"
            raise RecordError(f"what it owes cannot be told from it: {said}") from None
