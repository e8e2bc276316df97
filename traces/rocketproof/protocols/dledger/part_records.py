"""Records of some members of a DLedger group as behaviours of DLedgerInPart.

| a record                              | the specification                                |
|---------------------------------------|--------------------------------------------------|
| `heard` of a member that keeps none   | Unseen, where it says something new: it asks for |
|                                       | votes, leads, has more in its log, has committed |
|                                       | more, has answered or acknowledged               |
| a step of a member that keeps records | the same as where all do (`records`)             |
| it starts again, and its disk has     | the step that it was in, then Crash, or Discard  |
| more than was written down            | if it has thrown its log away                    |
| the files of a member that keeps none | Unseen, with its log                             |
| (`"kind": "dledger_files"`)           |                                                  |

Each event has the whole state. What is hidden is as in Init, but for the terms in which a member
has been, and the log of which the files were read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from rocketha.errors import PacketError, RequestError
from rocketha.recording.dledger_parts import HeardFrame
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketproof.protocols.dledger.group import Told
from rocketproof.protocols.dledger.part import PartFollower
from rocketproof.protocols.dledger.records import RecordedMember, frame_of
from rocketproof.protocols.dledger.values import GroupValues
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.record_projection import RecordProjection, alike, read_field, sequence_after
from tlatrace.trace import INIT
from tlatrace.values import State, tla_set

__all__ = ["FILES", "PartRecords"]

FILES: Final = "dledger_files"
"""The kind of a header before what was read from the files of a member that keeps no records."""
_SPEC: Final = "DLedgerInPart"
_HEARD: Final = "HeardFrame"


class _Settings(msgspec.Struct, frozen=True):
    peers: tuple[str, ...]
    preferred_leader_ids: tuple[str, ...]
    recorded_peers: tuple[str, ...]


class PartRecords(RecordProjection):
    """Makes the trace of a group of which some members keep records."""

    spec = _SPEC
    needs_stops = False

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how the members are set up. Raises: RecordError"""
        super().__init__()
        told = {one.node: one.settings for one in headers if one.settings.get("kind") != FILES}
        self._files = frozenset(one.node for one in headers) - told.keys()
        if not told:
            raise RecordError("no member has kept records")
        self._settings = alike(
            {node: read_field(said, _Settings, "settings") for node, said in told.items()}
        )
        hidden = frozenset(self._settings.peers) - told.keys()
        if set(self._settings.recorded_peers) != told.keys() or not self._files <= hidden:
            missing = sorted(set(self._settings.recorded_peers) ^ told.keys())
            raise RecordError(f"records and members that keep some differ: {', '.join(missing)}")
        self._hidden = hidden
        self._members = {name: RecordedMember(name) for name in told}
        self._group = PartFollower(self._settings.peers, hidden, self._make_unseen)
        self._values = GroupValues()
        self._node: str | None = None

    @property
    def constants(self) -> State:
        """Return the constants."""
        return {
            "Node": tla_set(self._settings.peers),
            "None": NONE,
            "Preferred": tla_set(self._settings.preferred_leader_ids),
            "Hidden": tla_set(self._hidden),
        }

    def begin(self) -> None:
        """Begin with a group that has done nothing."""
        self.begin_trace()
        self.event(INIT, (), state=self._state())

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record. Raises: RecordError"""
        del received
        self._node = record.node
        if record.event == STOPPED:
            return
        if record.node in self._files:
            log: tuple[tuple[int, int], ...] = sequence_after(
                (), record.state.get("log"), tuple[int, int], "log"
            )
            self._group.has_files(record.node, log)
            return
        member = self._members[record.node]
        before = None if record.event == STARTED else member.shown
        member.note(record)
        if record.event == STARTED:
            if record.incarnation == 1:
                self._group.begins(member)
            else:
                self._group.ended_within(member)
                back = self._group.starts_again(member)
                if back is not None:
                    self._make(back)
            return
        heard = [_heard(one) for one in record.heard]
        try:
            self._group.hears(record.node, heard)
        except (PacketError, RequestError) as error:
            raise RecordError(f"heard: {error}") from error
        ids = [*record.received, *(one.id for one in heard)]
        assert before is not None
        shown = member.shown
        if member.is_leader and shown.committed > before.committed:
            self._group.will_commit(record.node, shown.committed + 1)
        if shown.same > before.same:
            self._group.compares(record.node, ids, shown.same + 1)
        cuts = member.end_index + 1 < len(self._group.seen[record.node].log)
        if cuts and shown.snapshot == before.snapshot:
            self._group.cuts(record.node, member.end_index + 1)
        sent = [frame_of(message) for message in record.sent]
        told = self._group.steps(member, record.event, ids, sent)
        if told is not None:
            self._make(told)

    def _make_unseen(self, told: Told) -> None:
        self._make(told)

    def _make(self, told: Told) -> None:
        action, params = told
        self.event(action, params, node=self._node, state=self._state())

    def _state(self) -> State:
        return self._values.state(self._group.parts())


def _heard(said: object) -> HeardFrame:
    """Read a message. Raises: RecordError"""
    if not isinstance(said, dict) or said.get("is") != _HEARD:
        raise RecordError("heard: no frame")
    fields = {name: value for name, value in said.items() if name != "is"}
    frame: HeardFrame = read_field(fields, HeardFrame, "heard")
    return frame
