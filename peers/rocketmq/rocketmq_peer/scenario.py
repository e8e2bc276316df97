"""A scenario: what is done to a group of real brokers, and what is looked at afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from string import ascii_lowercase
from typing import Final

from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import ElectMaster
from rocketha.types import BrokerId
from rocketmq_peer.acting_history import Kind
from rocketmq_peer.client import Answer, Client
from rocketmq_peer.configuration import CLUSTER, ControllerKind
from rocketmq_peer.controller_view import ask, knows_master
from rocketmq_peer.errors import PeerError, ProcessError
from rocketmq_peer.group import GROUP_NAME, NAME_SERVER, Group
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.links import CONTROLLERS
from rocketmq_peer.played_run import Played
from rocketmq_peer.proxy import Way
from rocketmq_peer.watch import NodeView, Watch

__all__ = ["LIVE", "LIVE_IN_GROUPS", "LIVE_LEGACY", "TOPIC", "Scenario", "Stage", "under"]

TOPIC: Final = "T"
"""Of all messages; it has one queue in the group."""

_NAME_AND_BODY_BYTES: Final = 102
"""Together, so that all records are equally long: where logs part, records begin at the same
offsets, and a specification that counts records sees what a slave keeps."""

_PATIENCE_S: Final = 30.0
_TRIES_S: Final = 10.0
"""Of a message that a busy machine may let fail."""

LIVE: Final = (
    *("B01", "B03", "LateDispatch", "B04", "B05", "B06", "B07", "B10", "B11", "B81", "B83"),
    *("KeptEpochs", "KeptLink", "LateBorder", "MasterAnswers"),
    *("B21", "B79", "B80", "B22", "B22_B80", "W2", "B84", "StaleLook"),
)
"""Known bugs that some release was seen to have."""

LIVE_IN_GROUPS: Final = (*LIVE, "B36", "B38", "LateElection", "OneMember")
"""The same where runs are held against ReplicaGroup, which has controllers of several nodes."""

LIVE_LEGACY: Final = ("B23", "B52", "StartCoversWaiting")
"""The same of brokers without controllers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Something that happens to a group, by a script that repeats."""

    name: str
    about: str
    """One line."""
    protocols: tuple[str, ...]
    """Which specifications the run is held against, as in `spec/<protocol>/`."""
    play: Callable[[Stage], None]
    history: Kind | None = None
    """What is seen of clients is judged as this; such a scenario may have no protocols."""
    options: GroupOptions = field(default_factory=GroupOptions)
    museum: tuple[str, ...] = LIVE
    """The known bugs with which a divergence is tried, alone and together."""


def under(scenario: Scenario, kind: ControllerKind) -> Scenario:
    """Return a scenario under controllers of another kind. Raises: PeerError"""
    return replace(scenario, options=replace(scenario.options, controller_kind=kind))


class Stage:
    """A group that was started, its client, and what is seen of them while a scenario plays."""

    def __init__(self, group: Group, say: Callable[[str], None]) -> None:
        """Take a group that is not started."""
        self.group = group
        self.played = Played()
        self._say = say
        self._watch = Watch(group.folder / "records")
        self._client: Client | None = None

    def begin(self) -> str:
        """Start all of it, wait until all brokers are in sync, and return the master."""
        self.group.start()
        self._client = self.group.client()
        master = self.group.wait_for_master()
        self.in_sync(*self.group.brokers)
        self.say(f"{master} is master, all are in sync")
        return master

    def begin_legacy(self, *late: str) -> str:
        """Start a group without controllers, but for late slaves; return the master.

        Waits until the slaves have reported to it.
        """
        group = self.group
        master = group.brokers[0]
        slaves = self.others(master, *late)
        group.start_name_server()
        group.wait_serving(NAME_SERVER)  # a master that does not find it comes half a minute later
        for broker in (master, *slaves):
            group.start_broker(broker, wait=False)
        for broker in (master, *slaves):
            group.wait_serving(broker)
        self.registered()
        self._client = group.client()
        self.reported(*slaves)
        self.say(f"{master} is master, {', '.join(slaves) or 'nobody'} replicates from it")
        return master

    def say(self, what: str) -> None:
        """Tell whoever waits what happens."""
        self._say(what)

    # ---- clients ----

    def send(self, name: str, *, timeout_ms: int = 4000) -> Answer:
        """Send a message, and note what became of it."""
        assert self._client is not None, "begin first"
        size = _NAME_AND_BODY_BYTES - len(name)
        answer = self._client.send(TOPIC, name, size=size, timeout_ms=timeout_ms)
        self._note(name, answer)
        return answer

    def send_all(self, letter: str, count: int, *, timeout_ms: int = 4000) -> None:
        """Send messages x0, x1, ... and say what became of them."""
        statuses = []
        for number in range(count):
            name = f"{letter}{number}"
            self.send(name, timeout_ms=timeout_ms)
            statuses.append(self.played.answers[name])
        self.say(f"{letter}0 to {letter}{count - 1}: {', '.join(statuses)}")

    def send_at_once(
        self, letter: str, count: int, *, timeout_ms: int, size: int = _NAME_AND_BODY_BYTES
    ) -> Callable[[], None]:
        """Send messages that wait together; what is returned waits for what became of them."""
        assert self._client is not None, "begin first"
        client, names = self._client, [f"{letter}{number}" for number in range(count)]
        asked = [
            client.begin_send(TOPIC, one, size=size - len(one), timeout_ms=timeout_ms)
            for one in names
        ]

        def wait() -> None:
            for name, one in zip(names, asked, strict=True):
                self._note(name, one.result(timeout_ms / 1000 + _PATIENCE_S))
            said = ", ".join(self.played.answers[name] for name in names)
            self.say(f"{names[0]} to {names[-1]}: {said}")

        return wait

    def send_until_had(
        self, master: str, count: int, *, timeout_ms: int, size: int = _NAME_AND_BODY_BYTES
    ) -> Callable[[], None]:
        """Send messages until a master's log has so many; what is returned waits for answers.

        On a busy machine some fail before they reach it. Raises: ProcessError
        """
        waits: list[Callable[[], None]] = []
        for letter in ascii_lowercase:
            waits.append(self.send_at_once(letter, 1, timeout_ms=timeout_ms, size=size))
            with suppress(ProcessError):
                self.group.wait_for(partial(self._has, master, f"{letter}0"), "it came", _TRIES_S)
            if len(self.view(master).ids) >= count:
                break
        else:
            raise ProcessError(f"{master} had not {count} of {len(waits)} messages")

        def wait() -> None:
            for one in waits:
                one()

        return wait

    def _has(self, broker: str, name: str) -> bool | None:
        return name in self.view(broker).ids or None

    def _note(self, name: str, answer: Answer) -> None:
        self.played.answers[name] = answer.status or answer.error or "nothing"
        if answer.is_ok:
            self.played.acknowledged.append(name)

    def send_until_ok(self, name: str, *, timeout_s: float = 60.0) -> None:
        """Send a message until it is stored, as a producer does after a failover."""
        tries = iter(range(1_000))

        def stored() -> Answer | None:
            number = next(tries)
            answer = self.send(f"{name}.{number}" if number else name, timeout_ms=3000)
            return answer if answer.offset is not None else None

        self.group.wait_for(stored, f"{name} was stored", timeout_s)

    def consumer(self, name: str) -> Client:
        """Start a client that keeps records, and consumes nothing yet. Raises: ProcessError"""
        return self.group.client(name, watched=True)

    def read_back(self) -> None:
        """Read all messages as a consumer finds them. Raises: ProcessError if none can be read"""
        assert self._client is not None, "begin first"
        answer = self._client.read(TOPIC)
        if answer.status == "ERROR":
            raise ProcessError(f"nothing can be read: {answer.error}")
        self.played.read_back = answer.ids
        self.say(f"a consumer finds {', '.join(self.played.read_back) or 'nothing'}")

    # ---- replication, of which a broker is the master ----

    def hold_replication(self, master: str, way: Way = Way.TO_CLIENT) -> None:
        """Let nothing through that a master sends to its slaves, or that they report."""
        for link in self._replication(master):
            self.group.proxies.hold(link, way)

    def cut_replication(self, master: str, *, refused: bool = False) -> None:
        """Let a master lose the connections of its slaves, which may make others unless refused."""
        for link in self._replication(master):
            self.group.proxies.refuse(link, refused)
            self.group.proxies.cut(link)

    def allow_replication(self, master: str) -> None:
        """Let everything through again, of connections that are made from now on."""
        for link in self._replication(master):
            self.group.proxies.refuse(link, False)
            self.group.proxies.cut(link)
            for way in Way:
                self.group.proxies.release(link, way)

    def hold_answers(self, broker: str) -> None:
        """Let a broker hear nothing of controllers: neither answers, nor who is master now."""
        for controller in self.group.controllers:
            self.group.proxies.hold(f"{controller}.{broker}", Way.TO_CLIENT)
        self.group.proxies.hold(f"to.{broker}.{CONTROLLERS}", Way.TO_SERVER)

    def ask_election(self, controller: str, broker: str) -> None:
        """Ask a controller for this master as an operator does, without waiting for the answer."""
        number = self.group.controllers.index(controller) + 1
        request = ElectMaster(
            cluster_name=CLUSTER,
            broker_name=GROUP_NAME,
            broker_id=BrokerId(self.group.brokers.index(broker) + 1),
            designate_elect=True,
        )
        self.group.note("ask_election", node=controller, master=broker)
        port = self.group.ports.controller(number).remoting
        threading.Thread(target=ask, args=(port, request, RequestCode.ELECT_MASTER)).start()

    def _replication(self, master: str) -> tuple[str, ...]:
        return self.group.links_of(kind="ha", callee=master)

    # ---- what brokers have ----

    def view(self, node: str) -> NodeView:
        """Return what a broker or controller has done so far."""
        return self._watch.node(node)

    def in_sync(self, *brokers: str, timeout_s: float = 60.0) -> None:
        """Wait until these brokers are the SyncStateSet."""
        self.group.wait_for_sync_state_set(*brokers, timeout_s=timeout_s)

    def registered(self) -> None:
        """Wait until clients can learn where b1, a master without controllers, is."""
        port = self.group.ports.name_server
        self.group.wait_for(lambda: knows_master(port, GROUP_NAME) or None, "b1 was registered")

    def reported(self, *slaves: str, timeout_s: float = 60.0) -> None:
        """Wait until b1, a master without controllers, has heard where the logs of slaves end."""

        def heard() -> bool | None:
            ends = dict(self.view(self.group.brokers[0]).state.get("ends", ()))
            clients = [self.view(one).state.get("client") for one in slaves]
            acks = [
                ends[one["id"]]["slave_ack"] if one and one["id"] in ends else -1 for one in clients
            ]
            return all(ack >= 0 for ack in acks) or None

        self.group.wait_for(heard, f"{', '.join(slaves)} had reported", timeout_s)

    def nobody_connected(self, *, timeout_s: float = 60.0) -> None:
        """Wait until b1, a master without controllers, has no connections."""
        master = self.group.brokers[0]
        self.group.wait_for(
            lambda: self.view(master).state.get("ends") == [] or None, "all were cut", timeout_s
        )

    def power_cut(self, broker: str) -> None:
        """Let a broker without controllers lose its power, and what its log had not flushed."""
        self.group.power_cut(broker, lambda: int(self.view(broker).state["flushed_offset"]))
        kept = self.view(broker).ids
        self.say(f"{broker} has lost its power; it keeps {', '.join(kept) or 'nothing'}")

    def copied(self, end: int, *brokers: str, timeout_s: float = 60.0) -> None:
        """Wait until the logs of brokers reach an offset, in bytes."""

        def there() -> bool | None:
            return all(self.view(one).end >= end for one in brokers) or None

        self.group.wait_for(there, f"{', '.join(brokers)} reached {end}", timeout_s)

    def next_master(self, *than: str, timeout_s: float = 60.0) -> str:
        """Wait until another broker has become master, by its own records; return it."""
        others = [one for one in self.group.brokers if one not in than]
        if not others:
            raise PeerError("nobody is left to be master")

        def found() -> str | None:
            running = [one for one in others if one in self.group.running]
            return next((one for one in running if self.view(one).role == "Master"), None)

        master = self.group.wait_for(found, f"one of {', '.join(others)} was master", timeout_s)
        self.say(f"{master} is master")
        return master

    def others(self, *than: str) -> tuple[str, ...]:
        """Return the brokers but these."""
        return tuple([one for one in self.group.brokers if one not in than])

    def say_logs(self, *brokers: str) -> None:
        """Say what brokers have, and whether it is the same."""
        logs = {broker: self.view(broker).ids for broker in brokers}
        for broker, ids in logs.items():
            self.say(f"{broker} has {', '.join(ids)}")
        self.say(
            "all have the same" if len(set(logs.values())) == 1 else "they have different bytes"
        )
