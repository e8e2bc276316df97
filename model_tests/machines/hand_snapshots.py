"""A node with snapshots that a test drives: an adapter for SnapshotLoading.

The subject is `rocketha.snapshot` with its registers, over a log on a disk in memory. What
`SnapshotManager.commit` does in one go (append, learn what was agreed on, apply, save) are steps of
the specification: its parts are called one by one. The group, and the numbers of power cuts and
of damaged files, are kept here.

A save is one call, and many steps: it is stopped at the end of each (`hand_stops`). To go on, all
that has happened is done again on an empty disk, up to the next stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from model_tests.machines.hand_stops import Operation, OperationKind
from model_tests.machines.snapshot_world import World
from rocketha.bugs import Bugs
from rocketha.sim.snapshot_history import RegisterHistory
from rocketha.snapshot.register import push_set
from rocketha.types import LogIndex, Term
from rocketproof.projection.snapshot_values import (
    NO_JOB,
    files_value,
    log_values,
    state_value,
    surviving,
)
from tlatrace.testing import Moves
from tlatrace.values import Fcn, State, TlaSet, Value, record, tla_set

__all__ = ["HandSnapshots"]

_ENTRIES: Final = (push_set("a", 1), push_set("b", 2), push_set("a", None), push_set("c", 4))
_ENDS: Final = "the save ends"
_NOT_DUE: Final = "it is not time to save"
_LATE: Final = "a late snapshot arrives"

_Deed: TypeAlias = Callable[[World], None]


class HandSnapshots:
    """A node that takes the steps of a model."""

    def __init__(self, moves: Moves, terms: Sequence[int], bugs: Bugs) -> None:
        """Begin in the initial state."""
        self._moves = moves
        self._bugs = bugs
        self._history = RegisterHistory(_ENTRIES[: len(terms)], [Term(term) for term in terms])
        self._deeds: list[_Deed] = []
        self._world = World(self._history, bugs)
        self._operation: Operation | None = None
        """What is under way."""
        self._agreed, self._kept, self._crashes, self._damaged = 0, 1, 0, 0
        self._attempted = 0
        """The entry at which the node has tried to save."""
        self._state = self._project()

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the node take one action."""
        self._make(action, params)
        self._state = self._project()

    def observe(self) -> State:
        """Return the state after the last action."""
        return self._state

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether the node can be made to take an action now.

        The model lets a snapshot be written while the node goes on; here nothing comes between the
        steps of a save and of an install but power cuts, damage and the group. A save ends with
        cleaning up, files first, then the log. A start ends with the log: it takes all of it as
        agreed on, and applies it.
        After a save that could not be read back there is none before the next entry. A controller
        on its own has no log of a leader that does not last; the disk damages only what was
        durable. A journal keeps the first of the changes of names.
        """
        match action, params:
            case "Agree" | "LeaderCompacts" | "Rot" | "Start" | "LoadNewest", _:
                return True
            case "SyncTemporary" | "Rename" | "SyncDirectory" | "ReadBack", _:
                return True
            case "Crash", (TlaSet() as there,):
                return self._surviving(there) is not None
            case "Commit", (index,) if self._is_starting():
                return index == self._end_of_log()
            case "Apply", _ if self._is_starting():
                return self._state["commit"] == self._end_of_log()
            case "DeleteExpired", _:
                return not self._is_writing() and not self._is_starting()
            case "CutLog", _:
                busy = self._is_writing() or self._is_starting()
                return not busy and not self._allows("DeleteExpired")
            case "Save", ("good",):
                return self._is_free() and self._applied() > self._attempted
            case "AppendEntry" | "Commit" | "Apply", _:
                return self._is_free()
            case "Install", ("good",):
                return self._is_free()
            case _:
                return False

    def idle_calls(self) -> Sequence[str]:
        """List calls that must change nothing."""
        if self._state["mode"] != "up" or not self._is_free():
            return []
        calls = [_ENDS] if self._operation is not None else []
        if self._applied() <= self._world.up().manager.last_snapshot:
            calls.append(_NOT_DUE)
        if 1 < self._kept <= self._world.up().caller.commit + 1:
            calls.append(_LATE)
        return calls

    def make_idle_call(self, name: str) -> None:
        """Make one of them."""
        self._end()
        if name == _NOT_DUE:
            self._do(lambda world: world.operate(Operation(OperationKind.SAVE, stop_at=None)))
        elif name == _LATE:
            late = Operation(OperationKind.INSTALL, LogIndex(self._kept - 1), stop_at=None)
            self._do(lambda world: world.operate(late))
        self._state = self._project()

    # ---- what may happen now ----

    def _is_writing(self) -> bool:
        return self._state["job"] != NO_JOB

    def _is_starting(self) -> bool:
        return self._operation is not None and self._operation.kind is OperationKind.OPEN

    def _is_free(self) -> bool:
        """Tell whether nothing is under way, or has only its end before it."""
        if self._operation is None:
            return True
        if self._is_writing() or self._is_starting():
            return False
        return not self._allows("DeleteExpired") and not self._allows("CutLog")

    def _allows(self, action: str) -> bool:
        """Ask the model."""
        model = self._moves.model
        state = tuple([self._moves.adopt(self._state[name]) for name in model.variables])
        return any(call.action == action for call in self._moves.of(state))

    def _end_of_log(self) -> int:
        begin, log = self._state["begin"], self._state["log"]
        assert isinstance(begin, int)
        assert isinstance(log, tuple)
        return begin + len(log) - 1

    def _applied(self) -> int:
        return self._world.up().caller.applied.last_included_index

    def _surviving(self, there: TlaSet) -> int | None:
        """Return how many changes of names must survive."""
        files = self._state["snaps"]
        assert isinstance(files, TlaSet)
        changed: dict[LogIndex, bool] = {}
        for file in files:
            assert isinstance(file, Fcn)
            fields = dict(file.pairs)
            index = fields["idx"]
            assert isinstance(index, int)
            if fields["name"] in ("new", "gone"):
                changed[LogIndex(index)] = index in tuple(there)
        return surviving(self._world.disk, changed)

    # ---- the steps ----

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
        self._world = World(self._history, self._bugs)
        for deed in self._deeds:
            deed(self._world)
        self._forget_what_has_ended()

    def _begin(self, operation: Operation) -> None:
        self._operation = operation
        self._do(lambda world: world.operate(operation))
        self._forget_what_has_ended()

    def _forget_what_has_ended(self) -> None:
        run = self._world.run
        if run is not None and run.has_ended:
            self._operation = None

    def _make(self, action: str, params: tuple[Value, ...]) -> None:
        match action, params:
            case "Agree", ():
                self._agreed += 1
            case "LeaderCompacts", ():
                self._kept = self._agreed + 1
            case "Rot", (int() as index,):
                self._rot(LogIndex(index))
            case "Crash", (TlaSet() as there,):
                names = self._surviving(there)
                assert names is not None
                self._crashes += 1
                self._attempted = 0
                self._operation = None
                self._do(lambda world: world.cut_power(names))
            case "Start", ():
                self._do(lambda world: world.start())
            case "LoadNewest", () if self._operation is None:
                self._begin(Operation(OperationKind.OPEN))
            case "DeleteExpired" | "CutLog", () if self._operation is None:
                self._begin(Operation(OperationKind.CLEAN))
            case "Commit" | "Apply", _ if self._is_starting():
                self._go_on()
            case (
                (
                    "LoadNewest"
                    | "SyncTemporary"
                    | "Rename"
                    | "SyncDirectory"
                    | "ReadBack"
                    | "DeleteExpired"
                    | "CutLog"
                ),
                (),
            ):
                self._go_on()
            case _:
                self._end()
                self._make_when_free(action, params)

    def _make_when_free(self, action: str, params: tuple[Value, ...]) -> None:
        match action, params:
            case "AppendEntry", (int() as index,):
                self._do(lambda world: world.append(index))
            case "Commit", (int() as index,):
                self._do(lambda world: world.learn(index))
            case "Apply", ():
                self._do(lambda world: world.apply())
            case "Save", ("good",):
                self._attempted = self._applied()
                self._begin(Operation(OperationKind.SAVE, LogIndex(self._attempted)))
            case "Install", ("good",):
                self._begin(Operation(OperationKind.INSTALL, LogIndex(self._kept - 1)))
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _rot(self, index: LogIndex) -> None:
        self._damaged += 1
        run = self._world.run
        if self._operation is None or run is None:
            self._do(lambda world: world.damage(index))
            return
        self._operation.damage.setdefault(run.passed, []).append(index)
        self._world.damage(index)

    # ---- the state ----

    def _project(self) -> State:
        world = self._world
        job = self._job()
        writing = job != NO_JOB
        state: dict[str, Value] = {
            "agreed": self._agreed,
            "kept": self._kept,
            "crashes": self._crashes,
            "damaged": self._damaged,
            "mode": self._mode(),
            "job": job,
            "snaps": files_value(self._history, world.disk, world.damaged, writing=writing),
            "sm": tla_set([]),
            "applied": 0,
            "commit": 0,
            "lastSnap": 0,
            **log_values(self._history, world.disk),
        }
        node = world.node
        if node is not None and not node.has_refused:
            state["sm"] = state_value(self._history, node.machine.values)
            state["applied"] = int(node.caller.applied.last_included_index)
            state["commit"] = int(node.caller.commit)
            state["lastSnap"] = int(node.manager.last_snapshot)
        return state

    def _job(self) -> Value:
        operation, run = self._operation, self._world.run
        if operation is None or run is None or run.has_read:
            return NO_JOB
        if operation.kind not in (OperationKind.SAVE, OperationKind.INSTALL):
            return NO_JOB
        return record({"kind": operation.kind.value, "idx": int(operation.index)})

    def _mode(self) -> str:
        node, run = self._world.node, self._world.run
        if node is None:
            return "down"
        if node.has_refused:
            return "refused"
        opens = run is None or run.operation.kind is OperationKind.OPEN
        loaded = run is not None and (run.is_replaying or run.has_ended)
        return "loading" if opens and not loaded else "up"
