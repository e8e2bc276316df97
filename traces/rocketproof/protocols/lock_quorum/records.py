"""Records of brokers and consumers as behaviours of LockQuorum.

| a record                                     | the specification                              |
|----------------------------------------------|------------------------------------------------|
| later than the one before                    | Tick, by the recorders' clock                  |
| NodeStarted again                            | Restart                                        |
| a broker has received a request              | ReceiveAsk or ReceiveFree by its code, of the  |
|                                              | consumer that its body names                   |
| a consumer has sent a request for locks      | Lock, at the broker to which the request goes  |
| it has received an answer that ends its      | ReceiveAnswer, of the queues in the answer     |
| attempt or changes its leases                |                                                |
| PatienceOver, UnlockWanted, ProcessWanted,   | GiveUp, Unlock, Process                        |
| if something was sent, answered or changed   |                                                |
| `votes`, `released` of a broker              | who has its vote, and what was given up        |
| `tries`, `attempt`, `leases` of a consumer   | tries, attempt, lease, fresh                   |
| LOCK_BATCH_MQ sent, and not received         | asks                                           |
| UNLOCK_BATCH_MQ of a consumer, for each      | frees                                          |
| broker that has not received it              |                                                |
| queues in a broker's answer, or in what it   | attempt.yes                                    |
| asks the others                              |                                                |
| a broker has answered a consumer             | SendAnswer, with those whose answers it had    |
| an answer of which a consumer makes nothing  | IgnoreAnswer                                   |
| a wish that it has `heard`, and no more      | Refrain, once until it does something else     |

What a core says of its step (`action`) is not asked, but of real nodes, whose records are actions.
A step that should have sent or processed something and has not is no action; what it has changed is
shown with the next one.
Real brokers and consumers write less: a vote without its attempt, an attempt without its begin, and
no leases, as the answer and the moment of its record are not one instant of a real clock. What is
left of a lease is then what the specification says; the other steps of a broker that replicates,
and the records of a controller, are passed by.

A vote counts while the broker's own clock says so. Where that is fast, the vote is over early:
ExpireEarly and WaitLess, of which the broker knows nothing, are found by search. So are what is
left of votes and `last`: the specification's actions say them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from rocketha.recording.record import (
    RESPONSE,
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketha.sim.lock_quorum.plan import SKEW_MS
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.lock_quorum.record_parts import (
    BrokerSettings,
    ConsumerSettings,
    ControllerSettings,
    RecordedAttempt,
    RecordedLease,
    RecordedLeases,
    RecordedProcessed,
    RecordedQueue,
    RecordedQueues,
    RecordedReleased,
    RecordedVote,
    RecordedVotes,
    RecordedWish,
    body_of,
    locked_queues,
    voted_queues,
)
from rocketproof.protocols.lock_quorum.rounds import Rounds
from rocketproof.record_projection import RecordProjection, alike, part, read_field
from tlatrace.trace import Part, Silent
from tlatrace.values import State, Value, tla_set
from tlatrace.values import record as tla_record

__all__ = ["LockRecords"]

_LOCK: Final = 41
_UNLOCK: Final = 42
_ACTION_OF: Final = {_LOCK: "ReceiveAsk", _UNLOCK: "ReceiveFree"}
_ASKED: Final = "RequestArrived"
_TAKES: Final = {
    "LockWanted": "Lock",
    "ResponseArrived": "ReceiveAnswer",
    "PatienceOver": "GiveUp",
    "UnlockWanted": "Unlock",
    "ProcessWanted": "Process",
}
"""What a consumer takes -> the action that it is if something is sent, answered or changed."""
_WISHES: Final = frozenset({"Lock", "Unlock", "Process"})
_OF_CONSUMER: Final = frozenset({"tries", "attempt", "leases"})
_OF_BROKER: Final = frozenset({_ASKED, "ResponseArrived", "RoundOver", STARTED, STOPPED})
_SILENT_MOST: Final = 6
_REMEMBERED: Final = 4096
"""Messages whose values are kept: what is lost is under way for ever."""


_Ask: TypeAlias = tuple[str, int, str, tuple[str, ...], bool]
_Release: TypeAlias = tuple[str, int, str, tuple[str, ...]]


class LockRecords(RecordProjection):
    """Makes a trace of the records of a group's brokers and their consumers."""

    needs_stops = False  # a broker leaves nothing behind, and a request that it lost may be late

    silent = Silent(actions=("ExpireEarly", "WaitLess"), most=_SILENT_MOST)

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how brokers and consumers are set up. Raises: RecordError"""
        super().__init__()
        self._brokers: dict[str, BrokerSettings] = {}
        self._consumers: dict[str, ConsumerSettings] = {}
        for header in headers:
            settings: BrokerSettings | ConsumerSettings | ControllerSettings = read_field(
                header.settings,
                BrokerSettings | ConsumerSettings | ControllerSettings,
                f"settings of {header.node}",
            )
            match settings:
                case BrokerSettings():
                    self._brokers[header.node] = settings
                case ConsumerSettings():
                    self._consumers[header.node] = settings
                case ControllerSettings():
                    pass  # it has no part in locks
        if not self._brokers or not self._consumers:
            raise RecordError("there are no records of a broker, or none of a consumer")
        self._broker = alike(self._brokers)
        self._consumer = alike(self._consumers)
        strange = sorted(set(self._brokers) - set(self._broker.members))
        if strange:
            raise RecordError(f"{strange[0]} is no member of the group that it names")
        self._queues = tuple(sorted(map(_name, self._broker.queues)))
        self._votes: dict[str, dict[str, RecordedVote]] = {}
        self._released: dict[str, RecordedReleased] = {}
        self._tries: dict[str, int] = {}
        self._attempts: dict[str, RecordedAttempt | None] = {}
        self._leases: dict[str, dict[str, RecordedLease]] = {}
        self._ticked_ms = 0
        self._asks: set[_Ask] = set()
        self._frees: set[_Release] = set()
        self._yes: dict[str, dict[str, set[str]]] = {}
        """Consumer -> queue -> the brokers that have voted in its attempt."""
        self._rounds = Rounds()
        self._requests: dict[str, tuple[str, int]] = {}
        """A consumer's request -> the consumer, and the number of its attempt."""
        self._refrained: dict[str, set[tuple[str, tuple[str, ...]]]] = {}
        """Consumer -> the wishes that it has not fulfilled since it did something."""

    @property
    def constants(self) -> State:
        """Return the constants, of which Skew is what clocks of the simulator gain at most."""
        return {
            "Replica": tla_set(self._broker.members),
            "Client": tla_set(self._consumers),
            "Queue": tla_set(self._queues),
            "None": NONE,
            "Configured": self._broker.total_replicas,
            "Strict": self._broker.strict,
            "VoteLife": self._broker.life_ms,
            "LeaseLife": self._consumer.lease_ms,
            "Patience": self._consumer.patience_ms,
            "Skew": SKEW_MS,
        }

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the event of a record, after a Tick if time has passed. Raises: RecordError"""
        if record.node in self._brokers:
            if record.event == STARTED:
                self._votes.pop(record.node, None)
            self._read(record.node, record.state)
            self._broker_acted(record, received)
            self._answers_sent(record)
        elif record.node in self._consumers:
            self._read(record.node, record.state)
            self._consumer_acted(record, received)

    def _read(self, node: str, state: Mapping[str, Any]) -> None:
        """Note what has changed of a node."""
        if "votes" in state:
            votes: RecordedVotes = read_field(state["votes"], RecordedVotes, "votes")
            self._votes[node] = {_name(queue): vote for (_, queue), vote in votes}
            if not self._broker.replicates and any(vote.attempt is None for _, vote in votes):
                raise RecordError("votes: one lacks its required field `attempt`")
        if "released" in state:
            self._released[node] = read_field(state["released"], RecordedReleased, "released")
        if "tries" in state:
            self._tries[node] = read_field(state["tries"], int, "tries")
        if "attempt" in state:
            attempt: RecordedAttempt | None = read_field(
                state["attempt"], RecordedAttempt | None, "attempt"
            )
            if attempt is not None and attempt.began_ms is None and node in self._leases:
                raise RecordError("attempt: it lacks its required field `began_ms`")
            self._attempts[node] = attempt
        if "leases" in state:
            leases: RecordedLeases = read_field(state["leases"], RecordedLeases, "leases")
            self._leases[node] = {_name(queue): lease for queue, lease in leases}

    # ---- messages ----

    def _arrived(self, record: NodeRecord, received: Iterable[SentMessage]) -> bool:
        """Take what a broker received from what is under way; tell whether any of it was.

        A release that it does not pass on is not under way to the others, either.
        """
        broker = record.node
        before = len(self._asks) + len(self._frees)
        for message in received:
            body = body_of(message)
            if message.code == _LOCK:
                first = not body.only_this_broker
                self._asks.discard((body.client_id, body.attempt, broker, body.names, first))
            else:
                self._frees.discard((body.client_id, body.attempt, broker, body.names))
                if self._broker.strict and not body.only_this_broker:
                    passed_on = {one.to for one in record.sent if one.code == _UNLOCK}
                    for other in set(self._broker.members) - passed_on:
                        self._frees.discard((body.client_id, body.attempt, other, body.names))
        return len(self._asks) + len(self._frees) < before

    def _asked(self, message: SentMessage) -> None:
        body = body_of(message)
        first = not body.only_this_broker
        self._asks.add((body.client_id, body.attempt, _to(message), body.names, first))

    # ---- nodes ----

    def _broker_acted(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the event of what a broker did, if it is about locks."""
        if record.event == STARTED and record.incarnation > 1:
            self._event(record, "Restart", (record.node,), self._of_broker(record))
        elif record.event == _ASKED or (
            self._broker.replicates and record.action in _ACTION_OF.values()
        ):
            self._asked_for(record, received)
        elif not self._broker.replicates and record.event not in _OF_BROKER:
            raise RecordError(f"a broker does not take {record.event!r}")
        else:
            self._note_asks(record)

    def _asked_for(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the event of a request that a broker has received."""
        if not self._arrived(record, received) and self._broker.replicates:
            return  # asked again within an attempt: the first one has arrived
        self._note_asks(record)
        if not received and record.heard:
            return  # an outsider's, who is refused
        if not received:
            raise RecordError(f"{record.event} without a request")
        message = received[-1]
        name, body = _ACTION_OF.get(message.code or 0), body_of(message)
        if name is None:
            raise RecordError(f"a broker is asked for {message.code}")
        parts = self._of_broker(record)
        attempt = self._attempts.get(body.client_id)
        if attempt is not None and attempt.number == body.attempt and not self._broker.replicates:
            yes = self._yes.setdefault(body.client_id, {})
            if message.code == _LOCK:
                for queue in voted_queues(record):
                    yes.setdefault(queue, set()).add(record.node)
            seen = tla_record({queue: tla_set(yes.get(queue, ())) for queue in self._queues})
            parts.append(part("attempt", body.client_id, "yes", value=seen))
        if message.code == _LOCK and not body.only_this_broker:
            self._rounds.asked(record.node, message.id, record.sent)
        self._event(record, name, (body.client_id, record.node), parts)

    def _answers_sent(self, record: NodeRecord) -> None:
        """Make the events of a simulated broker's answers to consumers."""
        for answered in self._rounds.answered(record.received, record.sent):
            (message,) = [message for message in record.sent if message.id == answered.answer]
            client, number = self._requests[answered.request]
            attempt = self._attempts.get(client)
            if attempt is not None and attempt.number == number and not self._broker.replicates:
                got = tla_set(locked_queues(message))
                self._event(record, "SendAnswer", (client, got, tla_set(answered.heard)), [])

    def _note_asks(self, record: NodeRecord) -> None:
        for message in record.sent:
            if message.code == _LOCK:
                self._asked(message)

    def _consumer_acted(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the event of a consumer's step, with what it sent."""
        if self._broker.replicates:
            name = record.action
        elif record.event == STARTED or not (
            record.state.keys() & _OF_CONSUMER
            or record.sent
            or (record.answered and record.event != _ASKED)
        ):
            self._did_nothing(record)
            return
        elif record.event not in _TAKES:
            raise RecordError(f"a consumer does not take {record.event!r}")
        else:
            name = _TAKES[record.event]
        if name is None:
            return
        self._refrained[record.node] = set()
        client, to = record.node, [_to(m) for m in record.sent if m.code == _LOCK]
        self._note_asks(record)
        for message in record.sent:
            body = body_of(message)
            if message.code == _LOCK:
                self._requests[message.id] = (client, body.attempt)
            if message.code == _UNLOCK:
                for broker in self._broker.members:
                    self._frees.add((body.client_id, body.attempt, broker, body.names))
        named = tla_set(self._named(name, record, received))
        params: tuple[Value, ...]
        match name:
            case "Lock":
                if not to:
                    return
                self._yes[client] = {}
                params = (client, named, *to)
            case "GiveUp":
                params = (client,)
            case "Process":
                if len(named) != 1:
                    return
                params = (client, *named)
            case "ReceiveAnswer" | "Unlock":
                params = (client, named)
            case _:
                raise RecordError(f"a consumer has no action {name!r}")
        self._event(record, name, params, self._of_consumer(record))

    def _did_nothing(self, record: NodeRecord) -> None:
        """Make the event of a step in which nothing came of an answer, or of a wish."""
        client, tries = record.node, self._tries.get(record.node, 0)
        for received in record.received:
            if self._requests.get(received.removesuffix(RESPONSE)) == (client, tries):
                self._event(record, "IgnoreAnswer", (client,), self._of_consumer(record))
        name = _TAKES.get(record.event)
        if name not in _WISHES or not record.heard:
            return
        (heard,) = read_field(record.heard, tuple[RecordedWish, ...], "heard")
        wish = (name, tuple(sorted(map(_name, heard.named))))
        if wish not in self._refrained.setdefault(client, set()):
            self._refrained[client].add(wish)
            params = (client, name, tla_set(wish[1]))
            self._event(record, "Refrain", params, self._of_consumer(record))

    def _named(
        self, name: str, record: NodeRecord, received: Sequence[SentMessage]
    ) -> Iterable[str]:
        """Return the queues that an action is about, as frames and answers have them."""
        if self._broker.replicates:
            return map(_name, read_field(record.params, RecordedQueues, "params").queues)
        if name == "Process":
            done: tuple[RecordedProcessed, ...] = read_field(
                record.answered, tuple[RecordedProcessed, ...], "answered"
            )
            return [_name(one.queue) for one in done]
        if name == "ReceiveAnswer":
            return [queue for message in received for queue in locked_queues(message)]
        return [queue for message in record.sent for queue in body_of(message).names]

    def _of_broker(self, record: NodeRecord) -> list[Part]:
        """Return the votes that a broker's clock has not ended, and what was given up."""
        me, parts = record.node, []
        votes, life_ms = self._votes.get(me, {}), self._broker.life_ms
        for queue in self._queues:
            vote = votes.get(queue)
            if vote is None or record.shows_ms - vote.voted_ms >= life_ms:
                parts.append(part("votes", me, queue, "c", value=NONE))
            else:
                parts.append(part("votes", me, queue, "c", value=vote.client_id))
                if vote.attempt is not None:
                    parts.append(part("votes", me, queue, "n", value=vote.attempt))
        for (client, (_, key)), number in self._released.get(me, ()):
            parts.append(part("released", me, client, _name(key), value=number))
        return parts

    def _of_consumer(self, record: NodeRecord) -> list[Part]:
        """Return a consumer's attempt and leases; what is left is by its clock, which is right."""
        me, now_ms = record.node, record.shows_ms
        attempt = self._attempts.get(me)
        parts = [
            part("tries", me, value=self._tries.get(me, 0)),
            part("attempt", me, "n", value=0 if attempt is None else attempt.number),
        ]
        if me in self._leases:
            leases = self._leases[me]
            left_ms = {queue: max(0, lease.ends_ms - now_ms) for queue, lease in leases.items()}
            held = {queue: left_ms.get(queue, 0) for queue in self._queues}
            fresh = [queue for queue in held if held[queue] and not leases[queue].begun]
            parts.append(part("lease", me, value=tla_record(held)))
            parts.append(part("fresh", me, value=tla_set(fresh)))
        if attempt is not None:
            parts.append(part("attempt", me, "qs", value=tla_set(map(_name, attempt.queues))))
            if attempt.began_ms is not None:
                ends_ms = attempt.began_ms + self._consumer.patience_ms + 1
                parts.append(part("attempt", me, "left", value=max(0, ends_ms - now_ms)))
        return parts

    # ---- events ----

    def _event(
        self, record: NodeRecord, action: str, params: tuple[Value, ...], parts: list[Part]
    ) -> None:
        if self.now_ms > self._ticked_ms:
            passed_ms, self._ticked_ms = self.now_ms - self._ticked_ms, self.now_ms
            self.event("Tick", (passed_ms,))
        observed: State = {
            "asks": tla_set(map(_ask_value, self._asks)),
            "frees": tla_set(map(_release_value, self._frees)),
        }
        self.event(action, params, node=record.node, observed=observed, parts=tuple(parts))


def _name(queue: RecordedQueue) -> str:
    return f"q{queue.queue_id + 1}"


def _to(message: SentMessage) -> str:
    if message.to is None:
        raise RecordError(f"message {message.id} goes to nobody")
    return message.to


@lru_cache(maxsize=_REMEMBERED)
def _ask_value(ask: _Ask) -> Value:
    client, number, receiver, queues, first = ask
    return tla_record(
        {"c": client, "n": number, "r": receiver, "qs": tla_set(queues), "first": first}
    )


@lru_cache(maxsize=_REMEMBERED)
def _release_value(release: _Release) -> Value:
    client, number, receiver, queues = release
    return tla_record({"c": client, "n": number, "r": receiver, "qs": tla_set(queues)})
