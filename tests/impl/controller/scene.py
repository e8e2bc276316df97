"""A controller that a test talks to, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rocketha.controller.applied import Applied
from rocketha.controller.entry import Change, ChannelClosed, Entry, InactiveScanned, Started
from rocketha.controller.machine import apply
from rocketha.controller.queries import Query, answer_query
from rocketha.controller.state import ControllerState, Group
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    ElectMaster,
    Heartbeat,
    Incarnation,
    RegisterBroker,
)
from rocketha.formats.controller_responses import MetadataInfo, Reply
from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.known_bugs.replica_group import controller_rules
from rocketha.types import BrokerId, ConnectionId, Epoch, Offset, SyncStateSetEpoch, TimestampMs

CLUSTER, GROUP = "cluster", "broker-a"
METADATA = MetadataInfo(
    group="g", leader_id="n0", leader_address="h:9878", is_leader=True, peers="n0-h:9878"
)
TIMEOUT_MS = 10_000


def ids(*numbers: int) -> frozenset[BrokerId]:
    """Make a set of ids."""
    return frozenset(map(BrokerId, numbers))


class Scene:
    """Applies entries and remembers them; broker n speaks on channel n unless told otherwise."""

    def __init__(self) -> None:
        self.state = ControllerState()
        self.entries: list[Entry] = []
        self.now_ms = 1_000

    def do(
        self, change: Change, *, channel: int = 0, unclean: bool = False, bugs: Bugs = NO_BUGS
    ) -> Applied:
        """Log and apply a change at the present time."""
        entry = Entry(
            at_ms=TimestampMs(self.now_ms),
            change=change,
            channel=ConnectionId(channel),
            elect_unclean=unclean,
        )
        applied = apply(self.state, entry, controller_rules(bugs))
        self.entries.append(entry)
        self.state = applied.state
        return applied

    def ask(self, query: Query) -> Reply:
        """Answer a query at the present time."""
        now_ms = TimestampMs(self.now_ms)
        return answer_query(self.state, query, now_ms=now_ms, metadata=METADATA, settings={})

    @property
    def group(self) -> Group:
        """Return the group that the tests are about."""
        return self.state.groups[GROUP]

    def apply_id(self, broker: int, code: str | None = None) -> Applied:
        """Let a broker apply for an id."""
        return self.do(
            ApplyBrokerId(
                cluster_name=CLUSTER,
                broker_name=GROUP,
                applied_broker_id=BrokerId(broker),
                register_check_code=code or f"h{broker}:1;17",
            )
        )

    def register(
        self,
        broker: int,
        *,
        incarnation: int | None = 0,
        torn: bool = False,
        channel: int | None = None,
    ) -> Applied:
        """Let a broker register; without an incarnation as one of RocketMQ does."""
        return self.do(
            RegisterBroker(
                cluster_name=CLUSTER,
                broker_name=GROUP,
                broker_id=BrokerId(broker),
                broker_address=f"h{broker}:1",
                incarnation=None if incarnation is None else Incarnation(incarnation),
                log_torn=torn,
            ),
            channel=broker if channel is None else channel,
        )

    def beat(
        self,
        broker: int,
        *,
        incarnation: int = 0,
        channel: int | None = None,
        epoch: int | None = None,
        end: int | None = None,
        priority: int | None = None,
        timeout_ms: int | None = None,
    ) -> Applied:
        """Let a broker send a heartbeat."""
        return self.do(
            Heartbeat(
                cluster_name=CLUSTER,
                broker_name=GROUP,
                broker_address=f"h{broker}:1",
                broker_id=BrokerId(broker),
                epoch=None if epoch is None else Epoch(epoch),
                max_offset=None if end is None else Offset(end),
                election_priority=priority,
                timeout_ms=timeout_ms,
                incarnation=Incarnation(incarnation),
            ),
            channel=broker if channel is None else channel,
        )

    def elect(
        self, broker: int | None = None, *, designate: bool = False, unclean: bool = False
    ) -> Applied:
        """Ask for an election."""
        return self.do(
            ElectMaster(
                broker_name=GROUP,
                broker_id=None if broker is None else BrokerId(broker),
                designate_elect=designate,
            ),
            unclean=unclean,
        )

    def alter(
        self,
        members: Iterable[int],
        *,
        master: int = 1,
        epoch: int | None = None,
        expected: int | None = None,
        joining: Mapping[int, int] | None = None,
        bugs: Bugs = NO_BUGS,
    ) -> Applied:
        """Propose a SyncStateSet; by default as the present master of the present set."""
        group = self.state.groups.get(GROUP) or Group(cluster_name=CLUSTER, broker_name=GROUP)
        set_epoch = group.sync_state_set.epoch if expected is None else expected
        return self.do(
            AlterSyncStateSet(
                broker_name=GROUP,
                master_broker_id=BrokerId(master),
                master_epoch=group.master_epoch if epoch is None else Epoch(epoch),
                sync_state_set=SyncStateSet(ids(*members), SyncStateSetEpoch(set_epoch)),
                joining={BrokerId(b): Incarnation(i) for b, i in (joining or {}).items()},
            ),
            bugs=bugs,
        )

    def scan(self, *, unclean: bool = False) -> Applied:
        """Look for groups whose master is gone."""
        return self.do(InactiveScanned(), unclean=unclean)

    def close(self, channel: int) -> Applied:
        """Close a channel."""
        return self.do(ChannelClosed(), channel=channel)

    def start(self) -> Applied:
        """Let the controller start to hear brokers."""
        return self.do(Started())

    def silence(self, *speaking: int) -> None:
        """Let more than the heartbeat timeout pass; only some brokers go on to send heartbeats."""
        for _ in range(3):
            self.now_ms += TIMEOUT_MS // 2
            for broker in speaking:
                self.beat(broker, incarnation=self.group.replicas[BrokerId(broker)].incarnation)


def registered(*brokers: int) -> Scene:
    """Make a group of replicas that are alive, without a master."""
    scene = Scene()
    for broker in brokers:
        assert code(scene.apply_id(broker)) is ResponseCode.SUCCESS
        assert code(scene.register(broker)) is ResponseCode.SUCCESS
    return scene


def with_master(*brokers: int, members: Iterable[int] | None = None) -> Scene:
    """Make a group whose first replica is master in epoch 1, all or some in the SyncStateSet."""
    scene = registered(*brokers)
    assert code(scene.elect(brokers[0])) is ResponseCode.SUCCESS
    wanted = ids(*(brokers if members is None else members))
    if wanted != scene.group.members:
        assert code(scene.alter(wanted, master=brokers[0])) is ResponseCode.SUCCESS
    return scene


def code(applied: Applied) -> ResponseCode:
    """Return the code of the answer."""
    return applied.reply.code
