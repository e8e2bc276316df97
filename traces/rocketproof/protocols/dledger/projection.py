"""Runs of `rocketha.dledger` as behaviours of DLedger.

Which action a step is, what arrived, what was sent and what has changed say; what its core says of
it is not asked. After every action the whole state is read from the real one:

| specification        | implementation                                                       |
|----------------------|----------------------------------------------------------------------|
| term, vote           | `currterm` on the disk                                               |
| log, synced, base    | the entries in the data files, with those that a snapshot stands for |
| snap                 | the newest snapshot on the disk                                      |
| round                | of a candidate with a round: what was answered, arrived or not       |
| asks, transfers      | requests that were sent                                              |
| sent                 | of each leadership: the leader's log, its commit index, its snapshot |
| truncates            | of each COMPARE that succeeded: what its leader will have cut        |
| acks                 | answers that were sent, the largest index of each member and term    |
| agreed               | the longest log of which a leader has said that it is committed      |
| all else             | the member's memory                                                  |

A member that is down has the state that it had; when it is back, that was a Crash.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.push_state import SnapshotArrived
from rocketha.errors import PacketError
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode, PushType
from rocketha.formats.dledger_request_codec import pull_request, pull_response
from rocketha.formats.dledger_requests import (
    DLedgerRequest,
    DLedgerResponse,
    InstallSnapshotRequest,
    LeadershipTransferRequest,
    PushEntryRequest,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.sim.dledger.cluster import (
    DLedgerCluster,
    DLedgerStep,
    MemberStarted,
    MemberStopped,
)
from rocketha.sim.dledger.machine import Member, MemberStepped
from rocketha.sim.engine.frames import Frame
from rocketha.sim.engine.node import broker_address
from rocketha.types import BrokerId, LogIndex
from rocketproof.protocols.dledger.actions import Change, action_of
from rocketproof.protocols.dledger.seen import (
    NO_ROUND,
    Answers,
    Ask,
    Entry,
    Seen,
    answer_of,
    ask_of,
    seen,
)
from rocketproof.protocols.dledger.values import GroupParts, GroupValues, Leadership
from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.trace import Event
from tlatrace.values import State, tla_set

__all__ = ["DLEDGER_SPEC", "DLedgerProjection"]

DLEDGER_SPEC: Final = "DLedger"
_RESPONSE: Final = ":response"

_Key: TypeAlias = tuple[str, int, int]
"""A leadership: by whom, since how many power cuts, in which term."""


class DLedgerProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._cluster: DLedgerCluster | None = None
        self._names: tuple[str, ...] = ()
        self._seen: dict[str, Seen] = {}
        self._answers: dict[str, dict[str, tuple[str, int]]] = {}
        """Of each candidate with a round: what members have answered."""
        self._asks: set[Ask] = set()
        self._sent: dict[_Key, Leadership] = {}
        self._truncates: set[tuple[str, str, int, int, int]] = set()
        self._acks: dict[tuple[str, int], int] = {}
        self._transfers: set[tuple[str, str, int, int]] = set()
        self._agreed: tuple[Entry, ...] = ()
        self._requests: dict[str, DLedgerRequest] = {}
        """What was sent, by the names of messages."""
        self._of_round: dict[str, set[str]] = {}
        """Of each candidate: its requests in the present round."""
        self._writers: dict[tuple[int, int, bytes], Entry] = {}
        self._values = GroupValues()

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        assert self._cluster is not None
        configs = self._cluster.plan.configs
        return {
            "Node": tla_set(self._names),
            "None": NONE,
            "Preferred": tla_set(configs[0].preferred_leader_ids),
        }

    # ---- the observer ----

    def started(self, cluster: DLedgerCluster) -> None:
        """Record the initial state."""
        self._cluster = cluster
        self._names = tuple(map(broker_address, cluster.members))
        for name, member in zip(self._names, cluster.members.values(), strict=True):
            self._seen[name] = seen(member, (), 0)
            self._answers[name] = {}
            self._of_round[name] = set()
        self._record(cluster, NONE, "Init")

    def stepped(self, cluster: DLedgerCluster, step: DLedgerStep) -> None:
        """Record an action, and the state after it."""
        match step:
            case MemberStepped():
                self._member_stepped(cluster, step)
            case MemberStopped():
                pass
            case MemberStarted(member=number):
                self._restarted(cluster, number)

    def _restarted(self, cluster: DLedgerCluster, number: BrokerId) -> None:
        name, member = broker_address(number), cluster.members[number]
        before = self._seen[name]
        log = self._log_of(member, before)
        self._seen[name] = seen(member, log, before.inc + 1)
        self._answers[name] = {}
        self._record(cluster, name, "Crash", name, len(log))

    def _member_stepped(self, cluster: DLedgerCluster, step: MemberStepped) -> None:
        name, member = broker_address(step.member), cluster.members[step.member]
        before, round_before = self._seen[name], self._round_of(name)
        arrived = self._arrived(step)
        for frame in step.sent:
            self._note_request(name, frame)
        after = seen(member, self._log_of(member, before, arrived), before.inc)
        self._seen[name] = after
        own = self._follow_round(member, name, before, after)
        noted = _Noted()
        for frame in step.sent:
            self._note_answer(name, after, frame, noted)
            self._note_transfer(name, after, frame, noted)
        self._follow_leadership(name, before, after)
        round_after = self._round_of(name)
        changed = after != before or own or noted.changes or round_before != round_after
        if not changed:
            return
        change = Change(
            before=before,
            after=after,
            round_before=round_before,
            round_after=round_after,
            of_others=noted.of_others,
            acks=noted.acks,
            truncates=noted.truncates,
            transferred_to=noted.transferred_to,
            arrived=None if arrived is None else _kind(arrived),
            answered_by=self._answerer(step),
        )
        found = action_of(change)
        action, params = (None, ()) if found is None else (found[0], (name, *found[1]))
        self._record(cluster, name, action, *params)

    # ---- what arrived ----

    def _arrived(self, step: MemberStepped) -> DLedgerRequest | None:
        if isinstance(step.event, SnapshotArrived):  # after what was not synchronized is
            return step.event.message
        for message in step.received:
            if not message.endswith(_RESPONSE):
                return self._requests.get(message)
        return None

    def _answerer(self, step: MemberStepped) -> str | None:
        for message in step.received:
            request = self._requests.get(message.removesuffix(_RESPONSE))
            if message.endswith(_RESPONSE) and request is not None:
                return request.remote_id
        return None

    # ---- what was sent ----

    def _note_request(self, name: str, frame: Frame) -> None:
        if frame.to is None:
            return
        command = RemotingCommand(code=frame.code, opaque=0, body=frame.body)
        request = pull_request(command)
        self._requests[frame.id] = request
        if isinstance(request, VoteRequest):
            self._asks.add(ask_of(request))
            self._of_round[name].add(frame.id)

    def _note_transfer(self, name: str, after: Seen, frame: Frame, noted: _Noted) -> None:
        request = self._requests.get(frame.id)
        if isinstance(request, LeadershipTransferRequest) and request.transferee_id is not None:
            index = request.take_leadership_ledger_index + 1
            asked = (name, request.transferee_id, request.term + 1, index)
            if asked not in self._transfers or after.transferee != NONE:
                noted.transferred_to = request.transferee_id
            self._transfers.add(asked)

    def _note_answer(self, name: str, after: Seen, frame: Frame, noted: _Noted) -> None:
        """Note what an answer says: a vote, a match, or what is on the disk."""
        asked = self._requests.get(frame.id.removesuffix(_RESPONSE))
        if frame.to is not None or asked is None:
            return
        answer = _pull_answer(frame, asked)
        if isinstance(answer, VoteResponse) and isinstance(asked, VoteRequest):
            self._note_vote(name, frame, asked, answer, noted)
            return
        if answer is None or answer.response_code is not DLedgerResponseCode.SUCCESS:
            return
        match asked:
            case PushEntryRequest(kind=PushType.COMPARE):
                self._note_match(name, asked, noted)
            case PushEntryRequest(kind=PushType.TRUNCATE):
                self._note_ack(name, after, asked.pre_log_index, noted)
            case PushEntryRequest(kind=PushType.APPEND, entries=entries):
                self._note_ack(name, after, entries[-1].index + 1, noted)
            case InstallSnapshotRequest(last_included_index=index):
                self._note_ack(name, after, index + 1, noted)
            case _:
                pass

    def _note_vote(
        self, name: str, frame: Frame, asked: VoteRequest, answer: VoteResponse, noted: _Noted
    ) -> None:
        """An answer counts in the round that it is of, and in one that asks for the same."""
        candidate = asked.leader_id
        assert candidate is not None
        if candidate not in self._names or not self._seen[candidate].has_round:
            return
        _, *present = self._seen[candidate].ask
        if (candidate, *present) != ask_of(asked):
            return
        answers = self._answers[candidate]
        is_of_round = frame.id.removesuffix(_RESPONSE) in self._of_round[candidate]
        if is_of_round or name not in answers:
            noted.of_others = noted.of_others or answers.get(name) != answer_of(answer)
            answers[name] = answer_of(answer)

    def _note_match(self, name: str, asked: PushEntryRequest, noted: _Noted) -> None:
        leader = asked.leader_id
        assert leader is not None
        term, index = asked.term + 1, asked.pre_log_index + 2
        led = [one for key, one in self._sent.items() if (key[0], key[2]) == (leader, term)]
        log = led[-1].log if led else ()
        entry_term = log[index - 1][0] if index <= len(log) else term
        request = (leader, name, term, index, entry_term)
        noted.truncates = noted.truncates or request not in self._truncates
        self._truncates.add(request)

    def _note_ack(self, name: str, after: Seen, index: int, noted: _Noted) -> None:
        if index > self._acks.get((name, after.term), 0):
            self._acks[name, after.term] = index
            noted.acks = True

    # ---- the rest of the state ----

    def _follow_round(self, member: Member, name: str, before: Seen, after: Seen) -> bool:
        """Begin or end the round of a member; tell whether it has."""
        answers = self._answers[name]
        voting = member.state.elector.round
        if voting is None:
            self._of_round[name].clear()
            self._answers[name] = {}
            return before.has_round
        if not before.has_round:
            answers.clear()
            self._of_round[name] = {
                one
                for one in self._of_round[name]
                if isinstance(request := self._requests[one], VoteRequest)
                and ask_of(request)[1] == after.term
            }
            answers[name] = answer_of(voting.answers[name])
            _, *present = after.ask
            self._asks.add((name, present[0], present[1], present[2]))
        return not before.has_round

    def _follow_leadership(self, name: str, before: Seen, after: Seen) -> None:
        key = (name, after.inc, after.term)
        if after.role == "Leader" and before.role != "Leader":
            self._sent.setdefault(key, Leadership(after.log, after.commit, after.snap))
        if key in self._sent and (after.log, after.commit, after.snap) != (
            before.log,
            before.commit,
            before.snap,
        ):
            self._sent[key] = Leadership(after.log, after.commit, after.snap)
        if after.role == "Leader" and after.commit > len(self._agreed):
            self._agreed = after.log[: after.commit]

    def _log_of(
        self, member: Member, before: Seen, arrived: DLedgerRequest | None = None
    ) -> tuple[Entry, ...]:
        """Return the entries of a member: those that are cut are known from before.

        An entry that no leader has written, as it is on the disk, is nobody's.
        """
        store, name = member.files().store, member.config.self_id
        base, end = store.before_begin_index + 1, store.end_index + 1
        log = before.log
        if isinstance(arrived, InstallSnapshotRequest) and base > before.base:
            assert arrived.leader_id is not None
            led = self._log_of_leader(arrived.leader_id, arrived.term + 1)
            if log[base - 1 : base] != led[base - 1 : base]:
                log = led[:base]
        kept = min(len(log), end)
        while kept > base and _term_of(store, kept - 1) != log[kept - 1][0]:
            kept -= 1
        if kept == len(log) == end:
            return log
        new: list[Entry] = []
        for index in range(kept, end):
            entry = store.entry(LogIndex(index))
            key = (index, entry.term, entry.body)
            if member.state.elector.member.is_leader and key not in self._writers:
                self._writers[key] = (entry.term + 1, name, before.inc)
            new.append(self._writers.get(key, (entry.term + 1, NONE, 0)))
        return (*log[:kept], *new)

    def _log_of_leader(self, leader: str, term: int) -> tuple[Entry, ...]:
        led = [one for key, one in self._sent.items() if (key[0], key[2]) == (leader, term)]
        return led[-1].log if led else ()

    def _round_of(self, name: str) -> Answers:
        if not self._seen[name].has_round:
            return NO_ROUND
        return tuple(sorted(self._answers[name].items()))

    def _record(
        self, cluster: DLedgerCluster, node: str, action: str | None, *params: str | int
    ) -> None:
        parts = GroupParts(
            seen=self._seen,
            rounds={name: self._round_of(name) for name in self._names},
            asks=frozenset(self._asks),
            sent=tuple(self._sent.items()),
            truncates=frozenset(self._truncates),
            acks=tuple(self._acks.items()),
            transfers=frozenset(self._transfers),
            agreed=self._agreed,
        )
        self.events.append(
            Event(
                step=len(self.events),
                action=action,
                params=params,
                node=node,
                state=self._values.state(parts),
                clock=cluster.now_ms,
            )
        )


def _term_of(store: LedgerView, index: int) -> int:
    """Return the term of an entry that is there."""
    term = store.term_at(LogIndex(index))
    assert term is not None, index
    return term + 1


class _Noted:
    """What the frames of a step changed."""

    def __init__(self) -> None:
        self.of_others = False
        self.acks = False
        self.truncates = False
        self.transferred_to: str | None = None

    @property
    def changes(self) -> bool:
        return self.of_others or self.acks or self.truncates or self.transferred_to is not None


def _kind(request: DLedgerRequest) -> str:
    match request:
        case VoteRequest():
            return "VOTE"
        case LeadershipTransferRequest():
            return "LEADERSHIP_TRANSFER"
        case PushEntryRequest():
            return "PUSH"
        case InstallSnapshotRequest():
            return "INSTALL_SNAPSHOT"
        case _:
            return "HEART_BEAT"


def _pull_answer(frame: Frame, asked: DLedgerRequest) -> DLedgerResponse | None:
    command = RemotingCommand(code=frame.code, opaque=0, flag=FLAG_RESPONSE, body=frame.body)
    try:
        return pull_response(command, DLedgerRequestCode[_kind(asked)])
    except PacketError:
        return None
