"""What a node's records show, with all that it has in its memory behind each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import pull_name_server_reply
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.obligations.obligation import Due, RecordedRun, due_in_step, time_ms
from rocketha.recording.record import RESPONSE, STARTED, STOPPED, NodeRecord, SentMessage
from rocketha.types import BrokerId, TimestampMs

__all__ = ["Seen", "answer_in", "changed_tables", "members_heard", "seen_of"]

_MEMBERS: Final = NameServerCode.GET_BROKER_MEMBER_GROUP


@dataclass(frozen=True)
class Seen:
    """A record of a node, with all that it has in its memory behind it, and had before."""

    record: NodeRecord
    state: dict[str, Any]
    before: dict[str, Any]

    @property
    def at_ms(self) -> TimestampMs:
        """Return when the step was taken."""
        return time_ms(self.record)

    @property
    def messages(self) -> list[SentMessage]:
        """Return what was sent, but for packets of replication."""
        return [message for message in self.record.sent if message.code is not None]

    @property
    def begins_or_ends(self) -> bool:
        """Tell whether it is the start or the stop of the node."""
        return self.record.event in (STARTED, STOPPED)


def seen_of(run: RecordedRun, node: str) -> list[Seen]:
    """Return what the records of a node show."""
    seen, state = [], dict[str, Any]()
    for record in run.by_node.get(node, ()):
        before = state
        gone = record.event in (STARTED, STOPPED)
        state = {**({} if gone else state), **record.state}
        seen.append(Seen(record, state, before))
    return seen


def answer_in(message: SentMessage) -> RemotingCommand:
    """Return an answer as a frame, whose number is not in records."""
    return RemotingCommand(
        code=message.code or 0,
        opaque=0,
        flag=FLAG_RESPONSE,
        ext_fields=message.fields,
        body=(message.body or "").encode(),
    )


def members_heard(run: RecordedRun, seen: Seen) -> Iterator[frozenset[BrokerId]]:
    """Yield who is in the group, as a name server says to a broker that hears it."""
    for received in seen.record.received:
        asked = run.messages.get(received.removesuffix(RESPONSE))
        answer = run.messages.get(received)
        if received.endswith(RESPONSE) and asked is not None and asked.code == _MEMBERS:
            assert answer is not None
            group = pull_name_server_reply(answer_in(answer), _MEMBERS).answer
            if isinstance(group, BrokerMemberGroup) and group.addresses:
                yield frozenset(group.addresses)


def changed_tables(seen: list[Seen], kind: TableKind) -> Iterator[Due]:
    """Find when it is time for a node to write one of its tables: its file must have another."""
    known: str | None = None
    for one in seen:
        if one.begins_or_ends:
            known = None
        for did in one.record.stored:
            if did["is"] == "Written" and did["path"] == kind:
                if one.record.event == "PersistDue" and known is not None:
                    done = known != did["data"]
                    yield due_in_step(one.record, f"write {kind} when it is new", is_done=done)
                known = did["data"]
