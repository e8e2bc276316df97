"""Records of a node with snapshots as behaviours of SnapshotLoading.

| a record                                     | the specification                              |
|----------------------------------------------|------------------------------------------------|
| NodeStarted again                            | Start                                          |
| EntryReceived                                | AppendEntry; of the term that will not last,   |
|                                              | AppendStray                                    |
| CommitLearned, ApplyDue that applied         | Commit, Apply                                  |
| the temporary file written                   | Install if a leader sent these bytes, or Save  |
| it synchronized, renamed; names synchronized | SyncTemporary, Rename, SyncDirectory           |
| ReadBackDue that has read the file, with     | ReadBack                                       |
| StateLoaded if that follows                  |                                                |
| snapshots removed; the log replaced, in      | DeleteExpired, CutLog                          |
| steps that clean up                          |                                                |
| a snapshot removed at the start              | LoadNewest, which goes on with an older one    |
| EntriesReplayed                              | LoadNewest, and the node is up                 |
| NodeStopped                                  | Crash; by an error, LoadNewest with a refusal, |
|                                              | which is no step of a node that is up          |
| a file read that is not what was written     | Rot, at the moment at which it is read         |
| an entry agreed on, a leader's snapshot      | Agree, LeaderCompacts, when the node hears     |

What a power cut ended is in the record of the stop. Of a step that is several actions the last one
shows what the node has after it. A leader's snapshot is loaded in two steps, which are one action.
Of files only the one that is written is shown: no node knows whether the disk still has the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from rocketha.histories.register_files import fold_one
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketproof.protocols.snapshot_loading.recorded_files import (
    RecordedFile,
    RecordedFiles,
    index_of,
)
from rocketproof.protocols.snapshot_loading.values import JUNK, NO_JOB, NO_TERM
from rocketproof.record_projection import RecordProjection, read_field, sequence_after
from tlatrace.values import State, Value, record, tla_set

__all__ = ["SnapshotRecords"]

_GROUP: Final = "group"
_DIRECTORY: Final = "snapshot"
_TMP: Final = "snapshot/tmp"
_LOG_ASIDE: Final = "controllerLog.tmp"
_CLEANS_UP: Final = frozenset({"SaveDue", "SnapshotWritten", "CleanUpDue", STOPPED})
"""Steps in which what is removed is no more needed."""
_NUMBERS: Final = {
    "first": "begin",
    "applied": "applied",
    "commit": "commit",
    "last_snapshot": "lastSnap",
}
_OF_MEMORY: Final = ("sm", "applied", "commit", "lastSnap")


class _Settings(msgspec.Struct, frozen=True):
    snapshot_threshold: int
    max_snapshot_reserved_num: int
    terms: tuple[int, ...]
    stray: int


class _LeaderEntry(msgspec.Struct, frozen=True, tag_field="is", tag="LeaderEntry"):
    index: int
    term: int
    entry: str


class _LeaderSnapshot(msgspec.Struct, frozen=True, tag_field="is", tag="LeaderSnapshot"):
    data: bytes


class _Written(msgspec.Struct, frozen=True, tag_field="is", tag="Written"):
    path: str
    data: bytes | None


class _Resized(msgspec.Struct, frozen=True, tag_field="is", tag="Resized"):
    path: str


class _Synced(msgspec.Struct, frozen=True, tag_field="is", tag="Synced"):
    path: str


class _Renamed(msgspec.Struct, frozen=True, tag_field="is", tag="Renamed"):
    path: str
    to: str


class _Removed(msgspec.Struct, frozen=True, tag_field="is", tag="Removed"):
    path: str


class _NamesSynced(msgspec.Struct, frozen=True, tag_field="is", tag="NamesSynced"):
    path: str


class _Read(msgspec.Struct, frozen=True, tag_field="is", tag="Read"):
    path: str
    data: bytes


_Heard: TypeAlias = _LeaderEntry | _LeaderSnapshot
_Operation: TypeAlias = _Written | _Resized | _Synced | _Renamed | _Removed | _NamesSynced | _Read
_Registers: TypeAlias = tuple[tuple[str, int], ...]
_Made: TypeAlias = tuple[str, tuple[Value, ...], str, State]


class SnapshotRecords(RecordProjection):
    """Makes a trace of the records of one node."""

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how the node is set up. Raises: RecordError"""
        super().__init__()
        if len(headers) != 1:
            raise RecordError("there are records of several nodes")
        self._settings = read_field(headers[0].settings, _Settings, "settings")
        self._files = RecordedFiles()
        self._log: tuple[tuple[int, str], ...] = ()
        self._first = 1
        self._entries: set[tuple[int, int, str]] = set()
        self._folded: dict[int, Mapping[str, Any]] = {0: {}}
        """Number of entries -> the registers that they make."""
        self._made_by: dict[frozenset[tuple[str, int]], int] = {frozenset(): 0}
        self._agreed, self._compacted = 0, 0
        self._receiving: int | None = None
        self._loading = False
        self._read: NodeRecord | None = None
        """The last record, in which a snapshot was read back."""
        self._replaces_log = False
        """The log without its beginning has its name, and not for sure yet."""
        self._has: dict[str, Value] = {}
        """What the node has, as the specification names it."""
        self._under_way: list[_Made] = []

    @property
    def constants(self) -> State:
        """Return the constants."""
        return {
            "Terms": self._settings.terms,
            "Stray": self._settings.stray,
            "Threshold": self._settings.snapshot_threshold,
            "Reserved": self._settings.max_snapshot_reserved_num,
        }

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record; the last one shows what changed. Raises: RecordError"""
        del received
        heard: tuple[_Heard, ...] = read_field(record.heard, tuple[_Heard, ...], "heard")
        stored: tuple[_Operation, ...] = read_field(record.stored, tuple[_Operation, ...], "stored")
        for message in heard:
            self._learn(message)
        self._end_reading(record)
        self._note(record.state)
        if record.event == STARTED:
            self._loading = True
        for operation in stored:
            self._disk(operation, record, heard)
        self._stepped(record, heard, stored)
        made, self._under_way = self._under_way, []
        for at, (action, params, node, observed) in enumerate(made, start=1):
            if at == len(made):
                observed = {**self._has, **observed}
            self.event(action, params, node=node, observed=observed)

    def _end_reading(self, record: NodeRecord) -> None:
        """Make the event of a snapshot that was read back, unless this record goes on with it.

        Of one that is being loaded nothing is left if the node ends before the log fits it.
        """
        read, self._read = self._read, None
        if read is None or record.event == "StateLoaded":
            return
        if record.event == STOPPED and "applied" in read.state:
            self._read = read
            return
        observed = {**self._has, "job": self._job()}
        self.event("ReadBack", (), node=read.node, observed=observed)

    def _make(self, node: str, action: str, *params: Value, **observed: Value) -> None:
        self._under_way.append((action, params, node, observed))

    # ---- what the node hears ----

    def _learn(self, message: _Heard) -> None:
        """Note what the entries of a leader make of registers, so that a state can be named."""
        if isinstance(message, _LeaderSnapshot):
            content = RecordedFile(message.data).content
            if content is None or content.registers is None:
                return  # damaged, or of nobody who is honest
            index = content.index
            registers: Mapping[str, Any] = content.registers
        else:
            index = message.index
            self._entries.add((index, message.term, message.entry))
            before = self._folded.get(index - 1)
            if message.term == self._settings.stray or before is None:
                return
            try:
                registers = fold_one(before, message.entry.encode())
            except (KeyError, TypeError, ValueError) as error:
                raise RecordError(f"heard: no entry of registers: {error!r}") from None
        self._folded[index] = registers
        try:
            self._made_by[frozenset(registers.items())] = index
        except TypeError:
            raise RecordError("heard: a register has no number") from None

    def _agree_on(self, index: int) -> None:
        """Make the group agree on what the node hears that it has."""
        while self._agreed < min(index, len(self._settings.terms)):
            self._agreed += 1
            self._make(_GROUP, "Agree")

    # ---- what the node has ----

    def _note(self, state: Mapping[str, object]) -> State:
        """Note what a step has changed, and return it. Raises: RecordError"""
        changed: dict[str, Value] = {
            variable: read_field(state[name], int, name)
            for name, variable in _NUMBERS.items()
            if name in state
        }
        if "boundary" in state:
            boundary = read_field(state["boundary"], int | None, "boundary")
            changed["bTerm"] = NO_TERM if boundary is None else boundary
        self._first = read_field(state.get("first", self._first), int, "first")
        if "receiving" in state:
            self._receiving = read_field(state["receiving"], int | None, "receiving")
        if "registers" in state:
            pairs: _Registers = read_field(state["registers"], _Registers, "registers")
            changed["sm"] = self._state_value(pairs)
        if "log" in state:
            self._log = sequence_after(self._log, state["log"], tuple[int, str], "log")
        if "log" in state or "first" in state:
            changed["log"] = tuple(
                term if (index, term, entry) in self._entries else NO_TERM
                for index, (term, entry) in enumerate(self._log, self._first)
            )
        self._has.update(changed)
        return changed

    def _state_value(self, registers: _Registers) -> Value:
        """Return how many entries made a state, as the specification has it."""
        count = self._made_by.get(frozenset(registers))
        if count is None:
            return JUNK
        terms = self._settings.terms
        indexes = [index for index in (count - 1, count) if 0 < index <= len(terms)]
        return tla_set([(index, terms[index - 1]) for index in indexes])

    # ---- what the node does to its disk ----

    def _disk(self, operation: _Operation, said: NodeRecord, heard: Sequence[_Heard]) -> None:
        """Follow one operation, and make its event if it is an action."""
        files, node, path = self._files, said.node, operation.path
        name = path.removeprefix(f"{_DIRECTORY}/")
        match operation:
            case _Written(data=data) if path == _TMP:
                files.temporary = RecordedFile(data or b"")
                self._begins_to_write(node, files.temporary, heard)
            case _Synced() if path == _TMP and files.temporary is not None:
                files.temporary.is_synced = True
                self._make(node, "SyncTemporary")
            case _Renamed(to=to) if path == _TMP:
                index = index_of(to.removeprefix(f"{_DIRECTORY}/"))
                if index is None:
                    raise RecordError(f"{path} becomes {to}, which is no snapshot")
                files.rename(index)
                self._make(node, "Rename")
            case _NamesSynced() if path == _DIRECTORY:
                files.sync_names()
                if not self._loading:
                    self._make(node, "SyncDirectory")
            case _Removed() if index_of(name) is not None:
                files.seen.pop(index_of(name) or 0, None)
                self._removes(said)
            case _Renamed() if path == _LOG_ASIDE:
                cuts = not any(isinstance(one, _LeaderEntry) for one in heard)
                self._replaces_log = said.event in _CLEANS_UP and cuts
            case _NamesSynced() if path != _DIRECTORY and self._replaces_log:
                self._replaces_log = False
                self._make(node, "CutLog")
            case _Read(data=data):
                self._reads(node, index_of(name), data)
            case _:
                pass

    def _begins_to_write(self, node: str, file: RecordedFile, heard: Sequence[_Heard]) -> None:
        content = file.content
        index = 0 if content is None else content.index
        kind = "save"
        if any(isinstance(one, _LeaderSnapshot) and one.data == file.data for one in heard):
            kind = "install"
            self._agree_on(index)
            if index > self._compacted:
                self._compacted = index
                self._make(_GROUP, "LeaderCompacts", index)
        job = record({"kind": kind, "idx": index})
        is_good = content is not None and content.is_checked and content.registers is not None
        self._make(node, kind.capitalize(), "good" if is_good else "bad", job=job)

    def _removes(self, said: NodeRecord) -> None:
        """Several files go at once, where they are too many."""
        is_first = not self._under_way or self._under_way[-1][0] != "DeleteExpired"
        if said.event in _CLEANS_UP and not self._loading and is_first:
            self._make(said.node, "DeleteExpired")

    def _reads(self, node: str, index: int | None, data: bytes) -> None:
        file = None if index is None else self._files.seen.get(index)
        if file is not None and index is not None and file.data != data:
            if file.is_synced:
                self._make(node, "Rot", index)
            file.data = data

    # ---- steps ----

    def _stepped(
        self, said: NodeRecord, heard: Sequence[_Heard], stored: Sequence[_Operation]
    ) -> None:
        """Make the event of a step that is an action whatever it did to the disk."""
        node, changed = said.node, said.state
        removes = any(isinstance(one, _Removed) for one in stored)
        match said.event:
            case "NodeStarted" if said.incarnation > 1:
                self._make(node, "Start", mode="loading")
            case "EntryReceived":
                self._appended(node, heard)
            case "CommitLearned" if "commit" in changed:
                commit = read_field(changed["commit"], int, "commit")
                self._agree_on(commit)
                self._make(node, "Commit", commit)
            case "ApplyDue" if "applied" in changed:
                self._make(node, "Apply")
            case "ReadBackDue" if any(isinstance(one, _Read) for one in stored):
                self._read = said
            case "StateLoaded" if not self._loading:
                self._make(node, "ReadBack", job=self._job())
            case "LoadNewestDue" if removes and self._loading:
                self._make(node, "LoadNewest", mode="loading")
            case "EntriesReplayed" if self._loading:
                self._loading = False
                if said.incarnation > 1:
                    self._make(node, "LoadNewest", mode="up")
            case "NodeStopped":
                self._stopped(said, heard)
            case _:
                pass

    def _appended(self, node: str, heard: Sequence[_Heard]) -> None:
        for entry in heard:
            if isinstance(entry, _LeaderEntry):
                is_stray = entry.term == self._settings.stray
                index = () if is_stray else (entry.index,)
                self._make(node, "AppendStray" if is_stray else "AppendEntry", *index)

    def _came_through(self, node: str, heard: Sequence[_Heard]) -> None:
        """Make the event of the step in which the node ended: it has left another log."""
        if any(isinstance(one, _LeaderEntry) for one in heard):
            self._appended(node, heard)
        elif self._loading:
            self._make(node, "LoadNewest", mode="up")
        elif self._read is not None:
            self._make(node, "ReadBack", job=self._job())
        else:
            self._make(node, "CutLog")

    def _job(self) -> Value:
        if self._receiving is None:
            return NO_JOB
        return record({"kind": "install", "idx": self._receiving})

    def _stopped(self, said: NodeRecord, heard: Sequence[_Heard]) -> None:
        """Make the event of a power cut, with the names that survived it; or of a refusal."""
        error = read_field(said.state.get("error"), str | None, "error")
        for variable in _OF_MEMORY:
            self._has.pop(variable, None)
        if error is not None:
            self._make(said.node, "LoadNewest", mode="refused")
            return
        if {"first", "log"} & said.state.keys():
            self._came_through(said.node, heard)
        pairs = read_field(said.state.get("files", ()), tuple[tuple[str, bytes], ...], "files")
        there, lost = self._files.left(dict(pairs))
        self._receiving, self._replaces_log, self._read = None, False, None
        self._make(said.node, "Crash", tla_set(there), lost, mode="down")
