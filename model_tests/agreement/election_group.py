"""Electors over a network in memory that is late, loses, doubles and reorders; power cuts included.

A run is drawn from a seed. A power cut may come between two effects of a step: what was done before
it is done. Of a request that comes twice only the first answer is sent: one call has one answer.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Final, TypeAlias

from rocketha.dledger import elector
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.rules import ELECTOR_RULES, ElectorRules
from rocketha.dledger.state import (
    Answered,
    Asked,
    ElectorActionName,
    ElectorAnswer,
    ElectorEvent,
    ElectorRequest,
    ElectorState,
    ElectorStepped,
    KeepTermAndVote,
    MaintainState,
    ParseResult,
    PreferredLeaderDue,
    RequestNumber,
    SendElectorAnswer,
    SendElectorRequest,
)
from rocketha.formats.dledger_codes import VoteResult
from rocketha.formats.dledger_requests import (
    HeartBeatRequest,
    LeadershipTransferRequest,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.types import LogIndex, RequestId, Term, TimestampMs

__all__ = ["Ask", "Group", "GroupStep", "Node", "Transferred"]

GROUP: Final = "g"
ADMINISTRATOR: Final = "administrator"

Ask: TypeAlias = tuple[str, int, int, int]
"""Candidate, term, end index, end term, as DLedger counts."""
Transferred: TypeAlias = tuple[str, str, int, int]
"""From, to, term, index, as DLedger counts."""


@dataclass(slots=True)
class Node:
    """A node: its core, its disk, and the terms of its entries."""

    state: ElectorState
    disk: TermAndVote | None
    entries: tuple[Term, ...]
    restarts: int = 0
    answers: dict[str, VoteResponse] = field(default_factory=dict)
    """To its present request for votes, arrived or not; the last one of each member."""

    @property
    def ask(self) -> Ask | None:
        """What it asks for in a round."""
        member = self.state.member
        if self.state.round is None:
            return None
        return (member.self_id, member.curr_term, member.ledger_end_index, _end(self.entries))


@dataclass(frozen=True, slots=True)
class GroupStep:
    """What a node has done: an action of the specification, or none."""

    action: str | None
    params: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Request:
    sender: str
    restarts: int
    to: str
    number: RequestNumber
    message: ElectorRequest


@dataclass(frozen=True, slots=True)
class _Answer:
    request: _Request
    message: ElectorAnswer | None


def _end(entries: tuple[Term, ...]) -> Term:
    return entries[-1] if entries else Term(-1)


class Group:
    """A group of nodes that take one step after another; what is projected is here to be read."""

    def __init__(
        self,
        seed: str,
        members: tuple[str, ...],
        preferred: tuple[str, ...],
        rules: ElectorRules = ELECTOR_RULES,
    ) -> None:
        self.members = members
        self.asks: frozenset[Ask] = frozenset()
        self.led: frozenset[tuple[str, int, Term]] = frozenset()
        """Who has led, since how many restarts, in which term."""
        self.transfers: frozenset[Transferred] = frozenset()
        self.answered: Counter[VoteResult] = Counter()
        """What requests for votes were answered."""
        self.parsed: Counter[ParseResult] = Counter()
        """What rounds came to."""
        self._random = Random(seed)
        self._now_ms = 0
        self._order = count()
        self._queue: list[tuple[int, int, _Request | _Answer]] = []
        self._waiting: dict[RequestId, _Request] = {}
        self._handled: dict[int, _Request] = {}
        """Requests for votes that were answered, by their identity."""
        self._due: dict[str, int] = {}
        self._in_peace = False
        self._silent_until: dict[str, int] = {}
        """Nodes that are cut off from the network."""
        takes_ms = self._random.choice((100, 2_000))
        self._configs = {
            one: DLedgerConfig(
                group=GROUP,
                self_id=one,
                peers=members,
                heart_beat_time_interval_ms=200,
                min_vote_interval_ms=30,
                max_vote_interval_ms=300,
                max_take_leadership_vote_interval_ms=takes_ms,
                preferred_leader_ids=preferred,
                leadership_transfer_wait_timeout_ms=300,
                rules=rules,
            )
            for one in members
        }
        self.is_new = self._random.random() < 0.5
        """All disks are empty: the first state is that of Init."""
        self._lost_terms = self._random.random() < 0.3
        """What is on disks is no `currterm`, and logs are of larger terms than their nodes."""
        self.nodes = {one: self._drawn_node(one) for one in members}
        for one in members:
            self._schedule(one)
        self._harsh = self._random.choice((0.2, 0.7, 2.0))

    def run(self, events: int) -> Iterator[GroupStep]:
        """Take so many events; between two of what it gives, the state is to be read."""
        for _ in range(events):
            yield from self._event()

    def left_in_peace(self, dead: str | None = None) -> None:
        """Let no fault come any more; one node may stay cut off."""
        self._in_peace = True
        self._silent_until = {} if dead is None else {dead: 2**62}

    def followed(self) -> str | None:
        """Return the leader of the largest term, if a majority is in that term and follows it."""
        members = [node.state.member for node in self.nodes.values()]
        led = [(one.curr_term, one.self_id) for one in members if one.is_leader]
        if not led:
            return None
        term, leader = max(led)
        follow = [one for one in members if (one.curr_term, one.leader_id) == (term, leader)]
        return leader if 2 * len(follow) > len(members) else None

    # ---- what is drawn ----

    def _drawn_node(self, name: str) -> Node:
        """Start a node on an empty disk, or on one with any log."""
        draw = self._random
        entries: tuple[Term, ...] = ()
        disk = None
        if not self.is_new:
            entries = tuple(sorted(Term(draw.randrange(4)) for _ in range(draw.randrange(3))))
            least = 0 if self._lost_terms else max(0, _end(entries))
            disk = TermAndVote(curr_term=Term(least + draw.randrange(2)))
        node = Node(self._started(name, disk, entries), disk, entries)
        node.disk = node.state.member.kept
        return node

    def _started(
        self, name: str, disk: TermAndVote | None, entries: tuple[Term, ...]
    ) -> ElectorState:
        end = LogIndex(len(entries) - 1)
        return elector.started(self._configs[name], disk, end_index=end, end_term=_end(entries))

    def _chance(self, percent: float) -> bool:
        return not self._in_peace and self._random.random() * 100 < percent * self._harsh

    def _event(self) -> Iterator[GroupStep]:
        """Let a fault come, or the next message, or the next timer."""
        name = self._random.choice(self.members)
        if self._chance(0.5):
            yield self._crash(name)
            return
        if not self._in_peace and self._random.random() < 0.005:
            self._silent_until[name] = self._now_ms + self._random.randrange(3_000)
        leaders = [one for one in self.members if self.nodes[one].state.member.is_leader]
        if leaders and not self._in_peace and self._random.random() < 0.03:
            yield from self._hand_over(self._random.choice(leaders))
            return
        timer = min(self.members, key=self._due.__getitem__)
        if self._queue and self._queue[0][0] <= self._due[timer]:
            at, _, message = heapq.heappop(self._queue)
            self._now_ms = max(self._now_ms, at)
            yield from self._arrives(message)
            return
        self._now_ms = max(self._now_ms, self._due[timer])
        yield from self._step(timer, MaintainState(drawn=self._random.randrange(2**31)))

    def _hand_over(self, leader: str) -> Iterator[GroupStep]:
        state = self.nodes[leader].state
        marks = {one: node.state.member.ledger_end_index for one, node in self.nodes.items()}
        if self._random.random() < 0.5:
            yield from self._step(leader, PreferredLeaderDue(water_marks=marks))
            return
        message = LeadershipTransferRequest(
            group=GROUP,
            remote_id=leader,
            term=state.member.curr_term,
            transfer_id=leader,
            transferee_id=self._random.choice(self.members),
        )
        request = _Request(ADMINISTRATOR, 0, leader, RequestNumber(0), message)
        yield from self._step(leader, self._asked(request, marks))

    # ---- messages ----

    def _send(self, message: _Request | _Answer) -> None:
        """Put a message on its way, perhaps late, perhaps twice, perhaps never."""
        for _ in range(2 if self._chance(5) else 1):
            request = message.request if isinstance(message, _Answer) else message
            if self._chance(8) or self._is_cut_off(request.sender, request.to):
                if isinstance(message, _Request) and self._random.random() < 0.5:
                    self._send_at(self._random.randrange(500), _Answer(message, None))
                continue
            late = 4_000 if self._chance(5) else 40
            self._send_at(self._random.randrange(1, late), message)

    def _is_cut_off(self, *ends: str) -> bool:
        return any(self._silent_until.get(one, 0) > self._now_ms for one in ends)

    def _send_at(self, delay: int, message: _Request | _Answer) -> None:
        heapq.heappush(self._queue, (self._now_ms + delay, next(self._order), message))

    def _asked(self, request: _Request, marks: dict[str, LogIndex] | None = None) -> Asked:
        number = RequestId(next(self._order))
        self._waiting[number] = request
        return Asked(request=number, message=request.message, water_marks=marks or {})

    def _arrives(self, message: _Request | _Answer) -> Iterator[GroupStep]:
        if isinstance(message, _Request):
            yield from self._step(message.to, self._asked(message), of=message)
            return
        request = message.request
        node = self.nodes.get(request.sender)
        if node is None or node.restarts != request.restarts:
            return
        drawn = self._random.randrange(2**31)
        event = Answered(
            number=request.number, peer=request.to, message=message.message, drawn=drawn
        )
        yield from self._step(request.sender, event)

    # ---- steps ----

    def _step(
        self, name: str, event: ElectorEvent, of: _Request | None = None
    ) -> Iterator[GroupStep]:
        """Let a node take an event; do what it says, or cut its power before all is done."""
        node = self.nodes[name]
        stepped = elector.step(node.state, event, now_ms=TimestampMs(self._now_ms))
        cut = self._chance(1) and bool(stepped.effects)
        done = self._random.randrange(len(stepped.effects)) if cut else len(stepped.effects)
        if cut and done == 0:
            yield self._crash(name)
            return
        before = node.state
        node.state = stepped.state
        for effect in stepped.effects[:done]:
            match effect:
                case KeepTermAndVote():
                    node.disk = effect.kept
                case SendElectorRequest():
                    self._send(
                        _Request(name, node.restarts, effect.peer, effect.number, effect.message)
                    )
                case SendElectorAnswer():
                    request = self._waiting.pop(effect.request)
                    if id(request) not in self._handled:
                        self._send(_Answer(request, effect.message))
                case _:
                    pass
        yield self._note(name, before, stepped, of)
        if cut:
            yield self._crash(name)
        else:
            self._schedule(name)

    def _note(
        self, name: str, before: ElectorState, stepped: ElectorStepped, of: _Request | None
    ) -> GroupStep:
        """Note what the specification remembers of a step."""
        node, member = self.nodes[name], stepped.state.member
        round_ = stepped.state.round
        if round_ is None or before.round is None or round_.number != before.round.number:
            node.answers = {}
        if of is not None and isinstance(of.message, VoteRequest):
            again = id(of) in self._handled
            self._handled[id(of)] = of
            self.answered.update(one.vote_result for one in _vote_answers(stepped))
            candidate = self.nodes[of.sender]
            if candidate.ask == _ask_of(of.message):
                round_of = candidate.state.round
                present = round_of is not None and round_of.number == of.number
                if (present and not again) or name not in candidate.answers:
                    candidate.answers.update((name, one) for one in _vote_answers(stepped))
        if round_ is not None:
            node.answers[name] = round_.answers[name]
        for effect in stepped.effects:
            if isinstance(effect, SendElectorRequest):
                match effect.message:
                    case VoteRequest():
                        self.asks |= {_ask_of(effect.message)}
                    case LeadershipTransferRequest():
                        self.transfers |= {_transfer_of(effect.message)}
                    case HeartBeatRequest():
                        pass  # of leaders the specification has more than heartbeats: `led`
        if member.is_leader:
            self.led |= {(name, node.restarts, member.curr_term)}
        if stepped.action is None:
            return GroupStep(None)
        if stepped.action.name is ElectorActionName.PARSE_VOTES:
            self.parsed[stepped.state.last_parse_result] += 1
        peer = stepped.action.peer
        return GroupStep(str(stepped.action.name), (name,) if peer is None else (name, peer))

    def _crash(self, name: str) -> GroupStep:
        """Cut the power of a node, and start it again with what its disk has."""
        node = self.nodes[name]
        node.state = self._started(name, node.disk, node.entries)
        node.disk = replace(node.state.member.kept)
        node.restarts += 1
        node.answers = {}
        self._waiting = {key: one for key, one in self._waiting.items() if one.to != name}
        self._schedule(name)
        return GroupStep("Crash", (name, len(node.entries)))

    def _schedule(self, name: str) -> None:
        """Say when the node looks at its clock: when it must, and up to 20 ms later."""
        state = self.nodes[name].state
        timer = elector.next_timer_ms(state)
        if timer is not None and timer > self._now_ms:
            early = elector.step(state, MaintainState(drawn=0), now_ms=TimestampMs(timer - 1))
            assert early == ElectorStepped(state), f"{name} has something to do before {timer}"
        at = self._now_ms if timer is None else max(timer, self._now_ms)
        self._due[name] = at + self._random.randrange(20)


def _ask_of(asked: VoteRequest) -> Ask:
    assert asked.leader_id is not None
    return (asked.leader_id, asked.term, asked.ledger_end_index, asked.ledger_end_term)


def _transfer_of(asked: LeadershipTransferRequest) -> Transferred:
    assert asked.transfer_id is not None
    assert asked.transferee_id is not None
    index = asked.take_leadership_ledger_index
    return (asked.transfer_id, asked.transferee_id, asked.term, index)


def _vote_answers(stepped: ElectorStepped) -> list[VoteResponse]:
    return [
        effect.message
        for effect in stepped.effects
        if isinstance(effect, SendElectorAnswer) and isinstance(effect.message, VoteResponse)
    ]
