"""What members of a DLedger group did, turn by turn: what came from outside, and all that followed.

A member takes an event from outside (a request, an answer, a timer, a client) and then those that
follow from it, and nothing comes between. What is committed may wait for the state machine: then
`ApplyDue` comes from outside, and again as often as there is something to apply. Indexes and terms
are DLedger's, from 0 on; -1 is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from rocketha.obligations.obligation import RecordedRun, time_ms
from rocketha.recording.dledger_members import STOOD_STILL
from rocketha.recording.record import RESPONSE, STARTED, STOPPED, NodeRecord, SentMessage
from rocketha.types import TimestampMs

__all__ = [
    "FORGED",
    "FROM_OUTSIDE",
    "INQUIRIES",
    "Has",
    "Heard",
    "Turn",
    "TurnsOfNode",
    "forged",
    "is_unreadable",
    "misdirected",
    "pauses_of",
    "turns_of",
]

_NONE: Final = -1
INQUIRIES: Final = frozenset({"AppendEntryRequest", "GetEntriesRequest", "MetadataRequest"})
"""What clients are answered at once; an APPEND only if it is for somebody else."""
FORGED: Final = frozenset({"HeartBeatRequest", "PushEntryRequest", "VoteRequest"})
"""What only members send to each other."""
FROM_OUTSIDE: Final = INQUIRIES | frozenset(
    {
        "AppendAsked",
        "ChannelGone",
        "FrameReceived",
        "ReadAsked",
        "RequestArrived",
        "ResponseArrived",
        "ScanDue",
        "Started",
        "SyncDue",
        "TimerFired",
    }
)
"""Events that follow from nothing that the member has done in the same turn, those of a controller
above it included."""


@dataclass(frozen=True, slots=True)
class Has:
    """What a member has at some time, by the names of its parts."""

    parts: Mapping[str, Any]
    log: tuple[tuple[int, int], ...]
    """Term of each entry behind `begin`, and a checksum."""

    def __getitem__(self, name: str) -> Any:
        """Return a part."""
        return self.parts[name]

    @property
    def refill_term(self) -> int:
        """Return the term below which its last entry must not be when it votes; -1: it may."""
        term: int = (self.parts["kept"] or {}).get("refill_term", -1)
        return term

    def has_kept(self, term: int, vote: str | None, refill_term: int) -> bool:
        """Tell whether this is on its disk."""
        kept = self.parts["kept"]
        if kept is None or self.refill_term != refill_term:
            return False
        return (kept["curr_term"], kept["vote_leader"]) == (term, vote)

    @property
    def end(self) -> int:
        """Return the last entry."""
        begin: int = self.parts["begin"]
        return begin + len(self.log)

    def term_at(self, index: int) -> int | None:
        """Return the term of an entry, or of the last one that was cut; None: it is not here."""
        begin = self.parts["begin"]
        if index == begin:
            term: int = self.parts["begin_term"]
            return term
        written = self.item_at(index)
        return None if written is None else written[0]

    def item_at(self, index: int) -> tuple[int, int] | None:
        """Return term and checksum of an entry; None: it is not here."""
        begin = self.parts["begin"]
        return self.log[index - begin - 1] if begin < index <= self.end else None

    @property
    def end_term(self) -> int:
        """Return the term of the last entry."""
        term = self.term_at(self.end)
        assert term is not None
        return term

    def follows(self, leader: str | None) -> bool:
        """Tell whether it follows this member."""
        return bool(self.parts["role"] == "FOLLOWER" and self.parts["leader"] == leader)


@dataclass(frozen=True, slots=True)
class Heard:
    """A request or an answer that a member received."""

    id: str
    code: int
    """Of the request."""
    body: Mapping[str, Any]
    asked: Mapping[str, Any]
    """Of an answer the request; else the request itself."""
    peer: str
    """Who sent it."""


@dataclass(slots=True)
class Turn:
    """One turn of a member."""

    node: str
    records: list[NodeRecord]
    before: Has
    after: Has
    heard: Heard | None = None
    """What it received, if it did."""
    sent: list[tuple[int, str, Mapping[str, Any], str]] = field(default_factory=list)
    """Requests: code, to whom, what, and the name of the message."""
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name of the request -> what was answered."""
    is_cut: bool = False
    """The member ended in it."""
    is_last: bool = False
    """The member ended, or the run, before another one."""
    is_stopped: bool = False
    """The member ended."""

    @property
    def event(self) -> str:
        """Return what came from outside."""
        return self.records[0].event

    @property
    def at_ms(self) -> TimestampMs:
        """Return when it was."""
        return time_ms(self.records[0])

    @property
    def shows_ms(self) -> int:
        """Return what the clock of the member showed."""
        return self.records[0].shows_ms

    @property
    def incarnation(self) -> int:
        """Return how often the member had started."""
        return self.records[0].incarnation

    @property
    def events(self) -> set[str]:
        """Return all events of it."""
        return {one.event for one in self.records}

    @property
    def answered(self) -> list[Any]:
        """Return what clients were told."""
        return [one for record in self.records for one in record.answered]


def misdirected(turn: Turn, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the request that began a turn, if it is for another member, or another group."""
    asked = _from_outside(turn)
    return None if asked is None or _is_own(turn, asked, settings) else asked


def forged(turn: Turn, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the request that began a turn, if it is one of members, and came from outside."""
    asked = _from_outside(turn)
    is_forged = asked is not None and asked["is"] in FORGED and _is_own(turn, asked, settings)
    return asked if is_forged else None


def is_unreadable(turn: Turn) -> bool:
    """Tell whether what began a turn is no request."""
    heard = turn.records[0].heard
    return any(isinstance(x, dict) and x.get("is") == "OutsiderHeard" for x in heard)


def _from_outside(turn: Turn) -> Mapping[str, Any] | None:
    found = (x for x in turn.records[0].heard if isinstance(x, dict) and "remote_id" in x)
    return next(found, None)


def _is_own(turn: Turn, asked: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    return (asked["remote_id"], asked["group"]) == (turn.node, settings["group"])


def turns_of(run: RecordedRun) -> Mapping[str, Sequence[Turn]]:
    """Return the turns of each member."""
    return run.once(_turns_of)


def _turns_of(run: RecordedRun) -> Mapping[str, Sequence[Turn]]:
    sent: dict[str, tuple[SentMessage, str]] = {}
    for record in run.records:
        _note_sent(sent, record)
    found: dict[str, list[Turn]] = {}
    for name, records in run.by_node.items():
        turns, of = found.setdefault(name, []), TurnsOfNode(run.headers[name].settings, sent)
        for record in records:
            turns += of.take(record)
        turns += of.end()
    return found


def _note_sent(sent: dict[str, tuple[SentMessage, str]], record: NodeRecord) -> None:
    for one in record.sent:  # to a request that comes twice the first answer is received
        sent.setdefault(one.id, (one, record.node))


def _body(message: SentMessage) -> Mapping[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(message.body or "{}")
    if "batchEntry" in found:
        return found | _of_legacy_push(found)
    if "endIndex" in found:
        found.setdefault("xTerm", _NONE)  # the answer to such a push does not say it
    return found


def _of_legacy_push(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a push of the older generation says as one of the newer one (`legacy_push`)."""
    entry = body.get("entry")
    match body["type"]:
        case "COMPARE" if entry is not None:
            return {"entries": [], "preLogIndex": entry["index"], "preLogTerm": entry["term"]}
        case "TRUNCATE" if entry is not None:
            return {"entries": [], "preLogIndex": entry["index"] + 1, "preLogTerm": _NONE}
        case _:
            return {"entries": body["batchEntry"] or ([] if entry is None else [entry])}


class TurnsOfNode:
    """Makes turns of the records of a member, one by one."""

    def __init__(
        self, settings: Mapping[str, Any], sent: Mapping[str, tuple[SentMessage, str]]
    ) -> None:
        """Take how it is set up; `sent` has, by its name, what members send, and who did."""
        self._settings = settings
        self._sent = sent
        self._has = Has({}, ())
        self._turn: Turn | None = None

    def take(self, record: NodeRecord) -> Iterator[Turn]:
        """Take the next record; yield the turn that is over then, if one is."""
        if record.event in (STARTED, STOPPED):
            turn, self._turn = self._turn, None
            if turn is not None:
                same = record.event == STOPPED and record.at_ns // 1_000_000 == turn.at_ms
                turn.is_cut, turn.is_last, turn.is_stopped = same, True, True
                yield turn
            self._has = _after(Has({}, ()) if record.event == STARTED else self._has, record)
            return
        turn, has = self._turn, self._has
        if turn is None or _begins_turn(record, turn, self._settings):
            if turn is not None:
                yield turn
            turn = self._turn = Turn(record.node, [], has, has, _heard(record, self._sent))
        turn.records.append(record)
        self._has = turn.after = _after(has, record)
        for message in record.sent:
            if message.to is None:
                turn.answers[message.id.removesuffix(RESPONSE)] = _body(message)
            else:
                code = message.code or 0
                turn.sent.append((code, message.to, _body(message), message.id))

    def end(self) -> Iterator[Turn]:
        """Yield the turn that is not over: there are no more records."""
        if self._turn is not None:
            self._turn.is_last = True
            yield self._turn


def _begins_turn(record: NodeRecord, turn: Turn, settings: Mapping[str, Any]) -> bool:
    if record.event != "ApplyDue" or not settings["apply_wait_ms"]:
        return record.event in FROM_OUTSIDE
    before = [one for one in turn.records if one.event == "ApplyDue"]
    return not before or before[-1].action is None


def _after(has: Has, record: NodeRecord) -> Has:
    if not record.state:
        return has
    log = has.log
    change = record.state.get("log")
    if change is not None:
        added = [(term, crc) for term, crc in change["added"]]
        log = (*log[: change["kept"]], *added)
    return Has({**has.parts, **record.state}, log)


def _heard(record: NodeRecord, sent: Mapping[str, tuple[SentMessage, str]]) -> Heard | None:
    for name in record.received:
        request = name.removesuffix(RESPONSE)
        if name not in sent or request not in sent:
            continue
        asked, heard = sent[request][0], sent[name][0]
        return Heard(name, asked.code or 0, _body(heard), _body(asked), sent[name][1])
    return None


def _stood_still(heard: Sequence[Any]) -> list[int]:
    return [int(one["wait_ms"]) for one in heard if one.get("is") == STOOD_STILL]


def pauses_of(records: Sequence[NodeRecord]) -> list[tuple[int, int]]:
    """Return when the process of a turn went on that had stood still, and for how long it had."""
    stood = [ms for record in records for ms in _stood_still(record.heard)]
    return [(time_ms(records[0]), sum(stood))] if stood else []
