"""Random walks: a seed draws a group and what befalls it, as the simulator's seeds do.

What is drawn is a list of moves, so that a run can be repeated with fewer of them. A move says whom
it is about by the part that he has when it is made, such as the master. Java's threads are not
drawn: a seed that is played twice may come to something else.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from rocketha.formats.remoting_command import RemotingCommand
from rocketmq_peer.configuration import BrokerTiming, ControllerKind, Promises
from rocketmq_peer.controller_view import exchange
from rocketmq_peer.errors import PeerError, ProcessError
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.proxy import Way
from rocketmq_peer.scenario import TOPIC, Scenario, Stage

__all__ = [
    "Do",
    "Move",
    "Walk",
    "Walker",
    "Who",
    "draw",
    "draw_move",
    "scenario_of",
    "under_rocketha",
]


class Do(StrEnum):
    """What may be done."""

    SEND = "send"
    """Producers send messages."""
    HOLD = "hold"
    """Nothing that it sends to its slaves reaches them; their reports still reach it."""
    HOLD_REPORTS = "hold_reports"
    """What its slaves report does not reach it."""
    CUT = "cut"
    """Its connections of replication are lost, and made again."""
    REFUSE = "refuse"
    """As `CUT`, and none can be made."""
    ISOLATE = "isolate"
    """It reaches neither the controllers nor another broker; producers reach it."""
    REJOIN = "rejoin"
    """All links are as at the beginning."""
    KILL = "kill"
    START = "start"
    """Whoever was killed comes back, one of them."""
    RESTART = "restart"
    """It is killed, and comes back before the controller misses it."""
    PAUSE = "pause"
    """It does nothing for a while."""
    WAIT = "wait"
    KILL_LEADER = "kill_leader"
    """The controller that leads is killed, and comes back; one of a release that is alone stays."""


class Who(StrEnum):
    """Whom it befalls."""

    MASTER = "master"
    SLAVE = "slave"
    """The first broker that runs and is not the master."""
    LAST_SLAVE = "last_slave"


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that is done."""

    do: Do
    who: Who = Who.MASTER
    number: int = 0
    """Messages, or milliseconds."""

    def __str__(self) -> str:
        what = f"{self.do} {self.number}" if self.number else str(self.do)
        is_about_nobody = self.do in (Do.SEND, Do.WAIT, Do.START, Do.REJOIN, Do.KILL_LEADER)
        return what if is_about_nobody else f"{what} {self.who}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What a seed has drawn."""

    seed: int
    options: GroupOptions
    moves: tuple[Move, ...]


_WEIGHTS: Final[Mapping[Do, int]] = {
    Do.SEND: 12,
    Do.HOLD: 3,
    Do.HOLD_REPORTS: 2,
    Do.CUT: 3,
    Do.REFUSE: 2,
    Do.ISOLATE: 3,
    Do.REJOIN: 7,
    Do.KILL: 4,
    Do.START: 6,
    Do.RESTART: 2,
    Do.PAUSE: 2,
    Do.WAIT: 5,
    Do.KILL_LEADER: 1,
}
_CREATE_TOPIC: Final = RemotingCommand(
    code=17,
    opaque=1,
    ext_fields={
        "topic": TOPIC,
        "defaultTopic": "TBW102",
        "readQueueNums": "1",
        "writeQueueNums": "1",
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    },
)
"""Source: `CreateTopicRequestHeader`"""
_MOVES: Final = 24
_PAUSE_MS: Final = (300, 6_000)
_WAIT_MS: Final = (200, 5_000)
_TIMEOUT_MS: Final = 1_500
_SETTLES_S: Final = 60.0


def draw(seed: int) -> Walk:
    """Draw a walk."""
    chance = random.Random(f"walk {seed}")
    brokers = chance.choice((2, 2, 3))
    options = GroupOptions(
        brokers=brokers,
        controllers=chance.choice((1, 1, 1, 3)),
        promises=Promises(all_ack_in_sync_state_set=chance.random() < 0.7),
        timing=BrokerTiming(heartbeat_timeout_ms=chance.choice((4_000, 8_000))),
        more_of_brokers={"slaveTimeout": 1_000},
    )
    kinds, weights = tuple(_WEIGHTS), tuple(_WEIGHTS.values())
    return Walk(
        seed=seed,
        options=options,
        moves=tuple([draw_move(chance, do) for do in chance.choices(kinds, weights, k=_MOVES)]),
    )


def draw_move(
    chance: random.Random,
    do: Do,
    *,
    pause_ms: tuple[int, int] = _PAUSE_MS,
    wait_ms: tuple[int, int] = _WAIT_MS,
) -> Move:
    """Draw whom something befalls, and how often or how long."""
    who = chance.choice((Who.MASTER, Who.MASTER, Who.SLAVE, Who.LAST_SLAVE))
    number = 0
    match do:
        case Do.SEND:
            number = chance.randint(1, 4)
        case Do.PAUSE:
            number = chance.randint(*pause_ms)
        case Do.WAIT:
            number = chance.randint(*wait_ms)
        case _:
            pass
    return Move(do, who, number)


def under_rocketha(walk: Walk) -> Walk:
    """Return a walk under rocketha's controller, which is alone: killed, it comes back."""
    kind = ControllerKind.ROCKETHA
    return replace(walk, options=replace(walk.options, controllers=1, controller_kind=kind))


def scenario_of(walk: Walk, moves: Sequence[Move] | None = None) -> Scenario:
    """Return a walk as a scenario; with `moves`, with these only."""
    made = walk.moves if moves is None else tuple(moves)
    return Scenario(
        name=f"walk_{walk.seed}",
        about=f"seed {walk.seed}: {', '.join(map(str, made))}",
        protocols=("sync_state_set", "epoch_truncation"),
        play=lambda stage: Walker(stage).play(made),
        options=walk.options,
    )


class Walker:
    """Makes moves, and heals everything behind the last one."""

    def __init__(self, stage: Stage) -> None:
        """Take a group that is not started."""
        self._stage = stage
        self._group = stage.group
        self._down: list[str] = []
        self._sent = 0

    def play(self, moves: Sequence[Move]) -> None:
        """Begin, make the moves, heal, and read everything back. Raises: ProcessError"""
        self.begin()
        self._stage.send_until_ok("first")
        self.begun()
        for move in moves:
            who = self._who(move.who)
            self._stage.say(f"{move}: {who}" if who else str(move))
            if who is not None or move.do in (Do.START, Do.WAIT, Do.REJOIN):
                self._make(move, who or "")
        self.heal()

    def begin(self) -> None:
        """Start the group. Raises: ProcessError"""
        self._stage.begin()

    def begun(self) -> None:
        """Create the topic on released brokers, as an operator does.

        A slave asks its master for topics every 10 s only: elected before, it says to the name
        server that it has no such topic. Then producers find no route to it, or stay with the
        master that they knew. Without controllers nobody is elected.

        Raises: ProcessError
        """
        group = self._group
        if not group.controllers:
            return
        for number, broker in enumerate(group.brokers, start=1):
            if number not in group.options.rocketha_brokers:
                answer = exchange(group.ports.broker(number).remoting, _CREATE_TOPIC)
                if answer is None or answer.code:
                    raise ProcessError(f"{broker} does not create the topic: {answer}")

    def is_master(self, broker: str) -> bool:
        """Tell whether a broker that runs is master, as it says itself in its records."""
        return self._stage.view(broker).role == "Master"

    def heal(self) -> None:
        """Let everything be as at the beginning, and read back. Raises: ProcessError"""
        group = self._group
        self._stage.say("everything is healed")
        self.rejoin()
        self.start_all()
        group.wait_for_master(_SETTLES_S)
        self._stage.send_until_ok("last", timeout_s=_SETTLES_S)
        try:
            self._stage.in_sync(*group.brokers, timeout_s=_SETTLES_S)
            self._stage.say("all are in sync")
        except ProcessError:
            self._stage.say("NOT all are in sync, a minute later")
        self._stage.read_back()

    def start_all(self) -> None:
        """Let everybody come back who was killed. Raises: ProcessError"""
        while self._down:
            self._group.start_broker(self._down.pop(0))

    def rejoin(self) -> None:
        """Let every link be as at the beginning. Raises: PeerError"""
        for broker in self._group.brokers:
            self._group.rejoin(broker)
            self._stage.allow_replication(broker)

    def _who(self, who: Who) -> str | None:
        running = [one for one in self._group.brokers if one in self._group.running]
        masters = [one for one in running if self.is_master(one)]
        slaves = [one for one in running if one not in masters]
        match who:
            case Who.MASTER:
                return masters[-1] if masters else None
            case Who.SLAVE:
                return slaves[0] if slaves else None
            case Who.LAST_SLAVE:
                return slaves[-1] if slaves else None

    def _make(self, move: Move, who: str) -> None:
        group = self._group
        match move.do:
            case Do.SEND:
                self._send(move.number)
            case Do.HOLD:
                self._stage.hold_replication(who)
            case Do.HOLD_REPORTS:
                self._stage.hold_replication(who, Way.TO_SERVER)
            case Do.CUT:
                self._stage.cut_replication(who)
            case Do.REFUSE:
                self._stage.cut_replication(who, refused=True)
            case Do.ISOLATE:
                group.isolate(who)
            case Do.REJOIN:
                self.rejoin()
            case Do.KILL:
                group.kill(who)
                self._down.append(who)
            case Do.START:
                if self._down:
                    group.start_broker(self._down.pop(0))
            case Do.RESTART:
                self.restart(who)
            case Do.PAUSE:
                group.pause(who)
                time.sleep(move.number / 1000)
                group.resume(who)
            case Do.WAIT:
                time.sleep(move.number / 1000)
            case Do.KILL_LEADER:
                self._kill_leader()

    def _send(self, count: int) -> None:
        for _ in range(count):
            name = f"m{self._sent}"
            self._sent += 1
            self._stage.send(name, timeout_ms=_TIMEOUT_MS)
            self._stage.say(f"  {name}: {self._stage.played.answers[name]}")

    def restart(self, who: str) -> None:
        """Kill a broker; controllers hear of the end of its connections when it is back.

        Raises: PeerError, ProcessError
        """
        links = [f"{controller}.{who}" for controller in self._group.controllers]
        for link in links:
            self._group.proxies.linger(link, Way.TO_SERVER)
        try:
            self._group.kill(who)
            self._group.start_broker(who)
        finally:
            for link in links:
                self._group.proxies.linger(link, Way.TO_SERVER, False)

    def _kill_leader(self) -> None:
        group = self._group
        if len(group.controllers) == 1:
            if group.options.controller_kind is ControllerKind.ROCKETHA:
                group.kill(group.controllers[0])
                group.start_controller(group.controllers[0])
            return
        leader = group.leader()
        if leader is None:
            return
        group.kill(leader)
        self._soon(lambda: group.leader() is not None)
        group.start_controller(leader)

    def _soon(self, holds: Callable[[], bool]) -> None:
        try:
            self._group.wait_for(lambda: holds() or None, "a controller led", _SETTLES_S)
        except ProcessError as error:
            raise PeerError(str(error)) from error
