"""Runs of a node with snapshots as behaviours of SnapshotLoading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rocketha.errors import SnapshotError
from rocketha.formats.controller_snapshot import SectionType
from rocketha.formats.json_text import write_json
from rocketha.known_bugs import SNAPSHOT_BUGS, Bug
from rocketha.replicated_log.log import DurableLog
from rocketha.replicated_log.register import RegisterStateMachine
from rocketha.replicated_log.snapshot_core import ReadBackDue, SnapshotCore, SnapshotState
from rocketha.replicated_log.snapshot_files import SnapshotReader, SnapshotWriter
from rocketha.sim.snapshot_loading.steps import SnapshotActionName
from rocketha.types import Term
from rocketproof.engines import Judges
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.trace import Trace

PROTOCOL = "snapshot_loading"
PASSED_UNLOADABLE = 1353
"""A seed whose node passes a leader's snapshot without registers before it reads it back."""
CAUGHT = {
    Bug.B53: 0,
    Bug.B55: 0,
    Bug.B56: 2,
    Bug.B57: 5,
    Bug.B58: 0,
    Bug.B59: 0,
    Bug.B68: 0,
    Bug.BOUNDARY_OF_CUT: 0,
    Bug.CRC: 0,
    Bug.CUT_AT_OLDEST: 0,
    Bug.DIRECTORY_SYNC: 0,
    Bug.EXPIRED: 0,
    Bug.FRESH_OBJECT: 4,
    Bug.INSTALL_FRESH: 1,
    Bug.READ_BACK: 0,
    Bug.REFUSE_GAP: 7,
    Bug.SNAP_AT_APPLIED: 0,
    Bug.SUFFIX_DROPPED: 8,
    Bug.SUFFIX_KEPT: 0,
    Bug.SYNC_FIRST: 0,
    Bug.VALIDITY: 1,
}
"""A seed that shows a bug."""
REFUSE = {5, 7, 14, 17}
"""Seeds whose nodes lose all their snapshots."""


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [simulate_trace(PROTOCOL, seed) for seed in range(20)]


def judged(traces: Sequence[Trace]) -> tuple[Verdict, ...]:
    header = traces[0].header
    assert header is not None
    return tuple(Judges(choice=SpecChoice(spec_root=ROOT / "spec")).judge(header, traces).verdicts)


def test_a_trace_names_its_spec_and_constants(traces: list[Trace]) -> None:
    header = traces[0].header

    assert header is not None
    assert header.spec == "SnapshotLoading"
    assert header.constants["Threshold"] == 2
    assert header.constants["Reserved"] == 2
    assert all(trace.header and trace.header.constants == header.constants for trace in traces)
    assert PROTOCOLS[PROTOCOL].bugs == SNAPSHOT_BUGS
    assert SNAPSHOT_BUGS - set(CAUGHT) == {Bug.B54, Bug.TERM_FIRST}


def test_the_runs_take_every_action(traces: list[Trace]) -> None:
    taken = Counter(event.action for trace in traces for event in trace.events)

    assert set(taken) == {"Init", *map(str, SnapshotActionName)}


def test_a_run_comes_back_to_life_unless_all_its_snapshots_are_damaged(
    traces: list[Trace],
) -> None:
    for seed, trace in enumerate(traces):
        assert trace.header is not None
        assert trace.header.meta["converged"] is (seed not in REFUSE), seed
        assert ("unavailable_because" in trace.header.meta) is (seed in REFUSE), seed
    last = traces[min(REFUSE)].events[-1].state
    assert last is not None
    assert last["mode"] == "refused"


def test_the_same_seed_gives_the_same_run(traces: list[Trace]) -> None:
    assert simulate_trace(PROTOCOL, 1) == traces[1]


@pytest.mark.java
def test_runs_conform(traces: list[Trace]) -> None:
    verdicts = judged(traces)

    assert [str(verdict) for verdict in verdicts if not isinstance(verdict, Conforms)] == []


@pytest.mark.java
@pytest.mark.parametrize(("bug", "seed"), CAUGHT.items(), ids=[bug.value for bug in CAUGHT])
def test_a_bug_leaves_the_specification(bug: Bug, seed: int) -> None:
    (verdict,) = judged([simulate_trace(PROTOCOL, seed, (bug.value,))])

    assert isinstance(verdict, Diverges)


def _keeps_what_is_removed(patch: pytest.MonkeyPatch) -> None:
    """Let the state machine pass over entries that remove a register."""
    whole = RegisterStateMachine.on_replay

    def on_replay(self: RegisterStateMachine, entry: bytes) -> None:
        if b"value" in entry:
            whole(self, entry)

    patch.setattr(RegisterStateMachine, "on_replay", on_replay)


def _forgets_a_register(patch: pytest.MonkeyPatch) -> None:
    """Let snapshots be without the register that was set last."""

    def on_snapshot_save(self: RegisterStateMachine, writer: SnapshotWriter) -> None:
        writer.add(SectionType.REGISTER, write_json(dict(list(self.values.items())[:-1])))

    patch.setattr(RegisterStateMachine, "on_snapshot_save", on_snapshot_save)


def _reads_terms_wrongly(patch: pytest.MonkeyPatch) -> None:
    """Let the recovery of a log take each term for the one before it."""
    whole = DurableLog._record_at

    def record_at(self: DurableLog, data: bytes, at: int) -> Any:
        found = whole(self, data, at)
        return None if found is None else replace(found, term=Term(max(found.term - 1, 0)))

    patch.setattr(DurableLog, "_record_at", record_at)


def _keeps_what_it_could_not_load(patch: pytest.MonkeyPatch) -> None:
    """Let a leader's snapshot that is whole, and has no registers, stay on the disk."""
    whole = SnapshotCore.step

    def step(self: SnapshotCore, state: SnapshotState, event: Any, **named: Any) -> Any:
        done = whole(self, state, event, **named)
        is_failed = isinstance(event, ReadBackDue) and done.state.failure is not None
        return replace(done, effects=()) if is_failed and not event.is_own else done

    patch.setattr(SnapshotCore, "step", step)


@pytest.mark.java
@pytest.mark.parametrize(
    "mistake",
    [
        _keeps_what_is_removed,
        _forgets_a_register,
        _reads_terms_wrongly,
        _keeps_what_it_could_not_load,
    ],
)
def test_a_mistake_in_code_that_judges_once_shared_is_seen_within_eight_seeds(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)

    assert any(
        isinstance(judged([simulate_trace(PROTOCOL, seed)])[0], Diverges) for seed in range(8)
    )


@pytest.mark.java
def test_a_snapshot_that_is_passed_and_could_not_be_loaded_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked = simulate_trace(PROTOCOL, PASSED_UNLOADABLE)
    decode = RegisterStateMachine.decode_snapshot

    def decode_anything(machine: RegisterStateMachine, reader: SnapshotReader) -> Mapping[str, int]:
        try:
            return decode(machine, reader)
        except SnapshotError:
            return {}

    monkeypatch.setattr(RegisterStateMachine, "decode_snapshot", decode_anything)
    unchecked = simulate_trace(PROTOCOL, PASSED_UNLOADABLE)

    right, wrong = judged([checked, unchecked])

    assert isinstance(right, Conforms)
    assert isinstance(wrong, Diverges)
    assert wrong.action == "ReadBack"


@pytest.mark.java
def test_a_node_that_ends_by_an_error_of_its_own_leaves_the_specification(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = RegisterStateMachine.on_replay

    def on_replay(self: RegisterStateMachine, entry: bytes) -> None:
        if len(self.values) == 2:
            raise ValueError("three are too many")
        whole(self, entry)

    monkeypatch.setattr(RegisterStateMachine, "on_replay", on_replay)
    trace = simulate_trace(PROTOCOL, 0)
    assert trace.header is not None
    assert trace.header.meta["failure"] == "ValueError: three are too many"

    (verdict,) = judged([trace])

    assert isinstance(verdict, Diverges)
    assert verdict.step == trace.events[-1].step


def test_a_node_without_install_stays_dead() -> None:
    header = simulate_trace(PROTOCOL, 2, (Bug.B54.value,)).header

    assert header is not None
    assert header.meta["converged"] is False
    assert not header.meta.keys() & {"unavailable_because", "failure"}


def test_a_file_of_which_nothing_is_left_is_not_damaged() -> None:
    trace = simulate_trace(PROTOCOL, 17, (Bug.SYNC_FIRST.value,))

    assert "Rot" in {event.action for event in trace.events}


def test_a_run_can_be_read_as_a_timeline(traces: list[Trace]) -> None:
    text = "\n".join(line for trace in traces for line in timeline(trace))

    for words in (
        "applied 0 -> 1",
        "file 2 tmp unsynced",
        "file 2 tmp -> new",
        "file 2 new -> kept",
        "begin 1 -> 3; log [0 0]",
        "mode up -> down",
        "kept -> kept rotten",
        "is no more",
    ):
        assert words in text, words
