"""From steps of brokers and their name server to actions of PreOnline, and the state after each.

A trace is of one table: that of consumers, or that of delayed messages. Which action a step is,
what arrived, what was sent and what has changed say; what a core says of it is not asked.

| specification               | what is seen                                                     |
|-----------------------------|------------------------------------------------------------------|
| group                       | the name server's table                                          |
| table, version, moves,      | what a broker has in its memory; of one that is down, what its   |
| serves, masterAddr          | disk has, and nothing                                            |
| saved                       | the file on its disk                                             |
| link                        | none: the slave knows no address; transfer: both ends hold the   |
|                             | same connection, and the master has answered the handshake       |
| isolated, members, asked,   | what the master has in its memory                                |
| done                        |                                                                  |
| there, met                  | history, which the actions make                                  |

A request and its answer are one action, *taken when the other end answers*. What comes of it is
seen later, when who has asked has the answer. So a place is kept in the trace where a request is
answered, and filled when the answer is taken; with an answer that is lost, it stays empty. Who asks
does one thing after the other, so what has changed of it in between is nothing else. Of what comes
behind such a place nothing is said before it is known.

What a broker says (`said`) stands where it says it, with one exception: the table that it gives is
the one that it has, so while the answer to its own question for the same table may still be taken,
it stands before that place, behind which it has another one already. Before it takes the answer it
changes its table in no other way, so nothing of it is passed by. Of what its place may change
otherwise (serves, masterAddr, members), who waits for an answer says nothing. What is missed stands
where its time is over, or before the step that lacks it.

One thing does happen in between: a slave that acts takes commits while the name server's answer is
on its way, after which it is to act no more. Then it has heard when it takes the answer; but if the
name server has taken somebody for gone meanwhile, just before that, and so have its commits come.

The trace begins where nobody runs and nobody is registered. Init says that all are there, and that
nobody has an offset; so all stop first and are removed, which nobody has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind
from rocketha.recording.record import RESPONSE, RecordError
from rocketproof.protocols.pre_online.said import TABLE_SAID, Told
from rocketproof.protocols.pre_online.seen import BrokerSeen, Message, SavedSeen
from rocketproof.protocols.pre_online.world import MASTER, Delta, World, initial, of_broker
from tlatrace.values import State, Value

__all__ = ["Act", "PreOnlineFollower"]

Act = Callable[[str | None, str, Sequence[Value], int, State], None]
"""Hears of each action: its node, its name and parameters, when it was, and the state after it."""
_ASKED: Final = frozenset({NameServerCode.REGISTER_BROKER, NameServerCode.GET_BROKER_MEMBER_GROUP})
_TABLES: Final = frozenset(int(kind.code) for kind in TableKind)


@dataclass(slots=True)
class _Place:
    """A place in the trace: an action, or where one may come."""

    at_ms: int
    asker: int | None = None
    """Who waits for the answer that is given here; None: nobody any more."""
    code: int = 0
    node: str | None = None
    action: str | None = None
    params: tuple[Value, ...] = ()
    delta: dict[tuple[str, int | None], Any] = field(default_factory=dict)


class PreOnlineFollower:
    """What is remembered of all steps so far."""

    def __init__(
        self, brokers: Mapping[str, int], queues: Sequence[str], kind: TableKind, act: Act
    ) -> None:
        """Take brokers with their brokerIds, and of which table the trace is.

        Raises here and in all steps: RecordError, if what is seen cannot be.
        """
        self._numbers = brokers
        self._slaves = sorted(number for number in brokers.values() if number != MASTER)
        self._kind = kind
        self._act = act
        self._seen: dict[int, BrokerSeen | None] = dict.fromkeys(brokers.values())
        """None: it is down."""
        self._left = dict.fromkeys(brokers.values(), SavedSeen())
        """What is on a disk."""
        self._group: frozenset[int] = frozenset()
        self._links: dict[int, str] = dict.fromkeys(self._slaves, "none")
        self._requests: dict[str, tuple[int, int]] = {}
        """Who has asked, and with what code."""
        self._answers: dict[str, _Place] = {}
        self._places: list[_Place] = []
        self._world: World | None = None
        self._queues = queues
        self._now_ms = 0

    # ---- brokers ----

    def broker_starts(self, node: str, seen: BrokerSeen, *, now_ms: int) -> None:
        """Take the start of a broker."""
        self._now_ms = now_ms
        number = self._number(node)
        self._seen[number] = seen
        self._left[number] = seen.saved[self._kind]
        self._add(node, "Start", (number,), self._of(number))
        self._done()

    def broker_stops(self, node: str, left: Mapping[TableKind, SavedSeen], *, now_ms: int) -> None:
        """Take the stop of a broker, and what its disk has."""
        self._now_ms = now_ms
        number = self._number(node)
        self._seen[number] = None
        self._left[number] = left[self._kind]
        self._waits_no_more(number)
        delta = self._of(number)
        for slave, link in self._links_now().items():
            if link != self._links[slave]:
                self._links[slave] = delta["link", slave] = link
        self._add(node, "Stop", (number,), delta)
        self._done()

    def broker_steps(
        self,
        node: str,
        seen: BrokerSeen,
        *,
        received: Iterable[str],
        sent: Sequence[Message],
        now_ms: int,
        said: Iterable[Told] = (),
    ) -> None:
        """Take a step of a broker, and what it said in it."""
        self._now_ms = now_ms
        number = self._number(node)
        before = self._of(number)
        if self._seen[number] is None:
            raise RecordError(f"{node} takes a step, and is down")
        self._seen[number] = seen
        self._left[number] = seen.saved[self._kind]
        after = self._of(number)
        delta = {key: value for key, value in after.items() if value != before[key]}
        answers = [self._answers.pop(one) for one in received if one in self._answers]
        if number == MASTER:
            self._master_steps(node, delta, before, answers)
        else:
            self._slave_steps(node, number, delta, before, answers)
        for place in answers:
            if not (number == MASTER and place.code in _TABLES):
                place.asker = None
        registered = any(place.code == NameServerCode.REGISTER_BROKER for place in answers)
        self._note_links(node, learns=registered)
        for action, params in said:
            self._say(node, number, action, params)
        self._sends(number, sent)
        self._done()

    def _master_steps(
        self,
        node: str,
        delta: dict[tuple[str, int | None], Any],
        before: Delta,
        answers: list[_Place],
    ) -> None:
        done: frozenset[int] = delta.get(("done", None), frozenset()) - before["done", None]
        waiting = [
            one for one in self._places if one.asker == MASTER and one.code == self._kind.code
        ]
        if done:
            places = waiting[-1:]
            for slave in sorted(done):
                self._fill(places, node, "TakeTable", (slave,), delta)
            for place in waiting:
                place.asker = None
        elif ("isolated", None) in delta:
            self._add(node, "GoOnline", (), delta)
        elif ("members", None) in delta or ("asked", None) in delta:
            self._fill(answers, node, "AskGroup", (), delta)
        else:
            self._others(node, MASTER, delta, before)

    def _slave_steps(
        self,
        node: str,
        number: int,
        delta: dict[tuple[str, int | None], Any],
        before: Delta,
        answers: list[_Place],
    ) -> None:
        codes = {place.code for place in answers}
        if not delta:
            return
        if NameServerCode.REGISTER_BROKER in codes:
            self._fill(answers, node, "Register", (number,), delta)
        elif NameServerCode.GET_BROKER_MEMBER_GROUP in codes:
            place = self._fill(answers, node, "Hear", (number,), delta)
            if delta.get(("serves", number)) is False:
                self._commits_first(place, node)
        elif self._kind.code in codes:
            self._fill(answers, node, "Synchronize", (number,), delta)
        else:
            self._others(node, number, delta, before)

    def _others(
        self, node: str, number: int, delta: dict[tuple[str, int | None], Any], before: Delta
    ) -> None:
        """Take what a broker does without an answer."""
        if ("table", number) in delta:
            was, now = before["table", number], delta["table", number]
            changed = sorted(q for q in now.keys() | was.keys() if now.get(q, 0) != was.get(q, 0))
            for queue in changed[:1]:
                self._add(node, "Commit", (number, queue), delta)
        elif delta:
            self._add(node, "Persist", (number,), delta)

    def _sends(self, number: int, sent: Sequence[Message]) -> None:
        for message in sent:
            if message.id.endswith(RESPONSE):
                asker, code = self._requests.get(message.id.removesuffix(RESPONSE), (None, 0))
                if asker is not None and code == self._kind.code:
                    self._answers[message.id] = self._keep(asker, code)
            elif message.code in _ASKED or message.code in (
                *_TABLES,
                BrokerCode.EXCHANGE_BROKER_HA_INFO,
            ):
                if message.code not in _TABLES or message.code == self._kind.code:
                    self._waits_no_more(number)
                self._requests[message.id] = (number, message.code)

    # ---- what is said ----

    def _say(self, node: str, number: int, action: str, params: tuple[Value, ...]) -> None:
        place = self._add(node, action, params, {})
        if action not in TABLE_SAID:
            return
        for at, one in enumerate(self._places):
            if (one.asker, one.code, one.action) == (number, self._kind.code, None):
                self._places.insert(at, self._places.pop())
                assert self._places[at] is place
                return

    def misses(self, node: str, action: str, params: tuple[Value, ...], *, now_ms: int) -> None:
        """Take what is missed of a broker."""
        self._now_ms = now_ms
        self._add(node, action, params, {})

    # ---- the name server ----

    def server_steps(
        self, node: str, group: frozenset[int], *, sent: Sequence[Message], now_ms: int
    ) -> None:
        """Take a step of the name server, which has these brokers now."""
        self._now_ms = now_ms
        came = self._note_group(node, group)
        for message in sent:
            asker, code = self._requests.get(message.id.removesuffix(RESPONSE), (None, 0))
            if asker is not None and code in _ASKED:
                place = came.get(asker) if code == NameServerCode.REGISTER_BROKER else None
                if place is None:
                    place = self._keep(asker, code)
                place.asker, place.code = asker, code
                self._answers[message.id] = place
        self._done()

    def server_stops(self, node: str, *, now_ms: int) -> None:
        """Take the stop of the name server, which forgets all."""
        self._now_ms = now_ms
        self._note_group(node, frozenset())
        self._done()

    def _note_group(self, node: str, group: frozenset[int]) -> dict[int, _Place]:
        """Note who has come and gone; return the places of those that have come."""
        came = {}
        for broker in sorted(self._group - group):
            self._group -= {broker}
            self._add(node, "Remove", (broker,), {("group", None): self._group})
        for broker in sorted(group - self._group):
            self._group |= {broker}
            came[broker] = self._add(node, "Register", (broker,), {("group", None): self._group})
        return came

    # ---- connections ----

    def _links_now(self) -> dict[int, str]:
        master = self._seen[MASTER]
        held: Mapping[int, int] = {} if master is None else master.links
        links = {}
        for slave in self._slaves:
            seen = self._seen[slave]
            if seen is None or not seen.knows_where:
                links[slave] = "none"
            elif seen.conn is not None and held.get(slave) == seen.conn:
                links[slave] = "transfer"
            else:
                links[slave] = "told"
        return links

    def _note_links(self, node: str, *, learns: bool) -> None:
        """Note what became of connections in a step; in it a slave `learns` where its master is."""
        for slave, link in self._links_now().items():
            was, self._links[slave] = self._links[slave], link
            if was == link:
                continue
            if was == "none":
                action = "LearnHaAddress" if learns else "SendHaInfo"
                self._add(node, action, (slave,), {("link", slave): "told"})
            if link == "transfer":
                self._add(node, "Handshake", (slave,), {("link", slave): "transfer"})
            elif link == "none":
                self._add(node, "Forget", (slave,), {("link", slave): "none"})
            elif was == "transfer":
                self._add(node, "Disconnect", (slave,), {("link", slave): "told"})

    # ---- places ----

    def _keep(self, asker: int, code: int) -> _Place:
        """Keep a place for what comes of an answer."""
        place = _Place(at_ms=self._now_ms, asker=asker, code=code)
        self._places.append(place)
        return place

    def _add(
        self, node: str | None, action: str, params: tuple[Value, ...], delta: Delta
    ) -> _Place:
        place = _Place(
            at_ms=self._now_ms, node=node, action=action, params=params, delta=dict(delta)
        )
        self._places.append(place)
        return place

    def _fill(
        self,
        places: Sequence[_Place],
        node: str,
        action: str,
        params: tuple[Value, ...],
        delta: Delta,
    ) -> _Place:
        """Say what came of an answer, where it was given; without a place, here."""
        if not places:
            return self._add(node, action, params, delta)
        place = places[-1]
        if place.action is None:
            place.node, place.action, place.params = node, action, params
        place.delta |= delta
        return place

    def _commits_first(self, heard: _Place, node: str) -> None:
        """Put what a slave heard behind its commits since, and before whoever was removed since.

        What it heard was so until then, and no name server looks at commits.
        """
        at = next(at for at, one in enumerate(self._places) if one is heard)
        since = self._places[at + 1 :]
        if not any(_is_commit(one, node) for one in since):
            return
        end = next((n for n, one in enumerate(since) if one.action == "Remove"), len(since))
        heard.at_ms = self._now_ms if end == len(since) else since[end].at_ms
        own = [one for one in since[end:] if _is_commit(one, node)]
        for one in own:
            one.at_ms = heard.at_ms
        others = [one for one in since[end:] if not _is_commit(one, node)]
        self._places[at:] = [*since[:end], *own, heard, *others]

    def _waits_no_more(self, number: int) -> None:
        for place in self._places:
            if place.asker == number:
                place.asker = None
        for name in [name for name, place in self._answers.items() if place.asker is None]:
            del self._answers[name]

    def _done(self) -> None:
        """Tell of all actions before the first place that may still be filled.

        Brokers that start, and do nothing else, are no trace.
        """
        if self._world is None:
            if all(place.action in (None, "Start") for place in self._places):
                return
            self._world = self._begin(self._places[0].at_ms)
        while self._places and self._places[0].asker is None:
            place = self._places.pop(0)
            if place.action is not None:
                self._world.take(place.action, place.params, place.delta)
                state = self._world.state()
                self._act(place.node, place.action, place.params, place.at_ms, state)

    def _begin(self, at_ms: int) -> World:
        """Tell how it came that nobody runs, of which nobody was told."""
        world = World(self._slaves, self._queues, initial(self._slaves))
        self._act(None, "Init", (), at_ms, world.state())
        group = frozenset(self._numbers.values())
        for number in (*self._slaves, MASTER):
            group -= {number}
            stopped = of_broker(number, None, SavedSeen(), self._kind)
            if number != MASTER:
                stopped["link", number] = "none"
            removed: Delta = {("group", None): group}
            for action, delta in ("Stop", stopped), ("Remove", removed):
                world.take(action, (number,), delta)
                self._act(None, action, (number,), at_ms, world.state())
        return world

    def _of(self, number: int) -> dict[tuple[str, int | None], Any]:
        return of_broker(number, self._seen[number], self._left[number], self._kind)

    def _number(self, node: str) -> int:
        if node not in self._numbers:
            raise RecordError(f"{node} is no broker of the group")
        return self._numbers[node]


def _is_commit(place: _Place, node: str) -> bool:
    return (place.node, place.action) == (node, "Commit")
