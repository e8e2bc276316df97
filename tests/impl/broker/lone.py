"""One broker, to which a test says everything: what the controller says, and what slaves say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from rocketha.broker.effects import GroupStepped
from rocketha.broker.events import CommandReceived, GroupEvent, PutRequested
from rocketha.broker.options import GroupOptions
from rocketha.broker.state import GroupBroker
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_request_codec import pull_request, push_role_changed
from rocketha.formats.controller_requests import (
    ControllerRequest,
    GetReplicaInfo,
    RegisterBroker,
    RoleChanged,
)
from rocketha.formats.controller_responses import (
    LiveMaster,
    Registered,
    ReplicaInfo,
    Reply,
    ReplyContent,
    push_reply,
)
from rocketha.formats.ha_packets import Ack, Handshake
from rocketha.formats.message import Message
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command
from rocketha.ha.events import PacketReceived
from rocketha.runtime.effects import SendToController
from rocketha.runtime.events import PeerAccepted, TimerFired
from rocketha.types import (
    BrokerId,
    ConnectionId,
    Epoch,
    Identity,
    Offset,
    PutId,
    SyncStateSetEpoch,
    TimestampMs,
)
from tests.impl.broker.bench import NAME, Replica, options_of

CLUSTER = "DefaultCluster"

R = TypeVar("R", bound=ControllerRequest)


def set_of(epoch: int, *members: int) -> SyncStateSet:
    """Make a SyncStateSet."""
    return SyncStateSet(frozenset(map(BrokerId, members)), SyncStateSetEpoch(epoch))


class Lone:
    """A broker whose controller, producers and slaves are a test."""

    def __init__(
        self,
        options: GroupOptions | None = None,
        *,
        identity: Identity | None = None,
        torn: bool = False,
    ) -> None:
        self.replica = Replica(1, options_of() if options is None else options)
        if identity is not None:
            self.replica.identity = identity
        self.now_ms = 10_000
        self.frames: list[RemotingCommand] = []
        self.to: dict[int, int] = {}
        """By opaque: which controller a frame went to."""
        self._puts = 0
        self._conns = 0
        self.replica.start(self.now_ms, torn=torn)
        self._collect()

    @property
    def state(self) -> GroupBroker:
        return self.replica.state

    @property
    def actions(self) -> list[str]:
        """Return what the broker did, as the specification names it."""
        return self.replica.actions

    @property
    def end(self) -> int:
        """Return the end of the log."""
        return self.replica.log.max_phy_offset

    def take(self, event: GroupEvent) -> GroupStepped:
        """Let the broker take an event and all that follow from it."""
        stepped = self.replica.take(event, self.now_ms)
        self._collect()
        return stepped

    def again(self) -> None:
        """Stop and come up again, in the next incarnation."""
        self.frames.clear()
        self.replica.start(self.now_ms)
        self._collect()

    def _collect(self) -> None:
        for effect in self.replica.node.taken():
            if isinstance(effect, SendToController):
                pulled = pull_command(effect.data)
                assert pulled is not None
                self.frames.append(pulled[0])
                self.to[pulled[0].opaque] = effect.controller

    def pass_time(self, ms: int) -> GroupStepped:
        """Move the clock and fire the timer."""
        self.now_ms += ms
        return self.take(TimerFired())

    # ---- the controller ----

    def requests(self) -> list[ControllerRequest]:
        """Return what was asked and not yet looked at."""
        found = [pull_request(frame) for frame in self.frames]
        self.frames.clear()
        return found

    def asked(self, kind: type[R]) -> list[R]:
        """Return the requests of a kind that were not answered yet by this test."""
        return [r for f in self.frames if isinstance(r := pull_request(f), kind)]

    def frame(self, kind: type[ControllerRequest]) -> RemotingCommand:
        """Return the last frame with a request of that kind."""
        return [f for f in self.frames if isinstance(pull_request(f), kind)][-1]

    def answer(
        self,
        kind: type[ControllerRequest],
        content: ReplyContent | None = None,
        code: ResponseCode = ResponseCode.SUCCESS,
    ) -> RemotingCommand:
        """Answer the last request of a kind; return the answer, so that it can be told twice."""
        command = push_reply(Reply(code=code, content=content), self.frame(kind))
        self.hear(command)
        return command

    def hear(self, command: RemotingCommand) -> GroupStepped:
        """Let the broker hear a command of the controller."""
        return self.take(CommandReceived(command=command))

    def notice(
        self, master: int, epoch: int, sync_state_set: SyncStateSet, address: str | None = None
    ) -> GroupStepped:
        """Tell of an election."""
        told = RoleChanged(
            master_broker_id=BrokerId(master),
            master_address=address or f"b{master}",
            master_epoch=Epoch(epoch),
            sync_state_set=sync_state_set,
        )
        return self.hear(push_role_changed(told, opaque=77))

    def show(self, master: int | None, epoch: int, sync_state_set: SyncStateSet) -> None:
        """Answer a poll, which this makes happen if none is under way."""
        if not self.asked(GetReplicaInfo):
            self.pass_time(self.state.options.sync_metadata_ms)
        content = ReplicaInfo(
            master_broker_id=None if master is None else BrokerId(master),
            master_address=None if master is None else f"b{master}",
            master_epoch=Epoch(epoch),
            sync_state_set=sync_state_set,
        )
        self.answer(GetReplicaInfo, content)
        self.frames = [f for f in self.frames if not isinstance(pull_request(f), GetReplicaInfo)]

    # ---- slaves, producers ----

    def slave(
        self, number: int, ack: int | None = None, *, incarnation: int = 0, learner: bool = False
    ) -> ConnectionId:
        """Let a slave connect, introduce itself, and report."""
        self._conns += 1
        conn = ConnectionId(self._conns)
        hello = Handshake(
            broker_id=BrokerId(number), incarnation=incarnation, async_learner=learner
        )
        self.take(PeerAccepted(conn=conn))
        self.take(PacketReceived(conn=conn, packet=hello))
        if ack is not None:
            self.report(conn, ack)
        return conn

    def report(self, conn: ConnectionId, ack: int) -> None:
        """Let a slave report; the master counts all up to there as sent."""
        servers = self.state.ha.servers
        if conn in servers and servers[conn].next_offset >= 0:
            sent = replace(servers[conn], next_offset=Offset(self.end))
            self.replica.state = replace(self.state, ha=self.state.ha.with_server(sent))
        self.take(PacketReceived(conn=conn, packet=Ack(max_phy_offset=Offset(ack))))

    def put(self, body: bytes = b"body") -> PutId:
        """Send a message."""
        self._puts += 1
        put = PutId(self._puts)
        self.take(PutRequested(put=put, message=Message(topic="t", body=body)))
        return put

    def status(self, put: PutId) -> str | None:
        """Return what a producer was told."""
        answer = self.replica.answers.get(put)
        return None if answer is None else answer.status.value


def identified(options: GroupOptions | None = None, *, torn: bool = False) -> Lone:
    """Make broker 1 with an identity file, not yet registered."""
    return Lone(options, identity=Identity(broker_id=BrokerId(1)), torn=torn)


def answer_registration(
    lone: Lone,
    *,
    epoch: int = 0,
    master: int | None = None,
    sync_state_set: SyncStateSet | None = None,
) -> RemotingCommand:
    """Answer the request to register."""
    found = set_of(0) if sync_state_set is None else sync_state_set
    live = None
    if master is not None:
        live = LiveMaster(
            broker_id=BrokerId(master),
            address=f"b{master}",
            epoch=Epoch(epoch),
            sync_state_set_epoch=found.epoch,
        )
    content = Registered(
        cluster_name=CLUSTER,
        broker_name=NAME,
        master=live,
        master_epoch=Epoch(epoch),
        sync_state_set=found,
    )
    return lone.answer(RegisterBroker, content)


def registered(options: GroupOptions | None = None, *, epoch: int = 0) -> Lone:
    """Make broker 1, registered in a group without a master."""
    lone = identified(options)
    answer_registration(lone, epoch=epoch)
    lone.frames.clear()
    return lone


def with_master(*members: int, options: GroupOptions | None = None) -> Lone:
    """Make broker 1 master in epoch 1, with a SyncStateSet of version 2 if it is not alone."""
    lone = registered(options)
    lone.notice(1, 1, set_of(1, 1))
    if members and set(members) != {1}:
        lone.notice(1, 1, set_of(2, *members))
    lone.frames.clear()
    lone.replica.node.actions.clear()
    return lone


def ids(numbers: Iterable[int]) -> Iterator[BrokerId]:
    """Make ids."""
    return map(BrokerId, numbers)


def at(lone: Lone) -> TimestampMs:
    """Return the present time."""
    return TimestampMs(lone.now_ms)
