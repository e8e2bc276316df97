"""A master and a slave of the legacy service on real logs; the test has clock and network."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.bugs import Bug
from rocketha.formats.message import Message
from rocketha.legacy_ha.broker import step_master, step_slave
from rocketha.legacy_ha.effects import AnswerPut, LegacyEffect
from rocketha.legacy_ha.events import (
    GroupTransferDue,
    LegacyEvent,
    MessageAppended,
    ReportReceived,
)
from rocketha.legacy_ha.state import LegacyMaster, LegacyOptions, LegacySlave
from rocketha.runtime.effects import AppendLog, CloseConnection, Connect, SendPacket, TruncateLog
from rocketha.runtime.events import PeerAccepted
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import ConnectionId, HaAddress, Offset, PutId, SizeBytes, TimestampMs

SEGMENT_SIZE = 512


def conn(number: int) -> ConnectionId:
    return ConnectionId(number)


def options(*bugs: Bug, batch: int = 32 * 1024) -> LegacyOptions:
    return LegacyOptions(transfer_batch_bytes=SizeBytes(batch), bugs=frozenset(bugs))


@dataclass
class Outputs:
    """What a core did, and its log."""

    log: CommitLog = field(
        default_factory=lambda: CommitLog.open(
            MemoryDisk(), CommitLogOptions(segment_size=SizeBytes(SEGMENT_SIZE))
        )[0]
    )
    actions: list[str] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    closed: list[ConnectionId] = field(default_factory=list)
    connects: int = 0
    answers: dict[int, str] = field(default_factory=dict)

    def perform(self, effects: tuple[LegacyEffect, ...]) -> None:
        for effect in effects:
            match effect:
                case SendPacket():
                    self.sent.append(effect.data)
                case CloseConnection():
                    self.closed.append(effect.conn)
                case Connect():
                    self.connects += 1
                case AppendLog():
                    self.log.append_raw(effect.offset, effect.data)
                case TruncateLog():
                    self.log.truncate(effect.offset)
                case AnswerPut():
                    assert effect.put not in self.answers, "answered twice"
                    self.answers[effect.put] = effect.status


class MasterBench:
    """A master, its log, and what it did so far."""

    def __init__(self, *bugs: Bug, batch: int = 32 * 1024) -> None:
        self.state = LegacyMaster(options=options(*bugs, batch=batch))
        self.did = Outputs()
        self.puts = 0

    def take(self, event: LegacyEvent, now_ms: int = 0) -> None:
        stepped = step_master(self.state, event, now_ms=TimestampMs(now_ms), log=self.did.log)
        self.state = stepped.state
        if stepped.action is not None:
            self.did.actions.append(stepped.action.name)
        self.did.perform(stepped.effects)

    def put(self, need: int, now_ms: int = 0) -> int:
        """Append a message of which a file has room for three, and register its producer."""
        self.puts += 1
        record = self.did.log.append(Message(topic="t", body=b"x" * 30))
        end = Offset(record.offset + record.size)
        put = PutId(self.puts)
        self.take(MessageAppended(put=put, offset=record.offset, end=end, need=need), now_ms)
        return self.puts

    def accept(self, number: int, host: str) -> None:
        self.take(PeerAccepted(conn=conn(number), host=HaAddress(host)))

    def report(self, number: int, end: int) -> None:
        self.take(ReportReceived(conn=conn(number), max_phy_offset=Offset(end)))
        self.take(GroupTransferDue())

    @property
    def end(self) -> Offset:
        return self.did.log.max_phy_offset


class SlaveBench:
    """A slave, its log, and what it did so far."""

    def __init__(self, *bugs: Bug) -> None:
        self.state = LegacySlave(master_address=HaAddress("m"), options=options(*bugs))
        self.did = Outputs()

    def take(self, event: LegacyEvent, now_ms: int = 0) -> None:
        stepped = step_slave(self.state, event, now_ms=TimestampMs(now_ms), log=self.did.log)
        self.state = stepped.state
        if stepped.action is not None:
            self.did.actions.append(stepped.action.name)
        self.did.perform(stepped.effects)
