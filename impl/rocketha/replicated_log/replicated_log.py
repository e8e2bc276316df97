"""The log under a replicated state machine, as the node sees it that proposes entries.

A proposal is answered when its entry is applied: later, or never. The log says at once where the
entry is, and tells the node when an entry was applied there, by whatever term it is. So a node that
remembers who asked, by index and term, answers in the order of application and answers nobody whose
entry another leader has overwritten. What a node remembered is gone when it stops, and when it
leads no more.

| event               | when                                                                       |
|---------------------|----------------------------------------------------------------------------|
| `LeadershipGained`  | proposals are taken from now on                                            |
| `Proposed`          | right after the step that proposed: where the entry is, or that it is not  |
| `EntryApplied`      | for each entry that is agreed on, in their order; not for a replay         |
| `LeadershipLost`    | what was proposed may be applied, or not; whoever asked hears nothing      |

Source: openmessaging/dledger `DLedgerServer.handleAppend` (the future of an append),
`StateMachineCaller`; controller/impl `JRaftController`, whose closures are run by `onApply`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, assert_never

from rocketha.replicated_log.snapshot_manager import SnapshotManager
from rocketha.runtime.effects import Effect
from rocketha.runtime.performer import Performer
from rocketha.types import LogIndex, Term

__all__ = [
    "EntryApplied",
    "LeadershipGained",
    "LeadershipLost",
    "LocalLog",
    "LogEvent",
    "LogPosition",
    "ProposalPerformer",
    "Propose",
    "Proposed",
    "ProposingMachine",
    "ReplicatedLog",
]

X = TypeVar("X")
R = TypeVar("R")
X_co = TypeVar("X_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
Q_co = TypeVar("Q_co", covariant=True)
X_contra = TypeVar("X_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Which entry it is: another leader may put another one at its index."""

    index: LogIndex
    term: Term


# ---- the effect, and what comes of it ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Propose(Effect, Generic[X_co, Q_co]):
    """Put an entry into the log; `Proposed` follows at once, `EntryApplied` later or never."""

    entry: X_co
    asker: Q_co
    """Who wants it; `Proposed` has it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed(Generic[Q_co]):
    """The log has an entry, or does not take it."""

    asker: Q_co
    position: LogPosition | None
    """None: this node does not lead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryApplied(Generic[X_co, R_co]):
    """An entry that was agreed on was applied."""

    position: LogPosition
    entry: X_co
    outcome: R_co
    """What the state machine has made of it."""


@dataclass(frozen=True, slots=True)
class LeadershipGained:
    """This node leads."""


@dataclass(frozen=True, slots=True)
class LeadershipLost:
    """Another node leads, or nobody does."""


LogEvent: TypeAlias = Proposed[Q_co] | EntryApplied[X_co, R_co] | LeadershipGained | LeadershipLost
"""What a log tells the node that proposes."""


# ---- the port ----


class ReplicatedLog(Protocol[X_contra]):
    """A log of which entries are applied when they are agreed on."""

    def propose(self, entry: X_contra) -> LogPosition | None:
        """Put an entry behind the others; None: this node does not lead.

        Raises: EncodingError, DiskError; then nobody knows whether the entry is there.
        """
        ...

    def tell(self, listener: Callable[[Any], None]) -> None:
        """Say who hears `EntryApplied`, `LeadershipGained` and `LeadershipLost`; once."""
        ...


class ProposingMachine(Protocol[X_contra, R_co]):
    """A state machine whose entries this node makes."""

    def encode(self, entry: X_contra) -> bytes:
        """Write an entry. Raises: EncodingError"""
        ...

    def on_apply(self, entry: X_contra) -> R_co:
        """Apply an entry."""
        ...


class LocalLog(Generic[X, R]):
    """The log of a node on its own: what is durable is agreed on, and applied at once."""

    __slots__ = ("_listener", "_machine", "_manager")

    def __init__(self, manager: SnapshotManager, machine: ProposingMachine[X, R]) -> None:
        """Take a log that has started, and the machine that its entries make."""
        self._manager = manager
        self._machine = machine
        self._listener: Callable[[EntryApplied[X, R]], None] | None = None

    def tell(self, listener: Callable[[EntryApplied[X, R]], None]) -> None:
        """Say who hears of entries that are applied; once."""
        assert self._listener is None, "somebody hears it"
        self._listener = listener

    def propose(self, entry: X) -> LogPosition:
        """Put an entry behind the others and apply it; save a snapshot when it is time.

        Raises: EncodingError, DiskError; then nobody knows whether the entry is there.
        """
        machine = self._machine
        outcome = self._manager.commit(machine.encode(entry), lambda: machine.on_apply(entry))
        at = self._manager.applied
        position = LogPosition(at.last_included_index, at.last_included_term)
        if self._listener is not None:
            self._listener(EntryApplied(position=position, entry=entry, outcome=outcome))
        return position


class ProposalPerformer(Performer[Any, object]):
    """Proposes, and tells the node what comes of it as long as it runs."""

    effects = (Propose,)

    def __init__(self, log: ReplicatedLog[Any]) -> None:
        """Take the log."""
        self._log = log
        log.tell(self._heard)

    def perform(self, effect: Propose[Any, Any], action: object) -> None:
        """Propose. Raises: EncodingError, DiskError"""
        del action
        match effect:
            case Propose(entry=entry, asker=asker):
                position = self._log.propose(entry)
                self.node.hear_next(Proposed(asker=asker, position=position))
            case _ as unreachable:
                assert_never(unreachable)

    def _heard(self, event: object) -> None:
        if self.node.is_up:
            self.node.hear(event)
