"""A node with snapshots that a test drives: an adapter for SnapshotLoading.

The subject is the node of the simulation (`rocketha.sim.snapshot_loading.cluster`):
`rocketha.replicated_log` with its registers, over a log on a disk in memory. What it does, and its
state, are seen as in a run.

A save is one call, and many steps: it is stopped at the end of each (`manual_stops`). To go on, all
that has happened is done again on an empty disk, up to the next stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from model_tests.machines.manual_stops import Operation, Stops
from rocketha.known_bugs import Bugs
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.snapshot_loading.cluster import SnapshotCluster
from rocketha.sim.snapshot_loading.entries import RegisterHistory, push_set
from rocketha.types import LogIndex, Term
from rocketproof.protocols.snapshot_loading.projection import world_value
from rocketproof.protocols.snapshot_loading.values import surviving
from tlatrace.testing import Moves
from tlatrace.values import Fcn, State, TlaSet, Value

__all__ = ["ManualSnapshots"]

_ENTRIES: Final = (push_set("a", 1), push_set("b", 2), push_set("a", None), push_set("c", 4))
_STRAY: Final = Term(2)
_OPTIONS: Final = SnapshotOptions(snapshot_threshold=1, max_snapshot_reserved_num=2)
_ENDS: Final = "the save ends"
_NOT_DUE: Final = "it is not time to save"
_LATE: Final = "a late snapshot arrives"

_Deed: TypeAlias = Callable[[SnapshotCluster], None]


class ManualSnapshots:
    """A node that takes the steps of a model."""

    def __init__(
        self,
        moves: Moves,
        terms: Sequence[int],
        bugs: Bugs,
        options: SnapshotOptions = _OPTIONS,
    ) -> None:
        """Begin in the initial state."""
        self._moves = moves
        self._bugs = bugs
        self._options = options
        entries = _ENTRIES[: len(terms)]
        self._history = RegisterHistory(entries, [Term(term) for term in terms], _STRAY)
        self._deeds: list[_Deed] = []
        self._operation: Operation | None = None
        """What is under way."""
        self._attempted = 0
        """The entry at which the node has tried to save."""
        self._stops, self._world = self._begun()
        self._state = world_value(self._world)

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the node take one action."""
        self._make(action, params)
        self._state = world_value(self._world)

    def observe(self) -> State:
        """Return the state after the last action."""
        return self._state

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether the node can be made to take an action now.

        The model lets a snapshot be written while the node goes on; here nothing comes between the
        steps of a save, or of putting a leader's snapshot on the disk, but power cuts, damage and
        the group. A save ends with cleaning up, files first, then the log. After a save that could
        not be read back there is none before the next entry. The disk damages only what was
        durable. A journal keeps the first of the changes of names.
        """
        match action, params:
            case "Agree" | "LeaderCompacts" | "Rot" | "Start" | "LoadNewest", _:
                return True
            case "SyncTemporary" | "Rename" | "SyncDirectory" | "ReadBack", _:
                return True
            case "Crash", (TlaSet() as there, bool() as lost):
                return self._surviving(there, lost=lost) is not None
            case "DeleteExpired", _:
                return not self._is_writing()
            case "CutLog", _:
                return not self._is_writing() and not self._allows("DeleteExpired")
            case "Save", ("good",):
                return self._is_free() and self._world.applied > self._attempted
            case "AppendEntry" | "AppendStray" | "Commit" | "Apply", _:
                return self._is_free()
            case "Install", ("good",):
                return self._is_free()
            case _:
                return False

    def stuttering_calls(self) -> Sequence[str]:
        """List calls that must change nothing."""
        if self._state["mode"] != "up" or not self._is_free():
            return []
        node, calls = self._world.up(), [_ENDS] if self._operation is not None else []
        if self._world.applied <= node.manager.last_snapshot:
            calls.append(_NOT_DUE)
        if 1 < self._world.kept <= node.caller.commit + 1:
            calls.append(_LATE)
        return calls

    def make_idle_call(self, name: str) -> None:
        """Make one of them."""
        self._end()
        if name == _NOT_DUE:
            self._do(SnapshotCluster.save)
        elif name == _LATE:
            self._do(SnapshotCluster.receive)
        self._state = world_value(self._world)

    # ---- what may happen now ----

    def _is_writing(self) -> bool:
        """Tell whether a snapshot is on its way to the disk."""
        return self._operation is not None and self._world.job is not None

    def _is_free(self) -> bool:
        """Tell whether nothing is under way, or has only its end before it."""
        if self._operation is None:
            return True
        if self._is_writing() or self._state["mode"] == "loading":
            return False
        return not self._allows("DeleteExpired") and not self._allows("CutLog")

    def _allows(self, action: str) -> bool:
        """Ask the model."""
        model = self._moves.model
        state = tuple([self._moves.adopt(name, self._state[name]) for name in model.variables])
        return any(call.action == action for call in self._moves.of(state))

    def _surviving(self, there: TlaSet, *, lost: bool) -> int | None:
        """Return how many changes of names must survive."""
        files = self._state["snaps"]
        assert isinstance(files, TlaSet)
        named: dict[str, set[LogIndex]] = {"new": set(), "gone": set()}
        for file in files:
            assert isinstance(file, Fcn)
            fields = dict(file.pairs)
            name, index = fields["name"], fields["idx"]
            assert isinstance(index, int)
            if isinstance(name, str) and name in named:
                named[name].add(LogIndex(index))
        survive = tuple(there)
        changed = {index: index in survive for index in named["new"] | named["gone"]}
        rewritten = named["new"] & named["gone"] if lost else set()
        return surviving(self._world.disk, changed, rewritten - set(there))

    # ---- the steps ----

    def _begun(self) -> tuple[Stops, SnapshotCluster]:
        stops = Stops()
        return stops, SnapshotCluster(self._history, self._options, self._bugs, stops, Scheduler())

    def _do(self, deed: _Deed) -> None:
        self._deeds.append(deed)
        deed(self._world)

    def _end(self) -> None:
        """Let what is under way come to its end."""
        if self._operation is not None:
            self._operation.stop_at = None
            self._again()

    def _go_on(self) -> None:
        """Let what is under way come to its next stop."""
        assert self._operation is not None, "nothing is under way"
        assert self._operation.stop_at is not None
        self._operation.stop_at += 1
        self._again()

    def _again(self) -> None:
        self._stops, self._world = self._begun()
        for deed in self._deeds:
            deed(self._world)
        self._forget_what_has_ended()

    def _begin(self, call: _Deed) -> None:
        self._operation = operation = Operation(call)
        self._do(lambda world: self._stops.operate(world, operation))
        self._forget_what_has_ended()

    def _forget_what_has_ended(self) -> None:
        if self._stops.has_ended:
            self._operation = None

    def _make(self, action: str, params: tuple[Value, ...]) -> None:
        match action, params:
            case "Agree", ():
                self._do(SnapshotCluster.agree)
            case "LeaderCompacts", (int() as index,):
                self._do(lambda world: world.compact(LogIndex(index)))
            case "Rot", (int() as index,):
                self._rot(LogIndex(index))
            case "Crash", (TlaSet() as there, bool() as lost):
                names = self._surviving(there, lost=lost)
                assert names is not None
                self._attempted = 0
                self._operation = None
                self._do(lambda world: _cut_power(world, names))
            case "Start", ():
                self._do(SnapshotCluster.begin_start)
            case "LoadNewest", () if self._operation is None:
                self._begin(SnapshotCluster.load_newest)
            case "DeleteExpired" | "CutLog", () if self._operation is None:
                self._begin(SnapshotCluster.clean_up)
            case "ReadBack", () if self._operation is None:
                self._do(SnapshotCluster.load_received)
            case "LoadNewest" | "SyncTemporary" | "Rename" | "SyncDirectory" | "ReadBack", ():
                self._go_on()
            case "DeleteExpired" | "CutLog", ():
                self._go_on()
            case _:
                self._end()
                self._make_when_free(action, params)

    def _make_when_free(self, action: str, params: tuple[Value, ...]) -> None:
        match action, params:
            case "AppendEntry", (int() as index,):
                self._do(lambda world: world.append(LogIndex(index)))
            case "AppendStray", ():
                self._do(SnapshotCluster.append_stray)
            case "Commit", (int() as index,):
                self._do(lambda world: world.learn(LogIndex(index)))
            case "Apply", ():
                self._do(SnapshotCluster.apply)
            case "Save", ("good",):
                self._attempted = self._world.applied
                self._begin(SnapshotCluster.save)
            case "Install", ("good",):
                self._begin(SnapshotCluster.receive)
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _rot(self, index: LogIndex) -> None:
        if self._operation is None:
            self._do(lambda world: world.damage(index))
        else:
            self._operation.damage.setdefault(self._stops.passed, []).append(index)
            self._world.damage(index)


def _cut_power(world: SnapshotCluster, names: int) -> None:
    """Tear what was not synchronized; so many changes of names survive."""
    world.cut_power(lambda disk: disk.tear(lambda size: size // 2, names=names))
