"""Who writes what a node saw and did: the recorder of a `NodeHost`, beside its ports.

Whoever carries messages says which ones the node sent and received; the host says when the step is
over. Then there is a record: what was sent and received since the last one, and the parts of the
node's state that are not what they were. A recorder changes nothing, and asks the core nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Final, Protocol, TypeAlias

from rocketha.formats.remoting_command import NO_FIELDS
from rocketha.recording.json_parts import as_json
from rocketha.recording.record import STARTED, STOPPED, Json, NodeHeader, NodeRecord, SentMessage

__all__ = [
    "NOT_RECORDED",
    "LongSequence",
    "MachineRecording",
    "NodeRecorder",
    "Parts",
    "RecorderClock",
    "Recording",
    "StepRecorder",
]

Parts: TypeAlias = Mapping[str, object]
"""Name -> what a node has now."""


@dataclass(frozen=True, slots=True)
class LongSequence:
    """A part that grows and is cut, such as a log; only what changed of it is written."""

    items: tuple[object, ...]

    def since(self, before: object) -> Json:
        """Say how many of the items were there before, and which come behind them."""
        kept = 0
        if isinstance(before, LongSequence):
            pairs = zip(self.items, before.items, strict=False)
            kept = next(
                (at for at, (new, old) in enumerate(pairs) if new != old),
                min(len(self.items), len(before.items)),
            )
        return {"kept": kept, "added": [as_json(item) for item in self.items[kept:]]}


class RecorderClock(Protocol):
    """The clock of a machine, as recorders read it."""

    def now_ns(self) -> int:
        """Return nanoseconds since some beginning; never less than before."""
        ...


class StepRecorder:
    """Whoever hears what a node does, and what becomes of the node; this one writes nothing."""

    __slots__ = ()

    def started(self) -> None:
        """Hear that the node runs, before its first event."""

    def stopped(self, left: Callable[[], Parts]) -> None:
        """Hear from the machine that the node runs no more; `left` reads what is left of it."""

    def sent(
        self,
        message: str,
        *,
        to: str | None = None,
        code: int | None = None,
        body: bytes | None = None,
        fields: Mapping[str, str] = NO_FIELDS,
    ) -> None:
        """Hear that a message leaves the node, in the step under way."""

    def received(self, message: str) -> None:
        """Hear that a message is why the next step is taken."""

    def heard(self, message: object) -> None:
        """Hear what made the node take the next step, and comes from who keeps no records."""

    def stored(self, operation: object) -> None:
        """Hear what is done to the node's disk, in the step under way."""

    def answered(self, answer: object) -> None:
        """Hear that a client is answered, in the step under way."""

    def stepped(self, event: object, action: object | None) -> None:
        """Hear that an event was taken, and its effects performed."""


class Recording(Protocol):
    """Where the records of all nodes of a machine go."""

    def of(
        self,
        node: str,
        settings: Parts,
        *,
        parts: Callable[[], Parts],
        shows_ms: Callable[[], int],
    ) -> StepRecorder:
        """Begin to record a node.

        `parts` reads what it has while it runs, `shows_ms` its own clock.
        """
        ...


class NodeRecorder(StepRecorder):
    """Writes the records of one node."""

    __slots__ = (
        "_answered",
        "_clock",
        "_heard",
        "_incarnation",
        "_known",
        "_node",
        "_parts",
        "_received",
        "_sent",
        "_sequence",
        "_shows_ms",
        "_stored",
        "_write",
    )

    def __init__(
        self,
        header: NodeHeader,
        *,
        write: Callable[[NodeHeader | NodeRecord], None],
        clock: RecorderClock,
        parts: Callable[[], Parts],
        shows_ms: Callable[[], int],
    ) -> None:
        """Write the header."""
        self._node = header.node
        self._write = write
        self._clock = clock
        self._parts = parts
        self._shows_ms = shows_ms
        self._incarnation = 0
        self._sequence = 0
        self._known: dict[str, object] = {}
        self._sent: list[SentMessage] = []
        self._received: list[str] = []
        self._heard: list[Json] = []
        self._stored: list[Json] = []
        self._answered: list[Json] = []
        write(header)

    def started(self) -> None:
        """Write what the node has at its start."""
        self._incarnation += 1
        self._sequence = 0
        self._known.clear()
        self._record(STARTED, None, self._changed(self._parts()))

    def stopped(self, left: Callable[[], Parts]) -> None:
        """Write what the machine sees of a node that runs no more."""
        self._received.clear()
        self._record(STOPPED, None, self._changed(left()))

    def sent(
        self,
        message: str,
        *,
        to: str | None = None,
        code: int | None = None,
        body: bytes | None = None,
        fields: Mapping[str, str] = NO_FIELDS,
    ) -> None:
        """Note a message of the step under way."""
        text = body.decode("utf-8", "backslashreplace") if body else None
        said = SentMessage(id=message, to=to, code=code, body=text, fields=dict(fields))
        self._sent.append(said)

    def received(self, message: str) -> None:
        """Note why the next step is taken."""
        self._received.append(message)

    def heard(self, message: object) -> None:
        """Note why the next step is taken."""
        self._heard.append(as_json(message, tagged=True))

    def stored(self, operation: object) -> None:
        """Note what the disk did, of a step that a power cut ends, too."""
        self._stored.append(as_json(operation, tagged=True))

    def answered(self, answer: object) -> None:
        """Note an answer of the step under way."""
        self._answered.append(as_json(answer, tagged=True))

    def stepped(self, event: object, action: object | None) -> None:
        """Write a record."""
        self._record(type(event).__name__, action, self._changed(self._parts()))

    def _changed(self, present: Parts) -> dict[str, Json]:
        changed: dict[str, Json] = {}
        known = self._known
        for name, value in present.items():
            if name in known:
                before = known[name]
                if before is value or before == value:
                    continue
            if isinstance(value, LongSequence):
                changed[name] = value.since(known.get(name))
            else:
                changed[name] = as_json(value)
            known[name] = value
        return changed

    def _record(self, event: str, action: object | None, state: dict[str, Json]) -> None:
        sent, self._sent = self._sent, []
        received, self._received = self._received, []
        heard, self._heard = self._heard, []
        stored, self._stored = self._stored, []
        answered, self._answered = self._answered, []
        name, params = _action(action)
        self._write(
            NodeRecord(
                node=self._node,
                incarnation=self._incarnation,
                sequence=self._sequence,
                at_ns=self._clock.now_ns(),
                shows_ms=self._shows_ms(),
                event=event,
                action=name,
                params=params,
                state=state,
                sent=tuple(sent),
                received=tuple(received),
                heard=tuple(heard),
                stored=tuple(stored),
                answered=tuple(answered),
            )
        )
        self._sequence += 1


def _action(action: object | None) -> tuple[str | None, dict[str, Json]]:
    """Take an action apart: its name, and its other fields but those that say nothing."""
    if action is None:
        return None, {}
    if isinstance(action, Enum):
        return str(action.value), {}
    assert is_dataclass(action), action
    assert not isinstance(action, type)
    values = {one.name: getattr(action, one.name) for one in fields(action)}
    name = values.pop("name", type(action).__name__)
    return str(name), {
        key: as_json(value, tagged=True)
        for key, value in values.items()
        if value not in (None, frozenset())
    }


class _NotRecorded(StepRecorder):
    """Writes nothing of any node."""

    def of(
        self,
        node: str,
        settings: Parts,
        *,
        parts: Callable[[], Parts],
        shows_ms: Callable[[], int],
    ) -> StepRecorder:
        """Record no node."""
        del node, settings, parts, shows_ms
        return self


NOT_RECORDED: Final = _NotRecorded()
"""For runs that nobody reads."""


class MachineRecording:
    """The recorders of all nodes of a machine."""

    def __init__(
        self,
        protocol: str,
        write: Callable[[NodeHeader | NodeRecord], None],
        clock: RecorderClock,
    ) -> None:
        """Take where lines go, and the clock that all nodes share."""
        self._protocol = protocol
        self._write = write
        self._clock = clock

    def of(
        self,
        node: str,
        settings: Parts,
        *,
        parts: Callable[[], Parts],
        shows_ms: Callable[[], int],
    ) -> NodeRecorder:
        """Begin to record a node."""
        said = {name: as_json(value) for name, value in settings.items()}
        header = NodeHeader(protocol=self._protocol, node=node, settings=said)
        return NodeRecorder(
            header, write=self._write, clock=self._clock, parts=parts, shows_ms=shows_ms
        )
