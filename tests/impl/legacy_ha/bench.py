"""A master and a slave of the legacy service on real logs; the test has clock and network."""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from rocketha.formats.message import Message
from rocketha.known_bugs import Bug
from rocketha.known_bugs.legacy_replication import legacy_rules
from rocketha.legacy_ha.connections import LegacyCore
from rocketha.legacy_ha.effects import AnswerPut, LegacyAction
from rocketha.legacy_ha.events import (
    GroupTransferDue,
    LegacyEvent,
    PutRequested,
    ReportReceived,
)
from rocketha.legacy_ha.state import LegacyMaster, LegacyOptions, LegacySlave, LegacyState
from rocketha.runtime.core import Sender
from rocketha.runtime.effects import CloseConnection, Connect, SendPacket
from rocketha.runtime.events import PeerAccepted
from rocketha.storage.commit_log import CommitLog
from rocketha.types import ConnectionId, HaAddress, Offset, PutId, SizeBytes
from tests.impl.manual_node import ManualNode

SEGMENT_SIZE = 512

L = TypeVar("L", LegacyMaster, LegacySlave)


def conn(number: int) -> ConnectionId:
    return ConnectionId(number)


def options(*bugs: Bug, batch: int = 32 * 1024) -> LegacyOptions:
    return LegacyOptions(transfer_batch_bytes=SizeBytes(batch), rules=legacy_rules(frozenset(bugs)))


class _Bench(Generic[L]):
    """A broker and what it did so far."""

    def __init__(self, state: L) -> None:
        self.node: ManualNode[LegacyState, LegacyEvent, LegacyAction] = ManualNode(
            LegacyCore(), segment_size=SizeBytes(SEGMENT_SIZE)
        )
        self.node.host.state = state

    @property
    def state(self) -> L:
        return cast(L, self.node.host.state)

    @property
    def log(self) -> CommitLog:
        return self.node.log

    @property
    def end(self) -> Offset:
        return self.log.max_phy_offset

    @property
    def actions(self) -> list[str]:
        return [action.name for action in self.node.actions]

    @property
    def sent(self) -> list[bytes]:
        return [one.data for one in self.node.out if isinstance(one, SendPacket)]

    @property
    def closed(self) -> list[ConnectionId]:
        return [one.conn for one in self.node.out if isinstance(one, CloseConnection)]

    @property
    def connects(self) -> int:
        return sum(isinstance(one, Connect) for one in self.node.out)

    @property
    def answers(self) -> dict[int, str]:
        """What producers heard; nobody hears two answers."""
        found = [one for one in self.node.answers if isinstance(one, AnswerPut)]
        answers: dict[int, str] = {one.put: one.status for one in found}
        assert len(answers) == len(found)
        return answers

    @property
    def senders(self) -> list[Sender]:
        """The connections over which it may send."""
        return list(LegacyCore().senders(self.state, self.log))

    def take(self, event: LegacyEvent, now_ms: int = 0) -> None:
        self.node.take(event, now_ms)


class MasterBench(_Bench[LegacyMaster]):
    """A master."""

    def __init__(self, *bugs: Bug, batch: int = 32 * 1024) -> None:
        super().__init__(LegacyMaster(options=options(*bugs, batch=batch)))
        self.puts = 0

    def put(self, need: int, now_ms: int = 0) -> int:
        """Send a message of which a file has room for three."""
        self.puts += 1
        message = Message(topic="t", body=b"x" * 30)
        self.take(PutRequested(put=PutId(self.puts), message=message, need=need), now_ms)
        return self.puts

    def accept(self, number: int, host: str) -> None:
        self.take(PeerAccepted(conn=conn(number), host=HaAddress(host)))

    def report(self, number: int, end: int) -> None:
        self.take(ReportReceived(conn=conn(number), max_phy_offset=Offset(end)))
        self.take(GroupTransferDue())


class SlaveBench(_Bench[LegacySlave]):
    """A slave."""

    def __init__(self, *bugs: Bug) -> None:
        super().__init__(LegacySlave(master_address=HaAddress("m"), options=options(*bugs)))
