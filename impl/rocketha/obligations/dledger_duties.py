"""What members of a DLedger group owe at the end of a turn: by what they have heard until then.

| obligation         | when                                     | what                             |
|--------------------|------------------------------------------|----------------------------------|
| requests answered  | a request comes                          | an answer, in the same turn      |
| term and vote kept | anything is sent, they are written, or   | the disk has them, and when it   |
|                    | a start has read them                    | may vote after its log was lost  |
| entries applied    | more is committed, and need not wait     | all of it is applied             |
| snapshots saved    | so many entries are applied              | a newer snapshot, and not before |
| logs cut           | a snapshot was saved                     | the log begins behind it         |
| files removed      | the log is cut, or the member starts     | no file that has nothing of it   |
| entries committed  | a majority has acknowledged an entry of  | it is committed                  |
|                    | the term, the leader's own disk included |                                  |
| leaderships begun  | it becomes leader                        | an entry of its own, and COMPARE |
|                    |                                          | to all others                    |
| pushes go on       | a follower has answered a push of the    | the next one: TRUNCATE, COMPARE  |
|                    | newer generation                         | further in front, or APPEND      |
|                    | or has refused none since entries are    | no COMPARE                       |
|                    | appended                                 |                                  |
|                    | or says that its log ends with what was  | no TRUNCATE, as releases up to   |
|                    | compared, in the older generation        | 0.3.2                            |
| entries pushed     | a leader writes one                      | it goes to who has all before it |
| rounds judged      | a round of votes ends, or is decided     | by the answers that have come    |
| leaderships handed | it is asked to lead, and lacks nothing   | a candidate of the next term     |
|                    | it prefers another one to lead           | whom it has heard of             |
| errors rested      | a follower has refused a push            | a while without pushes to it     |

Source: DLedgerEntryPusher, DLedgerLeaderElector, StateMachineCaller, SnapshotManager, MmapFileList
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode
from rocketha.obligations.dledger_turns import Has, Heard, Turn
from rocketha.recording.record import RESPONSE

__all__ = [
    *("CUT", "DUTIES", "FREED", "GO_ON", "HANDED", "JUDGED", "PUSHED", "RESTED", "SAVED"),
    "Duties",
]

ANSWERED: Final = "requests answered"
KEPT: Final = "term and vote kept"
APPLIED: Final = "entries applied"
SAVED: Final = "snapshots saved"
CUT: Final = "logs cut"
FREED: Final = "files removed"
COMMITTED: Final = "entries committed"
BEGUN: Final = "leaderships begun"
GO_ON: Final = "pushes go on"
PUSHED: Final = "entries pushed"
JUDGED: Final = "rounds judged"
HANDED: Final = "leaderships handed over"
RESTED: Final = "errors rested after"
DUTIES: Final = (
    *(ANSWERED, KEPT, APPLIED, SAVED, CUT, COMMITTED, BEGUN, GO_ON, PUSHED, JUDGED),
    *(HANDED, RESTED, FREED),
)

_AT_ONCE: Final = frozenset(
    {
        DLedgerRequestCode.VOTE,
        DLedgerRequestCode.HEART_BEAT,
        DLedgerRequestCode.PUSH,
        DLedgerRequestCode.INSTALL_SNAPSHOT,
    }
)
_PUSHES: Final = (DLedgerRequestCode.PUSH, DLedgerRequestCode.INSTALL_SNAPSHOT)
_SUCCESS: Final = DLedgerResponseCode.SUCCESS
_INCONSISTENT: Final = DLedgerResponseCode.INCONSISTENT_STATE
_NONE: Final = -1
_LARGER: Final = frozenset({"REJECT_EXPIRED_VOTE_TERM", "REJECT_TERM_SMALL_THAN_LEDGER"})
_LONGER: Final = frozenset({"REJECT_EXPIRED_LEDGER_TERM", "REJECT_SMALL_LEDGER_END_INDEX"})


@dataclass(slots=True)
class _Peer:
    """What a leader has pushed to a follower, and heard of it."""

    kind: str = "COMPARE"
    waits_for: dict[str, int] = field(default_factory=dict)
    """Name of a push -> when it was sent, as the leader's clock shows."""
    next: int | None = None
    """The next entry to append; None: it is not known yet."""
    mark: int = _NONE
    """What it has acknowledged."""
    may_compare: bool = True
    """It has perhaps refused a push since it was compared with last."""
    rests_until: int | None = None
    """Nothing is pushed to it before the leader's clock shows this: it has refused a push."""
    perhaps_since: set[int] = field(default_factory=set)
    """Since then the leader perhaps waits, each for a push that is no longer in `waits_for`."""

    def waits_since(self, shows_ms: int) -> int:
        """Return when the first push was sent that may be waited for; now, if none is."""
        return min([shows_ms, *self.perhaps_since, *self.waits_for.values()])

    def lose_track(self) -> None:
        """Have it that the leader waits, or begins again: which of the two is not recorded."""
        self.perhaps_since |= {*self.waits_for.values()}
        self.waits_for.clear()
        self.next = None

    def forget_before(self, ms: int) -> None:
        """Have it that the leader waits for nothing that is older: it would have begun again."""
        self.waits_for = {name: at_ms for name, at_ms in self.waits_for.items() if at_ms >= ms}
        self.perhaps_since = {at_ms for at_ms in self.perhaps_since if at_ms >= ms}

    def begin_again(self) -> None:
        """Have it that the leader waits for nothing."""
        self.waits_for.clear()
        self.perhaps_since.clear()


@dataclass(slots=True)
class Duties:
    """Follows one member; what it owes is yielded turn by turn."""

    settings: Mapping[str, Any]
    _peers: dict[str, _Peer] = field(default_factory=dict)
    _votes: dict[str, str] = field(default_factory=dict)
    """Of the present round: who has answered, and what."""
    _terms: dict[str, int] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    """Requests of the present round."""
    _transfers: set[str] = field(default_factory=set)
    """Requests to lead that have come."""
    _alive: set[str] = field(default_factory=set)
    """Who has answered a heartbeat of this leadership."""

    def of(self, turn: Turn) -> Iterator[tuple[str, bool]]:
        """Yield what is due in a turn, and whether it was done."""
        leads = turn.after["role"] == "LEADER"
        changed = _leadership(turn.before) != _leadership(turn.after)
        if changed or not leads:
            self._peers, self._alive = {}, set()
        if turn.is_cut:
            return
        yield from self._at_the_end(turn)
        yield from self._round(turn)
        yield from self._prefers(turn)
        if leads and changed:
            yield BEGUN, self._begins(turn)
        elif leads:
            yield from self._leads(turn)
        for code, peer, body, name in turn.sent if leads else ():
            one = self._peers.get(peer)
            if one is not None and one.rests_until is not None and code in _PUSHES:
                yield RESTED, turn.shows_ms >= one.rests_until
                one.rests_until = None
            if one is not None and one.kind == "APPEND" and body.get("type") == "COMPARE":
                yield GO_ON, one.may_compare
            self._note_push(turn, code, peer, body, name)

    # ---- whatever it is ----

    def _at_the_end(self, turn: Turn) -> Iterator[tuple[str, bool]]:
        before, after, heard = turn.before, turn.after, turn.heard
        if turn.event == "RequestArrived" and heard is not None:
            if heard.code in _AT_ONCE:
                yield ANSWERED, heard.id in turn.answers
            elif heard.code == DLedgerRequestCode.LEADERSHIP_TRANSFER:
                yield from _handed(turn, heard, again=heard.id in self._transfers)
                self._transfers.add(heard.id)
        if turn.sent or turn.answers or after["kept"] != before["kept"]:
            refill = before.refill_term
            yield KEPT, after.has_kept(after["curr_term"], after["vote"], refill)
        elif turn.event == "Started":
            yield KEPT, after.has_kept(after["curr_term"], after["vote"], after.refill_term)
        yield from _frees(turn)
        if after["committed"] != before["committed"] and not self.settings["apply_wait_ms"]:
            yield APPLIED, after["applied"] == min(after["committed"], after.end)
        is_installed = heard is not None and heard.code == DLedgerRequestCode.INSTALL_SNAPSHOT
        if after["snapshot"] > before["snapshot"] and not is_installed:
            since = after["snapshot"] - before["snapshot"]
            yield SAVED, since >= self.settings["snapshot_threshold"]
        if not self.settings["enable_snapshot"] or after["applied"] == before["applied"]:
            return
        yield SAVED, after["applied"] - after["snapshot"] < self.settings["snapshot_threshold"]
        if after["snapshot"] != before["snapshot"]:
            yield CUT, after["begin"] == after["snapshot"]

    def _prefers(self, turn: Turn) -> Iterator[tuple[str, bool]]:
        """A leader hands over by itself to nobody of whom it has heard nothing."""
        heard = turn.heard
        if heard is not None and heard.code == _BEAT and turn.event == "ResponseArrived":
            self._alive.add(heard.peer)
        if turn.event == "TimerFired":
            for code, peer, _, _ in turn.sent:
                if code == DLedgerRequestCode.LEADERSHIP_TRANSFER:
                    yield HANDED, peer in self._alive

    # ---- candidates ----

    def _round(self, turn: Turn) -> Iterator[tuple[str, bool]]:
        """Follow a round of votes; its end, and what it comes to, are due by what has come."""
        before, after, heard = turn.before["own_answer"], turn.after["own_answer"], turn.heard
        if before is None and after is not None:
            self._votes, self._terms = {turn.node: after[0]}, {turn.node: after[1]}
            self._asked = {name for code, _, _, name in turn.sent if code == _VOTE}
        if before is None:
            return
        is_vote = heard is not None and heard.code == _VOTE and turn.event == "ResponseArrived"
        if is_vote and heard is not None and heard.id.removesuffix(RESPONSE) in self._asked:
            self._votes.setdefault(heard.peer, heard.body["voteResult"])
            self._terms.setdefault(heard.peer, heard.body["term"])
            if self._is_decided():
                yield JUDGED, after is None
        if after is None and turn.after["role"] != "FOLLOWER":
            yield JUDGED, self._comes_to(turn)

    def _count(self, *results: str) -> int:
        return sum(result in results for result in self._votes.values())

    def _is_quorum(self, count: int) -> bool:
        return 2 * count > len(self.settings["peers"])

    def _is_decided(self) -> bool:
        accepted = self._count("ACCEPT")
        return (
            len(self._votes) == len(self.settings["peers"])
            or self._count("REJECT_ALREADY_HAS_LEADER") > 0
            or self._is_quorum(accepted + self._count("REJECT_TERM_NOT_READY"))
        )

    def _comes_to(self, turn: Turn) -> bool:
        """Tell whether a round came to what its answers say."""
        before, after = turn.before, turn.after
        largest = max(
            [self._terms[who] for who, result in self._votes.items() if result in _LARGER],
            default=_NONE,
        )
        accepted, valid = self._count("ACCEPT"), len(self._votes)
        longer = self._count(*_LONGER)
        leads, to_next = after["role"] == "LEADER", after["to_next"]
        if largest > before["curr_term"]:
            return to_next and not leads and after["known"] >= largest
        has_leader = self._count("REJECT_ALREADY_HAS_LEADER") > 0
        if has_leader or not self._is_quorum(valid - longer):
            return not to_next and not leads
        if self._is_quorum(accepted):
            may_lead = not before["raises"] and before["known"] < 0
            return leads if may_lead else bool(to_next and not leads)
        if self._is_quorum(accepted + self._count("REJECT_TERM_NOT_READY")):
            return not to_next and not leads
        return bool(to_next and not leads)

    # ---- leaders ----

    def _begins(self, turn: Turn) -> bool:
        """An entry of the own term is written, and all others are asked what they have."""
        before, after = turn.before, turn.after
        others = set(self.settings["peers"]) - {turn.node}
        self._peers = {peer: _Peer() for peer in others}
        compared = {
            to
            for code, to, body, _ in turn.sent
            if code == DLedgerRequestCode.PUSH and body["type"] == "COMPARE"
        }
        installed = {to for code, to, _, _ in turn.sent if code == _INSTALL}
        if self.settings["legacy_push"]:  # that has no entry of its own; all logs begin alike
            return before.end < 0 or compared == others
        wrote = after.end == before.end + 1 and after.end_term == after["curr_term"]
        return wrote and compared | installed == others

    def _note_push(
        self, turn: Turn, code: int, peer: str, body: Mapping[str, Any], name: str
    ) -> None:
        if code not in _PUSHES or peer not in self._peers:
            return
        one, kind = self._peers[peer], body.get("type", "INSTALL_SNAPSHOT")
        if kind == "COMMIT":
            return
        entries = body.get("entries", ())
        again = bool(entries) and one.next is not None and entries[0]["index"] < one.next
        if kind != one.kind or kind != "APPEND" or again:
            one.begin_again()
        one.forget_before(turn.shows_ms - self.settings["max_push_time_out_ms"])
        one.kind, one.may_compare = kind, one.may_compare and kind != "COMPARE"
        one.waits_for[name] = turn.shows_ms
        one.next = entries[-1]["index"] + 1 if entries else None

    def _leads(self, turn: Turn) -> Iterator[tuple[str, bool]]:
        heard = turn.heard
        if turn.event == "ResponseArrived":
            if heard is None:  # nobody knows which request will not be answered
                for one in self._peers.values():
                    one.lose_track()
                    one.may_compare |= bool(turn.records[0].received)
            elif heard.code in _PUSHES and heard.peer in self._peers:
                self._peers[heard.peer].may_compare |= heard.body["code"] != _SUCCESS
                due = list(self._answered(turn, heard, self._peers[heard.peer]))
                if not self.settings["legacy_push"]:
                    yield from due
                elif _has_nothing_to_cut(heard):
                    yield GO_ON, not _sends(turn, heard.peer, {"type": "TRUNCATE"})
        yield from self._commits(turn)
        if turn.after.end > turn.before.end and turn.event == "AppendAsked":
            for peer, one in self._peers.items():
                waited_ms = turn.shows_ms - one.waits_since(turn.shows_ms)
                in_time = waited_ms <= self.settings["max_push_time_out_ms"]
                if in_time and one.kind == "APPEND" and one.next == turn.before.end + 1:
                    yield PUSHED, _pushes(turn, peer, one.next)

    def _answered(self, turn: Turn, heard: Heard, one: _Peer) -> Iterator[tuple[str, bool]]:
        """Follow the answer to a push, if the leader still waits for it."""
        first_ms = one.waits_since(turn.shows_ms)
        sent_ms = one.waits_for.pop(heard.id.removesuffix(RESPONSE), None)
        if sent_ms is None:
            if heard.body["code"] != _SUCCESS:  # perhaps the leader waits for it
                one.lose_track()
            return
        waited_ms = turn.shows_ms - first_ms  # when the first is overdue all are sent again
        if waited_ms > self.settings["max_push_time_out_ms"]:
            one.lose_track()
            return
        asked, code = heard.asked, heard.body["code"]
        if code == _SUCCESS and one.kind == "COMPARE":
            index = asked["preLogIndex"] + 1
            said = {"type": "TRUNCATE", "preLogIndex": index}
            installs = (_INSTALL, heard.peer) in [(code, to) for code, to, _, _ in turn.sent]
            is_cut = index < turn.after["begin"]  # the entry, and its term, too
            yield GO_ON, installs if is_cut else _sends(turn, heard.peer, said)
        elif code == _SUCCESS:
            last = _last_of(one.kind, asked)
            one.mark = max(one.mark, last)
            if one.kind != "APPEND":
                one.next = last + 1
                if last < turn.after.end:
                    yield GO_ON, _pushes(turn, heard.peer, last + 1)
        elif code == _INCONSISTENT and one.kind == "COMPARE":
            yield GO_ON, _compares_before(turn, heard)
        elif code == _INCONSISTENT:
            said = {"type": "COMPARE", "preLogIndex": turn.before.end}
            yield GO_ON, _sends(turn, heard.peer, said)
        else:
            one.lose_track()
            one.rests_until = turn.shows_ms + self.settings["push_retry_ms"]

    def _commits(self, turn: Turn) -> Iterator[tuple[str, bool]]:
        counted = self.counted(turn)
        if counted is None:
            return
        held, after = counted[1], turn.after
        if held > turn.before["committed"] and after.term_at(held) == after["curr_term"]:
            yield COMMITTED, after["committed"] >= held

    def counted(self, turn: Turn) -> tuple[frozenset[str], int] | None:
        """Return what a majority has, as a leader has heard, and who does; None: it counts not."""
        after, syncs = turn.after, turn.event == "SyncDue"
        if not self._peers or not (syncs or _acknowledges(turn)):
            return None
        marks = {peer: one.mark for peer, one in self._peers.items()}
        marks[turn.node] = (after if syncs else turn.before)["synced"]
        held = sorted(marks.values())[-(len(self.settings["peers"]) // 2 + 1)]
        return frozenset({who for who, mark in marks.items() if mark >= held}), held


def _frees(turn: Turn) -> Iterator[tuple[str, bool]]:
    """Files go with the entries that were in them; what a start finds of the index may stay."""
    before, after = turn.before, turn.after
    needless: list[str] = after.parts.get("needless", [])
    if after["begin"] != before["begin"] or after.end < before.end:
        yield FREED, not needless
    elif turn.event == "Started":
        yield FREED, not [name for name in needless if name.startswith("data/")]


_VOTE: Final = DLedgerRequestCode.VOTE
_BEAT: Final = DLedgerRequestCode.HEART_BEAT
_INSTALL: Final = DLedgerRequestCode.INSTALL_SNAPSHOT


def _leadership(has: Has) -> tuple[Any, ...]:
    return has["role"], has["leader"], has["curr_term"]


def _acknowledges(turn: Turn) -> bool:
    """Tell whether a follower has said that it has something on its disk."""
    heard = turn.heard
    if heard is None or turn.event != "ResponseArrived" or heard.code not in _PUSHES:
        return False
    is_more = heard.asked.get("type") not in ("COMPARE", "COMMIT")
    return bool(is_more and heard.body["code"] == _SUCCESS)


def _last_of(kind: str, asked: Mapping[str, Any]) -> int:
    """Return what a push asks to be acknowledged."""
    if kind == "APPEND":
        last: int = asked["entries"][-1]["index"]
        return last
    index: int = asked["preLogIndex"] - 1 if kind == "TRUNCATE" else asked["lastIncludedIndex"]
    return index


def _has_nothing_to_cut(heard: Heard) -> bool:
    """Tell whether a log ends with what was compared: a leader up to 0.3.2 appends at once."""
    asked = heard.asked
    is_found = heard.body["code"] == _SUCCESS and asked.get("type") == "COMPARE"
    return is_found and bool(heard.body["endIndex"] == asked["preLogIndex"])


def _sends(turn: Turn, peer: str, said: Mapping[str, Any]) -> bool:
    return any(
        to == peer and code == DLedgerRequestCode.PUSH and said.items() <= _plain(body).items()
        for code, to, body, _ in turn.sent
    )


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if not isinstance(value, list)}


def _installs(turn: Turn, peer: str) -> bool:
    """Tell whether it sends its snapshot, or has none that it could send."""
    return any(code == _INSTALL and to == peer for code, to, _, _ in turn.sent)


def _pushes(turn: Turn, peer: str, index: int) -> bool:
    """Tell whether entries from this one on are sent, or the snapshot that has them."""
    if index <= turn.after["begin"]:
        return _installs(turn, peer)
    sent = [
        one["index"]
        for code, to, body, _ in turn.sent
        if code == DLedgerRequestCode.PUSH and to == peer
        for one in body["entries"]
    ]
    return sent == list(range(index, turn.after.end + 1))


def _compares_before(turn: Turn, heard: Heard) -> bool:
    """Tell whether it compares what may be the last entry that both have, or sends a snapshot."""
    asked, answer, after = heard.asked, heard.body, turn.after
    index, begin = asked["preLogIndex"], answer["beginIndex"]
    if begin > index + 1:
        wanted = begin - 1
    elif answer["xTerm"] < 0:
        wanted = min(answer["endIndex"], index - 1)
    else:
        same = index - 1
        while same > after["begin"] and (after.term_at(same) or 0) > answer["xTerm"]:
            same -= 1
        is_there = after.term_at(same) == answer["xTerm"] and same >= answer["xIndex"]
        wanted = min(max(same if is_there else _NONE, answer["xIndex"] - 1), index - 1)
    if after.term_at(wanted) is None:
        return _installs(turn, heard.peer) or after["snapshot"] < after["begin"]
    return _sends(turn, heard.peer, {"type": "COMPARE", "preLogIndex": wanted})


def _handed(turn: Turn, heard: Heard, *, again: bool) -> Iterator[tuple[str, bool]]:
    """Who is asked by its leader to lead, and lacks nothing, is a candidate of the next term.

    A request that comes `again` takes the place of the first one, which is refused.
    """
    before, after, asked = turn.before, turn.after, heard.body
    follows = before.follows(asked["transferId"])
    if not follows or asked["term"] != before["curr_term"]:
        refused = turn.answers.get(heard.id)
        yield HANDED, refused is not None and refused["code"] != _SUCCESS
    elif before.end >= asked["takeLeadershipLedgerIndex"]:
        takes = after["role"] == "CANDIDATE" and after["taking"] == asked["term"] + 1
        waits = again or heard.id not in turn.answers
        yield HANDED, takes and after["raises"] and waits
