"""What nodes around a slave that acts do, or what happens to them, and nothing changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from model_tests.machines.escape_plan import image, members
from model_tests.machines.manual_escape import ManualEscape
from rocketha.acting.core import PollDue
from rocketha.escape.events import PersistDue, ReviveDue, ServeDue
from rocketha.formats.broker_requests import BrokerResponse, QueueName
from rocketha.formats.due_messages import key_of
from rocketha.formats.put_requests import PopMessage, pull_put
from rocketha.sim.engine.node import broker_address
from rocketha.sim.escape.plan import CONSUMERS, GROUP, NEIGHBOUR, SLAVE, TOPIC
from rocketha.types import BrokerId

__all__ = ["IDLE", "StutteringEscape"]

_ACKS_AGAIN: Final = "is acknowledged again"
_ASKS: Final = "asks in vain which masters there are"
_CHECKS: Final = "asks producers, and nothing can be read"
_GIVES: Final = "is given to its consumer"
_LOSES_ACK: Final = "has its ACK lost, and its consumer is told so"
_LOSES_POINT: Final = "has its check point lost, and is not given"
_POLLS: Final = "asks who is in its group, and hears nothing new"
_PUTS_NOTHING: Final = "has nothing to put"
_REFUSES: Final = "refuses a consumer"
_REVIVES: Final = "looks at pops, and the time of none is up"
_STORES_AGAIN: Final = "stores again what it has"
_WRITES_NOTHING: Final = "has nothing to write"
IDLE: Final = frozenset(
    {
        _ACKS_AGAIN,
        _ASKS,
        _CHECKS,
        _GIVES,
        _LOSES_ACK,
        _LOSES_POINT,
        _POLLS,
        _PUTS_NOTHING,
        _REFUSES,
        _REVIVES,
        _STORES_AGAIN,
        _WRITES_NOTHING,
    }
)
"""All that changes nothing."""


_OF_POPS: Final = frozenset({_ACKS_AGAIN, _GIVES, _LOSES_ACK, _LOSES_POINT})


class StutteringEscape(ManualEscape):
    """The nodes of a model, which also do what is no step."""

    def stuttering_calls(self) -> Sequence[str]:
        """List nodes and pops with what they can do now."""
        found = [f"{broker_address(SLAVE)} {what}" for what in self._idle_of_slave()]
        for number in self._cluster.masters:
            found += [f"{broker_address(number)} {what}" for what in self._idle_of_master(number)]
        for pop in self._pops:
            found += [f"{pop} {what}" for what in self._idle_of_pop(pop)]
        return found

    def make_idle_call(self, name: str) -> None:
        """Let it happen, if it still can."""
        if name in self.stuttering_calls():
            who, _, what = name.partition(" ")
            took = self._made(lambda: self._do(who, what))
            self._steps += 1
            assert not took, f"the nodes took {took}"

    # ---- when ----

    def _idle_of_slave(self) -> Iterator[str]:
        if not self._runs(SLAVE):
            return
        state = self._running()
        yield _ASKS
        if state.acts != (NEIGHBOUR in self._cluster.registered(GROUP)):
            yield _POLLS
        if all(one.progress == one.saved for one in state.services):
            yield _WRITES_NOTHING
        if not state.acts or not any(self._may_serve(at) for at in range(len(state.services))):
            yield _PUTS_NOTHING
        if not state.acts or not self._targets():
            yield _REFUSES

    def _may_serve(self, at: int) -> bool:
        """Tell whether a service has something to put, or to pass."""
        service = self._running().services[at]
        passes = service.progress + 1 in service.heard | service.ended
        return passes or bool(self._due(at) and self._targets())

    def _idle_of_master(self, number: BrokerId) -> Iterator[str]:
        if not self._runs(number):
            return
        name = broker_address(number)
        if self._comes_again(name):
            yield _STORES_AGAIN
        if not self._readable(name):
            yield _CHECKS
        if not any(self._over_ms(pop) <= self._clock.now_ms + 1 for pop in self._to_revive(name)):
            yield _REVIVES

    def _comes_again(self, master: str) -> list[str]:
        """Return the keys of what is on its way to a master where the model has it by now."""
        state = self.observe()
        new = {
            self._key(record)
            for put in members(state["sent"])
            if isinstance(record := image(put, "r"), int) and image(put, "m") == master
        }
        for pop, known in self._pops.items():
            if master not in members(image(state["ackAt"], pop)):
                new.add(f"{known.key}@ack")
            new.add(f"{known.key}@ck")
        return [
            key
            for one in self._calls.requests
            if one.sender == SLAVE and broker_address(one.receiver) == master
            if (key := key_of(pull_put(one.command)) or "") not in new
        ]

    def _readable(self, master: str) -> bool:
        """Tell whether a master has a half message that its producer has committed, unread."""
        state = self.observe()
        has, visible = members(image(state["log"], master)), members(state["visible"])
        ended = state["ended"]
        assert isinstance(ended, tuple)
        return any(
            how == "commit" and half in has and half not in visible
            for half, how in enumerate(ended, start=1)
        )

    def _idle_of_pop(self, pop: str) -> Iterator[str]:
        if self._waits(pop, is_ack=False):
            yield _LOSES_POINT
            if self._last_of_pop(pop, "ck").is_answered:
                yield _GIVES
        if self._waits(pop, is_ack=True):
            yield _LOSES_ACK
        elif self._keyed(f"{self._pops[pop].key}@ack") and self._acts():
            yield _ACKS_AGAIN

    def _acts(self) -> bool:
        return self._runs(SLAVE) and self._running().acts

    # ---- what ----

    def _do(self, who: str, what: str) -> None:
        if what in _OF_POPS:
            self._do_to_pop(who, what)
        elif who == broker_address(SLAVE):
            self._do_as_slave(what)
        else:
            self._do_as_master(self._master(who), what)

    def _do_to_pop(self, pop: str, what: str) -> None:
        if what == _ACKS_AGAIN:
            self._acknowledge(pop)
        elif what == _GIVES:
            self._last_of_pop(pop, "ck").give()
        else:
            self._last_of_pop(pop, "ck" if what == _LOSES_POINT else "ack").fail()

    def _do_as_slave(self, what: str) -> None:
        if what == _ASKS:
            self._ask_in_vain()
        elif what == _POLLS:
            self._tell(SLAVE, PollDue())
        elif what == _PUTS_NOTHING:
            for at in range(len(self._running().services)):
                self._host(SLAVE).take(ServeDue(at))
        elif what == _REFUSES:
            self._refuse()
        else:
            assert what == _WRITES_NOTHING
            self._host(SLAVE).take(PersistDue())

    def _refuse(self) -> None:
        """Let a consumer pop that is given nothing, and told so."""
        asks = PopMessage(
            group=CONSUMERS,
            queue=QueueName(topic=TOPIC, queue_id=0),
            invisible_ms=1,
            born_ms=self._cluster.now_ms(),
        )
        answers: list[int] = []
        state = self._running()
        another_pops = any(self._waits(pop, is_ack=False) for pop in self._pops)
        has_none = another_pops or state.queue.at >= len(state.queue.messages)
        code = BrokerResponse.SERVICE_NOT_AVAILABLE
        if state.acts and has_none:
            code = BrokerResponse.PULL_NOT_FOUND
        self._cluster.hosted_slave.pop(asks, lambda answer: answers.append(answer.code))
        self._clock.run()
        assert answers == [code], f"it was told {answers}, and not {code}"

    def _do_as_master(self, number: BrokerId, what: str) -> None:
        if what == _CHECKS:
            self._check(number)
        elif what == _REVIVES:
            self._host(number).take(ReviveDue())
        else:
            assert what == _STORES_AGAIN
            name = broker_address(number)
            self._calls.hear(self._coming(self._comes_again(name)[0], name))
