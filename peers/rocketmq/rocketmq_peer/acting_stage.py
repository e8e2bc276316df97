"""Groups of brokers: b1 with its slave b2, and b3, another master; b4 is one that may come later.

b1 is killed, b2 acts for it (`enableSlaveActingMaster`), b1 comes back and takes over what its
slave has (`BrokerPreOnlineService`). All that is seen on the way goes into `Played.seen`.

The configuration of what is looked at is shipped, but for durations that are named in
`acting_options`, and what a scenario says.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rocketha.formats.remoting_command import RemotingCommand
from rocketmq_peer.acting_history import Seen
from rocketmq_peer.client import Answer, Client
from rocketmq_peer.configuration import CLUSTER, Value
from rocketmq_peer.controller_view import exchange
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.frame_rewriting import address
from rocketmq_peer.group import GROUP_NAME, NAME_SERVER
from rocketmq_peer.group_options import GroupOptions, Replication
from rocketmq_peer.name_server_client import Route, ask_routes
from rocketmq_peer.node_files import records_on
from rocketmq_peer.ports import GroupPorts, any_ports
from rocketmq_peer.proxy import Way
from rocketmq_peer.scenario import TOPIC, Stage

__all__ = ["MASTER", "OTHER", "SLAVE", "THIRD", "ActingStage", "acting_options", "moves_with_b4"]

MASTER: Final = "b1"
SLAVE: Final = "b2"
OTHER: Final = "b3"
THIRD: Final = "b4"
_THIRDS_LINK: Final = "ns.b4"
_MASTERS: Final = (MASTER, OTHER, THIRD)

_NAMES: Final = {3: "h", 4: "i"}
"""What the groups of b3 and b4 are called; b1 and b2 are g."""
_SIZE: Final = 64
_TRIES: Final = 40
"""A second each: a producer may not know yet that a master is back."""
_REVIVE_TOPIC: Final = f"rmq_sys_REVIVE_LOG_{CLUSTER}"
_REVIVE_QUEUES: Final = 8
_HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
_HALF_GROUP: Final = "CID_RMQ_SYS_TRANS"
_QUERY_CONSUMER_OFFSET: Final = 14
_GET_MAX_OFFSET: Final = 30
_UPDATE_TOPIC: Final = 17
_ROUTES_MS: Final = 1000
_PATIENCE_S: Final = 120.0
_NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})


def acting_options(
    *,
    brokers: int = 3,
    suit: Callable[[GroupPorts], bool] = any_ports,
    more: Mapping[str, Value] = _NOTHING,
) -> GroupOptions:
    """Return what such groups are started with; `more` are settings of brokers."""
    return GroupOptions(
        brokers=brokers,
        replication=Replication.ASYNC_MASTER,
        other_masters={number: name for number, name in _NAMES.items() if number <= brokers},
        ports_suit=suit,
        more_of_brokers={
            "enableSlaveActingMaster": True,
            "totalReplicas": 2,  # with 1, the default, a master that comes back asks no slave
            "slaveReadEnable": True,  # else nobody pulls from the slave
            "timerWheelEnable": True,  # as shipped; without it no master comes back
            "brokerHeartbeatInterval": 500,
            "brokerNotActiveTimeoutMillis": 3000,
            "transactionCheckInterval": 3000,
            "transactionTimeOut": 1000,
            "transactionOpBatchInterval": 500,
            "transactionCheckMax": 1000,
            "loadBalancePollNameServerInterval": _ROUTES_MS,
            **more,
        },
        more_of_name_server={
            "supportActingMaster": True,
            "notifyMinBrokerIdChanged": True,
            "scanNotActiveBrokerInterval": 500,
        },
        agent=False,
    )


def moves_with_b4(ports: GroupPorts) -> bool:
    """Tell whether the queue of b2's check points is b4's when it has come, not b3's.

    Source: `EscapeBridge.asyncRemotePutMessageToSpecificQueue`
    """
    name = f"{_REVIVE_TOPIC}/{address(ports.broker(2).remoting)}"
    return _java_hash(name) % (2 * _REVIVE_QUEUES) >= _REVIVE_QUEUES


class ActingStage:
    """The groups of a stage, their client, and what is seen of them."""

    def __init__(self, stage: Stage) -> None:
        """Take a stage whose group is not started."""
        self.stage = stage
        self.group = stage.group
        self.client: Client
        self._began = time.monotonic()
        self._checks = 0

    @property
    def now_ms(self) -> int:
        """How long the run goes on."""
        return int((time.monotonic() - self._began) * 1000)

    def note(self, what: str, node: str = "", id_: str = "", said: str = "") -> None:
        """Write down what was seen, now."""
        self._write(self.now_ms, what, node, id_, said)

    def _write(self, at_ms: int, what: str, node: str, id_: str, said: str) -> None:
        one = Seen(at_ms=at_ms, what=what, node=node, id=id_, said=said)
        self.stage.played.seen.append(one)
        words = " ".join(word for word in (node, what, id_, said) if word)
        self.stage.say(words)

    def _at_ms(self, at_ns: int) -> int:
        """Return when something happened that the client's clock has: CLOCK_MONOTONIC, as ours."""
        return int((at_ns / 1e9 - self._began) * 1000)

    # ---- the groups ----

    def begin(self) -> None:
        """Start name server, b1, b2 and b3, and the client; the topic is b1's alone."""
        group = self.group
        group.start_name_server()
        group.wait_serving(NAME_SERVER)
        for broker in (MASTER, SLAVE, OTHER):
            self._start(broker)
        for broker in (MASTER, SLAVE, OTHER):
            group.wait_serving(broker)
        self.client = group.client()
        for broker in (MASTER, OTHER):
            group.wait_for(
                partial(self._is_master, broker), f"{broker} was registered", _PATIENCE_S
            )
        self.create_topic(MASTER)
        group.wait_for(self._both, "b1 and b2 were registered", _PATIENCE_S)
        self.stage.say("b1 is master, b2 its slave, b3 another master")

    def _start(self, broker: str) -> None:
        """Start a broker, which reaches others without proxies: else its master does not know it.

        A master that comes back waits for a connection from the host that its slave has said
        (`HAConnectionStateNotificationService`), and proxies have another one.
        """
        more = {"namesrvAddr": address(self.group.ports.name_server)}
        self.group.start_broker(broker, wait=False, more=more)

    def create_topic(self, broker: str) -> None:
        """Let a master have the topic, with one queue, and the slave, too."""
        fields = {"topic": TOPIC, "defaultTopic": "TBW102", "order": "false", "topicSysFlag": "0"}
        fields |= {"readQueueNums": "1", "writeQueueNums": "1", "perm": "6"}
        fields |= {"topicFilterType": "SINGLE_TAG"}
        command = RemotingCommand(code=_UPDATE_TOPIC, opaque=1, ext_fields=fields)

        def taken() -> bool | None:
            answer = exchange(self._port(broker), command)
            return (answer is not None and answer.code == 0) or None

        self.group.wait_for(taken, f"{broker} took the topic", _PATIENCE_S)
        topics = self.group.store_of(SLAVE if broker == MASTER else broker) / "config/topics.json"
        self.group.wait_for(
            lambda: (topics.is_file() and f'"{TOPIC}"' in topics.read_text("utf-8")) or None,
            f"the topic of {broker} was written down",
            _PATIENCE_S,
        )
        self.group.wait_for(
            lambda: self._name(broker) in self._routes(TOPIC) or None, "there was a route"
        )

    def at(self, broker: str) -> str:
        """Return where clients reach a broker."""
        return address(self._port(broker))

    def _port(self, broker: str) -> int:
        return self.group.ports.broker(self.group.brokers.index(broker) + 1).remoting

    def _routes(self, topic: str) -> Mapping[str, Route]:
        return ask_routes(self.group.ports.name_server, topic)

    def _is_master(self, broker: str) -> bool | None:
        # A topic that each broker has of its own accord.
        route = self._routes("SELF_TEST_TOPIC").get(self._name(broker))
        return (route is not None and route.brokers.get(0) == self.at(broker)) or None

    def _name(self, broker: str) -> str:
        return _NAMES.get(self.group.brokers.index(broker) + 1, GROUP_NAME)

    def _both(self) -> bool | None:
        route = self._routes(TOPIC).get(GROUP_NAME)
        wanted = {0: self.at(MASTER), 1: self.at(SLAVE)}
        return (route is not None and route.brokers == wanted and route.may_write) or None

    def _acts(self) -> bool | None:
        route = self._routes(TOPIC).get(GROUP_NAME)
        return (route is not None and route.brokers == {0: self.at(SLAVE)}) or None

    def kill_master(self) -> None:
        """Kill b1, and wait until b2 acts for it."""
        self.group.kill(MASTER)
        self.note("killed", MASTER)
        self.group.wait_for(self._acts, "b2 acted", _PATIENCE_S)
        self.note("acts", SLAVE)

    def return_master(self) -> None:
        """Start b1 again, and wait until it has taken over what b2 has, and is registered."""
        self._start(MASTER)
        self.group.wait_for(self._both, "b1 was back", _PATIENCE_S)
        self.note("back", MASTER)

    def pull_from_slave(self) -> None:
        """Read the topic while b2 acts: b2 keeps how far its clients have pulled, too."""
        answer = self.client.read(TOPIC)
        if answer.status == "ERROR" or not answer.ids:
            raise ProcessError(f"nothing was pulled: {answer.error}")
        for id_ in answer.ids:
            self.note("pulled", SLAVE, id_)

    def try_to_return(self, timeout_s: float) -> None:
        """Start b1 again, and see whether it is back in time."""
        self._start(MASTER)
        self.group.wait_serving(MASTER)
        self.note("up", MASTER)
        with suppress(ProcessError):
            self.group.wait_for(self._both, "b1 was back", timeout_s)
            self.note("back", MASTER)
            return
        self.note("waited", MASTER)

    def kill_other(self) -> None:
        """Kill b3, and wait until nobody finds it any more."""
        self.group.kill(OTHER)
        self.group.wait_for(
            lambda: self._name(OTHER) not in self._routes(TOPIC) or None, "b3 was gone", _PATIENCE_S
        )
        time.sleep(3 * _ROUTES_MS / 1000)
        self.note("gone", OTHER)

    def return_other(self) -> None:
        """Start b3 again, and wait until it is found."""
        self._start(OTHER)
        self.group.wait_for(partial(self._is_master, OTHER), "b3 was back", _PATIENCE_S)
        self.note("joined", OTHER)

    def hold_third(self) -> None:
        """Start b4, which does not reach the name server yet."""
        for way in Way:
            self.group.proxies.hold(_THIRDS_LINK, way)
        port = self.group.ports.broker(self.group.brokers.index(THIRD) + 1).to_name_server
        self.group.start_broker(THIRD, wait=False, more={"namesrvAddr": address(port)})
        self.group.wait_serving(THIRD)
        self.note("up", THIRD)

    def let_third_in(self) -> None:
        """Let b4 register, and wait until brokers know it."""
        self.group.proxies.cut(_THIRDS_LINK)
        for way in Way:
            self.group.proxies.release(_THIRDS_LINK, way)

        def there() -> bool | None:
            route = self._routes(_REVIVE_TOPIC).get(self._name(THIRD))
            return (route is not None and route.brokers.get(0) == self.at(THIRD)) or None

        self.group.wait_for(there, "b4 was registered", _PATIENCE_S)
        time.sleep(3 * _ROUTES_MS / 1000)
        self.note("joined", THIRD)

    def copied(self) -> None:
        """Wait until b2's log is as long as b1's."""
        seen: list[int] = []

        def equal() -> bool | None:
            ends = [_end_of_log(self.group.store_of(one)) for one in (MASTER, SLAVE)]
            seen.append(ends[0])
            return (ends[0] == ends[1] and seen[-2:] == [ends[0]] * 2) or None

        self.group.wait_for(equal, "b2 had all that b1 has", _PATIENCE_S)

    # ---- halves ----

    def half(self, id_: str) -> str:
        """Send a half message, which its producer leaves open; return which broker has it."""

        def sent() -> Answer | None:
            answer = self.client.ask("half", topic=TOPIC, id=id_, size=_SIZE)
            return answer if answer.is_ok else None

        answer = self.group.wait_for(sent, f"{id_} was stored")
        broker = next(one for one in _MASTERS if self._name(one) == answer.broker)
        self.note("sent", broker, id_, answer.status)
        return broker

    def half_at(self, broker: str, id_: str) -> str:
        """Send half messages <id>0, <id>1, ... until this broker has one; return that."""
        for number in range(_TRIES):
            if self.half(name := f"{id_}{number}") == broker:
                return name
            time.sleep(_ROUTES_MS / 1000)
        raise ProcessError(f"{broker} got none of {_TRIES} half messages")

    def decide(self, id_: str, state: str) -> None:
        """Let its producer answer so from now on."""
        self.client.ask("decide", id=id_, state=state)
        self.note("decided", id_=id_, said=state)

    def checks(self) -> None:
        """Write down which checks have come."""
        events = self.client.ask("checks").events
        for one in events[self._checks :]:
            node = self._node_of(str(one.get("store_host", "")))
            self._write(self._at_ms(one["at_ns"]), "checked", node, one["id"], one["answer"])
        self._checks = len(events)

    def asked(self, *ids: str, timeout_s: float = _PATIENCE_S) -> None:
        """Wait until each of these halves was asked for since b1 was last killed or started."""
        since = self.now_ms

        def all_asked() -> bool | None:
            self.checks()
            found = {
                one.id
                for one in self.stage.played.seen
                if one.what == "checked" and one.at_ms > since
            }
            return set(ids) <= found or None

        self.group.wait_for(all_asked, f"{', '.join(ids)} were asked for", timeout_s)

    def _node_of(self, host: str) -> str:
        ports = {str(self._port(one)): one for one in self.group.brokers}
        return ports.get(host.rpartition(":")[2], host)

    def progress_of_halves(self, broker: str) -> bool | None:
        """Say how far a broker has looked at halves; whether that is all."""
        at = self._offset(broker, _QUERY_CONSUMER_OFFSET, consumerGroup=_HALF_GROUP)
        end = self._offset(broker, _GET_MAX_OFFSET)
        last = next(
            (one for one in reversed(self.stage.played.seen) if one.what == "progress"), None
        )
        said = f"{at} of {end}"
        if last is None or (last.node, last.said) != (broker, said):
            self.note("progress", broker, said=said)
        return (at is not None and at == end) or None

    def _offset(self, broker: str, code: int, **fields: str) -> int | None:
        named = {"topic": _HALF_TOPIC, "queueId": "0", **fields}
        command = RemotingCommand(code=code, opaque=1, ext_fields=named)
        answer = exchange(self._port(broker), command)
        said = None if answer is None else answer.ext_fields.get("offset")
        return None if said is None else int(said)

    def end_at_slave(self, id_: str) -> None:
        """Ask b2 to commit a half, as its producer would."""
        answer = self.client.ask("commit", id=id_, address=self.at(SLAVE))
        self.note("ended", SLAVE, id_, answer.error or f"code {answer.code}")

    def is_found(self, id_: str) -> bool | None:
        """Tell whether a message can be read."""
        return id_ in self.client.read(TOPIC).ids or None

    def found(self) -> None:
        """Read the topic at all masters, and write down what is found, and when it was stored.

        Nobody may read before b1 is back: 5.5.0 does not come back then (`kept_out`).
        """
        answer = self.client.read(TOPIC)
        if answer.status == "ERROR":
            raise ProcessError(f"nothing can be read: {answer.error}")
        nodes = {self._name(one): one for one in _MASTERS if one in self.group.brokers}
        since_ms = time.time() * 1000 - self.now_ms
        for one in answer.events:
            at_ms, node = int(one["store_ms"] - since_ms), nodes.get(one["broker"], "")
            self._write(self.now_ms, "found", node, one["id"], str(at_ms))

    # ---- delayed messages ----

    def delayed(self, id_: str, after_ms: int, **how: int) -> str:
        """Send a delayed message, `how` being what RocketMQ is told; return which broker has it."""
        begun = self.now_ms

        def sent() -> Answer | None:
            answer = self.client.ask(
                "send", topic=TOPIC, id=id_, size=_SIZE, timeout_ms=3000, **how
            )
            return answer if answer.is_ok else None

        answer = self.group.wait_for(sent, f"{id_} was stored")
        broker = next(one for one in _MASTERS if self._name(one) == answer.broker)
        self.note("sent", broker, id_, str(begun + after_ms))
        return broker

    def delayed_at_master(self, id_: str, send: Callable[[ActingStage, str], str]) -> str:
        """Send delayed messages <id>0, <id>1, ... until b1 has one; return that."""
        for number in range(_TRIES):
            if send(self, name := f"{id_}{number}") == MASTER:
                return name
            time.sleep(_ROUTES_MS / 1000)
        raise ProcessError(f"b1 got none of {_TRIES} delayed messages")

    # ---- pops ----

    def pop(self, broker: str, count: int, invisible_ms: int) -> dict[str, str]:
        """Pop messages of a broker; return by which handle each is acknowledged."""
        fields = {"topic": TOPIC, "group": "poppers", "broker": self._name(broker)}
        fields |= {"address": self.at(broker)}
        answer = self.client.ask("pop", **fields, count=count, invisible_ms=invisible_ms)
        for one in answer.events:
            said = f"{invisible_ms} ms, retry {one['times']}"
            self._write(self._at_ms(one["at_ns"]), "popped", broker, one["id"], said)
        return {str(one["id"]): str(one["handle"]) for one in answer.events}

    def acknowledge(self, broker: str, id_: str, handle: str) -> None:
        """Acknowledge a message at a broker, by its handle."""
        fields = {"topic": TOPIC, "group": "poppers", "address": self.at(broker), "handle": handle}
        answer = self.client.ask("ack", **fields)
        self.note("acked", broker, id_, answer.error or answer.status)

    def stored_tags(self, *brokers: str) -> None:
        """Write down how many check points and ACKs are in the logs of brokers, by tags."""
        for broker in brokers:
            log = b"".join(
                path.read_bytes() for path in (self.group.store_of(broker) / "commitlog").iterdir()
            )
            counts = [len(re.findall(b"TAGS\x01%s\x02" % tag, log)) for tag in (b"ck", b"ack")]
            self.note("stored", broker, said=f"{counts[0]} ck, {counts[1]} ack")


def _end_of_log(store: Path) -> int:
    return max((record.offset + record.size for record in records_on(store)), default=0)


def _java_hash(text: str) -> int:
    """Return `String.hashCode` of Java, as a number that is not negative modulo a power of two."""
    value = 0
    for letter in text:
        value = (31 * value + ord(letter)) & 0xFFFFFFFF
    return value
