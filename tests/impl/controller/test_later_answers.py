"""A log that agrees later, or never: who asked is answered when the entry is applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rocketha.controller.core import (
    ChannelGone,
    ControllerCore,
    EntryActed,
    FrameReceived,
    LeadingController,
)
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.host import ChannelPerformer
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import (
    ApplyBrokerId,
    ControllerRequest,
    ElectMaster,
    GetReplicaInfo,
    Heartbeat,
)
from rocketha.formats.controller_responses import pull_reply
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.replicated_log.replicated_log import (
    EntryApplied,
    LeadershipGained,
    LeadershipLost,
    LogPosition,
    ProposalPerformer,
)
from rocketha.runtime.node_host import NodeHost, no_files
from rocketha.types import BrokerId, ConnectionId, LogIndex, Term, TimestampMs
from tests.impl.controller.scene import CLUSTER, GROUP, METADATA, with_master

ONE, TWO, THREE = ConnectionId(1), ConnectionId(2), ConnectionId(3)


class LaterLog:
    """Applies when a test says so. Implements `ReplicatedLog`."""

    def __init__(self, machine: ControllerStateMachine) -> None:
        self.entries: list[tuple[Entry, Term]] = []
        self.term: Term | None = Term(1)
        """Of this leader; None: it does not lead."""
        self.applied = 0
        self.machine = machine
        self._listener: Callable[[Any], None] = print

    def tell(self, listener: Callable[[Any], None]) -> None:
        self._listener = listener

    def propose(self, entry: Entry) -> LogPosition | None:
        if self.term is None:
            return None
        self.entries.append((entry, self.term))
        return LogPosition(LogIndex(len(self.entries)), self.term)

    def lead(self, term: int) -> None:
        self.term = Term(term)
        self._listener(LeadershipGained())

    def follow(self) -> None:
        self.term = None
        self._listener(LeadershipLost())

    def overwrite(self, index: int, entry: Entry, term: int) -> None:
        """Let another leader put its entry there; what was behind is gone."""
        self.entries[index - 1 :] = [(entry, Term(term))]

    def agree(self, until: int | None = None) -> None:
        """Apply everything up to an entry."""
        last = len(self.entries) if until is None else until
        while self.applied < last:
            entry, term = self.entries[self.applied]
            self.applied += 1
            position = LogPosition(LogIndex(self.applied), term)
            outcome = self.machine.on_apply(entry)
            self._listener(EntryApplied(position=position, entry=entry, outcome=outcome))


class Controller:
    """A controller of two brokers of which the first is master, on such a log."""

    def __init__(self) -> None:
        self.machine = ControllerStateMachine()
        for entry in with_master(1, 2).entries:
            self.machine.on_apply(entry)
        self.log = LaterLog(self.machine)
        self.said: list[tuple[ConnectionId, RemotingCommand]] = []
        self.notified: list[str] = []
        self.acted: list[EntryActed] = []
        self.host = self.process()
        self.host.take(LeadershipGained())
        self.log.agree()

    def process(self) -> NodeHost[LeadingController, Any, EntryActed]:
        """Make a process that has what is on the disk, and nothing else."""
        host: NodeHost[LeadingController, Any, EntryActed] = NodeHost(
            ControllerCore(ControllerOptions(metadata=METADATA)),
            (ProposalPerformer(self.log), ChannelPerformer(self, self)),
            clock=self,
            recorder=self,
            see=no_files,
        )
        host.state = LeadingController(self.machine.state)
        return host

    def ask(self, channel: ConnectionId, request: ControllerRequest, *, opaque: int = 1) -> None:
        self.host.take(FrameReceived(channel, push_command(push_request(request, opaque=opaque))))

    def answered(self) -> list[tuple[ConnectionId, int]]:
        """Take who was answered, and which request."""
        said, self.said = self.said, []
        return [(channel, command.opaque) for channel, command in said]

    def waiting(self) -> int:
        assert self.host.state is not None
        return len(self.host.state.waiting)

    # ---- the ports ----

    def now_ms(self) -> TimestampMs:
        return TimestampMs(50_000)

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        pulled = pull_command(data)
        assert pulled is not None
        self.said.append((channel, pulled[0]))

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        raise AssertionError(f"nobody is refused: {channel}: {reason}")

    def notify(self, address: str, data: bytes) -> None:
        del data
        self.notified.append(address)

    def scan_soon(self) -> None:
        pass

    def stepped(self, event: object, action: EntryActed | None) -> None:
        del event
        if action is not None:
            self.acted.append(action)


@pytest.fixture
def controller() -> Controller:
    return Controller()


def apply_id(number: int) -> ApplyBrokerId:
    return ApplyBrokerId(
        cluster_name=CLUSTER,
        broker_name=GROUP,
        applied_broker_id=BrokerId(number),
        register_check_code=f"h{number};1",
    )


ELECT: Final = ElectMaster(broker_name=GROUP, broker_id=BrokerId(2), designate_elect=True)


def test_answers_come_in_the_order_of_application(controller: Controller) -> None:
    controller.ask(TWO, apply_id(3), opaque=7)
    controller.ask(ONE, apply_id(4), opaque=8)
    controller.ask(THREE, GetReplicaInfo(broker_name=GROUP), opaque=9)
    assert controller.answered() == [(THREE, 9)]  # a query waits for nobody

    controller.log.agree(until=2)
    assert controller.answered() == [(TWO, 7)]
    assert controller.waiting() == 1
    controller.log.agree()
    assert controller.answered() == [(ONE, 8)]
    assert controller.waiting() == 0


def heartbeat(number: int) -> Heartbeat:
    return Heartbeat(
        cluster_name=CLUSTER,
        broker_name=GROUP,
        broker_address=f"h{number}:1",
        broker_id=BrokerId(number),
    )


def with_both_brokers(controller: Controller) -> None:
    for number in (1, 2):
        controller.ask(ConnectionId(10 + number), heartbeat(number))
    controller.log.agree()
    controller.said.clear()


def test_nothing_is_done_or_said_before_the_entry_is_applied(controller: Controller) -> None:
    with_both_brokers(controller)
    before = controller.machine.state
    controller.ask(ONE, ELECT)
    assert (controller.notified, controller.said) == ([], [])
    assert controller.machine.state == before

    controller.log.agree()
    [(channel, command)] = controller.said
    reply = pull_reply(command, RequestCode.ELECT_MASTER)
    assert (channel, reply.code) == (ONE, ResponseCode.SUCCESS)
    assert controller.notified == ["h1:1", "h2:1"]
    assert controller.machine.state.groups[GROUP].master == 2


def test_a_leader_that_was_replaced_answers_nobody_and_notifies_nobody(
    controller: Controller,
) -> None:
    with_both_brokers(controller)
    controller.ask(ONE, ELECT)
    controller.log.follow()
    assert controller.waiting() == 0
    controller.log.agree()
    assert controller.machine.state.groups[GROUP].master == 2
    assert (controller.answered(), controller.notified) == ([], [])


def test_a_proposal_that_is_never_applied_is_never_answered(controller: Controller) -> None:
    controller.ask(ONE, apply_id(3))
    controller.ask(TWO, apply_id(4))
    controller.log.agree(until=2)
    assert controller.answered() == [(ONE, 1)]
    assert controller.waiting() == 1


def test_an_entry_of_another_leader_at_its_place_answers_nobody(controller: Controller) -> None:
    controller.ask(ONE, apply_id(3))
    [_, (entry, _)] = controller.log.entries
    controller.log.overwrite(2, entry, 2)
    controller.log.agree()
    assert controller.acted[-1].entry == entry
    assert controller.answered() == []


def test_who_asks_a_controller_that_does_not_lead_hears_that(controller: Controller) -> None:
    controller.log.follow()
    controller.ask(ONE, apply_id(3))
    [(channel, command)] = controller.said
    assert channel == ONE
    reply = pull_reply(command, RequestCode.APPLY_BROKER_ID)
    assert reply.code is ResponseCode.NOT_LEADER
    controller.host.take(ChannelGone(ONE))
    assert len(controller.log.entries) == 1

    controller.log.lead(3)
    controller.ask(ONE, apply_id(3), opaque=2)
    controller.said.clear()
    controller.log.agree()
    assert controller.answered() == [(ONE, 2)]


def test_a_restart_forgets_who_asked(controller: Controller) -> None:
    controller.ask(ONE, apply_id(3))
    controller.host.stop()
    controller.log.agree()  # the node is down, and hears nothing
    assert (controller.answered(), controller.host.is_up) == ([], False)

    controller.host = controller.process()
    controller.log.lead(2)
    controller.ask(TWO, apply_id(4), opaque=5)
    assert controller.waiting() == 1
    controller.log.agree()
    assert controller.answered() == [(TWO, 5)]


def test_an_entry_of_the_life_before_answers_nobody_when_it_is_applied_now(
    controller: Controller,
) -> None:
    controller.ask(ONE, apply_id(3))
    controller.host.stop()
    controller.host = controller.process()
    controller.log.lead(2)
    controller.log.agree()
    assert len(controller.acted) == 3
    assert controller.answered() == []


def test_a_one_way_request_is_not_answered(controller: Controller) -> None:
    command = push_request(apply_id(3), opaque=1)
    oneway = RemotingCommand(code=command.code, opaque=1, flag=2, ext_fields=command.ext_fields)
    controller.host.take(FrameReceived(ONE, push_command(oneway)))
    controller.log.agree()
    assert (controller.answered(), controller.waiting()) == ([], 0)
    assert len(controller.acted) == 2
