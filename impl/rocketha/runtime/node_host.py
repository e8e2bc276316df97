"""The host of a node: events go to its core one by one, and it has the effects performed.

The effects of a step are performed in their order, and all before the next event. Then come the
events that follow from the step: `MessageAppended` for a producer who waits, and what the core
asked for (`Then`). Nothing else comes between them, but the end of the node: a seam is between any
two effects, where whoever plays the machine may let the process or the power end.

The host knows no protocol. It has performers, each for a group of effects: a node may have files
and connections, requests to others, or all of them. It asks to be woken for what the core has to do
next.

Source: `BrokerController`, `DefaultMessageStore`, `AutoSwitchHAService`, as what runs a broker
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, get_origin

from rocketha.errors import DiskError
from rocketha.runtime.core import Core
from rocketha.runtime.effects import After, Then
from rocketha.runtime.performer import Performer
from rocketha.runtime.ports import Alarms, Clock, Recorder, Seam, StepUnderWay, Timers
from rocketha.types import TimestampMs

__all__ = ["NodeHost", "no_files"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")
V = TypeVar("V")


def no_files() -> None:
    """Return what the core of a node without files may see of them."""


class NodeHost(Generic[S, E, A]):
    """Runs one node: its core, through its performers. It runs when it has a state."""

    __slots__ = (
        "_alarms",
        "_busy",
        "_clock",
        "_continues",
        "_core",
        "_done",
        "_follow",
        "_is_begun",
        "_perform",
        "_performers",
        "_recorder",
        "_seam",
        "_see",
        "_timers",
        "state",
    )

    def __init__(
        self,
        core: Core[S, E, A, V],
        performers: Iterable[Performer[E, A]],
        *,
        clock: Clock,
        recorder: Recorder[E, A],
        see: Callable[[], V],
        timers: Timers | None = None,
        alarms: Alarms[E] | None = None,
        seam: Seam[E, A] | None = None,
    ) -> None:
        """Make a node that is down; `see` returns what the core may see of the files.

        Without `timers` it has nothing to do on its own, and without `alarms` nothing in a while.
        Without a `seam` no step ends in the middle.
        """
        self.state: S | None = None
        self._follow: deque[E] = deque()
        self._busy = False
        self._done: list[object] = []
        """What was performed of the step under way, and of the one that it continues."""
        self._continues = False
        self._is_begun = False
        """An effect was performed since the last event from outside."""
        self._seam = seam
        self._core: Core[S, E, A, Any] = core
        self._see: Callable[[], Any] = see
        self._clock = clock
        self._recorder = recorder
        self._timers = timers
        self._alarms = alarms
        self._performers = tuple(performers)
        self._perform = _performers_of(core, self._performers, has_alarms=alarms is not None)
        for performer in self._performers:
            performer.node = self

    # ---- its life ----

    @property
    def is_up(self) -> bool:
        """Tell whether the node runs."""
        return self.state is not None

    @property
    def is_continued(self) -> bool:
        """Tell whether more follows from the event under way."""
        return bool(self._follow)

    def stop(self) -> None:
        """Forget everything that is not in a file."""
        self.state = None
        self._follow.clear()
        for performer in self._performers:
            performer.stop()

    # ---- events ----

    def take(self, event: E) -> None:
        """Take an event and all that follows from it; if something is raised, nothing follows.

        Raises: CommitLogError, DiskError, whatever a port raises
        """
        assert not self._busy, "an event comes before another one is done with"
        self._busy, self._is_begun = True, False
        try:
            self._take(event)
            while self._follow:
                self._take(self._follow.popleft())
        finally:
            self._busy = False
            self._done.clear()
            self._follow.clear()

    def hear(self, event: E) -> None:
        """Take an event now, or after the one that is being taken."""
        if self._busy:
            self._follow.append(event)
        else:
            self.take(event)

    def hear_next(self, event: E) -> None:
        """Take an event right after the step under way, before all else that follows from it."""
        assert self._busy, "no step is under way"
        self._follow.appendleft(event)
        self._continues = True

    def _take(self, event: E) -> None:
        assert self.state is not None, "the node is down"
        now_ms: TimestampMs = self._clock.now_ms()
        step = self._core.step(self.state, event, now_ms=now_ms, log=self._see())
        self.state, action = step.state, step.action
        self._continues = False
        asked: list[E] = []
        for at, effect in enumerate(step.effects):
            if isinstance(effect, Then):
                asked.append(effect.event)
                continue
            is_first = not self._is_begun
            if self._seam is not None and self._seam.is_end(effect, is_first=is_first):
                done, rest = tuple(self._done), tuple(step.effects[at:])
                if self._seam.end(StepUnderWay(event=event, action=action, done=done, rest=rest)):
                    assert not self.is_up, "a node that has ended in the middle of a step runs"
                    return
            try:
                self.perform(effect, action)
            except DiskError:
                done, rest = tuple(self._done), tuple(step.effects[at:])
                under_way = StepUnderWay(event=event, action=action, done=done, rest=rest)
                if self._seam is None or not self._seam.failed(under_way):
                    raise
                return
            self._done.append(effect)
            self._is_begun = True
        if action is not None or not self._continues:
            self._done.clear()
        self._follow.extend(asked)
        self._recorder.stepped(event, action)
        self.arm()

    def perform(self, effect: object, action: A | None) -> None:
        """Perform an effect of the core but `Then`, which is no more than an event to come.

        Raises: CommitLogError, DiskError, whatever a port raises
        """
        if isinstance(effect, After):
            assert self._alarms is not None
            self._alarms.after(effect.wait_ms, effect.event)
        else:
            self._perform[type(effect)](effect, action)

    def arm(self) -> None:
        """Ask to be woken for what is to be done next."""
        if self.state is None or self._timers is None:
            return
        due_ms = self._core.next_timer_ms(self.state)
        if due_ms is not None:
            self._timers.wake_at(due_ms)
        for sender in self._core.senders(self.state, self._see()):
            self._timers.transfer(sender)


def _performers_of(
    core: Core[Any, Any, A, Any], performers: Iterable[Performer[Any, A]], *, has_alarms: bool
) -> dict[type, Callable[[Any, A | None], None]]:
    """Find who performs each effect of a core."""
    known: dict[type, Callable[[Any, A | None], None]] = {}
    for performer in performers:
        for kind in performer.effects:
            assert isinstance(kind, type), kind
            assert kind not in known, f"{kind.__name__} has two performers"
            known[kind] = performer.perform
    found: dict[type, Callable[[Any, A | None], None]] = {}
    for effect in core.effects:
        kind = get_origin(effect) or effect
        assert isinstance(kind, type), kind
        if kind is Then or (kind is After and has_alarms):
            continue
        named = [base for base in kind.__mro__ if base in known]
        assert named, f"nobody performs {kind.__name__}"
        found[kind] = known[named[0]]
    return found
