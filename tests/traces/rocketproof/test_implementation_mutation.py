"""Small mutations of the cores: which there are, and who rejects them."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from click.testing import CliRunner, Result

from rocketha.histories import Broken
from rocketha.sim.engine.crash_points import DISCARD
from rocketha.sim.engine.faults import Fault
from rocketproof import protocols
from rocketproof.commands import mutate_implementation
from rocketproof.commands.mutate_implementation import command
from rocketproof.crash_points import operation_points
from rocketproof.implementation_mutation import examination, measure
from rocketproof.implementation_mutation.child import work
from rocketproof.implementation_mutation.effects import effect_names
from rocketproof.implementation_mutation.equivalents import read_equivalents
from rocketproof.implementation_mutation.limits import NoEnd
from rocketproof.implementation_mutation.measure import (
    Class,
    Measurement,
    MutationResult,
    Sample,
    measured,
)
from rocketproof.implementation_mutation.mutation import Kind, Mutation
from rocketproof.implementation_mutation.operators import mutations_of
from rocketproof.implementation_mutation.rates import Rate
from rocketproof.implementation_mutation.run_task import Column, Examined, Rejected, RunKey, RunTask
from rocketproof.implementation_mutation.sampling import all_mutations, core_folders, draw
from rocketproof.implementation_mutation.type_check import TypeCheck
from rocketproof.protocols import PROTOCOLS
from tlatrace.corpus.processes import run_apart
from tlatrace.errors import ToolError

CORE: Final = '''
"""A core of two effects."""

class Send(Effect):
    pass

class FlushLog(Effect):
    pass

def step(state, event, *, now_ms):
    assert event.number >= 0, "never mutated"
    if event.number <= state.last or not state.open:
        return Stepped(state, ())
    effects = []
    effects.append(Send(event.number + 1))
    effects.append(FlushLog())
    state = replace(state, last=event.number, pending=None)
    return Stepped(state, (*effects, Send(0)))

def next_timer_ms(state):
    return state.began_ms + 1_000

def sync(disk, path, data):
    disk.write(path, data)
    disk.fsync(path)
'''


def mutations_of_text(text: str) -> list[Mutation]:
    return mutations_of("rocketha.toy", Path("toy.py"), text, effect_names([ast.parse(text)]))


def changes(kind: Kind) -> set[tuple[str, str]]:
    return {(m.before, m.after) for m in mutations_of_text(CORE) if m.kind is kind}


def test_each_kind_of_mutation_is_found() -> None:
    assert changes(Kind.COMPARISON) == {
        ("event.number <= state.last", "event.number < state.last"),
    }
    condition = "event.number <= state.last or not state.open"
    assert changes(Kind.GUARD) == {
        (condition, "True"),
        (condition, "False"),
        (condition, "(event.number <= state.last)"),
        (condition, "(not state.open)"),
        ("not state.open", "(state.open)"),
    }
    assert ("1", "2") in changes(Kind.CONSTANT)
    assert ("0", "(-1)") in changes(Kind.CONSTANT)
    assert changes(Kind.STALE_FIELD) == {
        ("replace(state, last=event.number, pending=None)", "replace(state, pending=None)")
    }
    assert changes(Kind.MISSING_RESET) == {
        ("replace(state, last=event.number, pending=None)", "replace(state, last=event.number)")
    }
    assert changes(Kind.DROPPED_EFFECT) == {
        ("effects.append(Send(event.number + 1))", "pass"),
        ("(*effects, Send(0))", "(Send(0),)"),
        ("(*effects, Send(0))", "(*effects,)"),
    }
    assert changes(Kind.UNSYNCED_WRITE) == {
        ("effects.append(FlushLog())", "pass"),
        ("disk.fsync(path)", "pass"),
    }
    swapped = "effects.append(FlushLog())\n    effects.append(Send(event.number + 1))"
    assert {after for _, after in changes(Kind.SWAPPED_EFFECTS)} == {
        swapped,
        "(Send(0), *effects)",
    }


PAIR: Final = """
class Send(Effect):
    pass

def ask(state) -> tuple[State, Send]:
    return state, Send(1)

def both(state) -> tuple[Send, ...]:
    return state, Send(1)
"""


def test_a_pair_of_a_state_and_an_effect_is_no_sequence_of_effects() -> None:
    found = [
        m for m in mutations_of_text(PAIR) if m.kind in (Kind.DROPPED_EFFECT, Kind.SWAPPED_EFFECTS)
    ]
    assert {m.function for m in found} == {"both"}


def test_only_what_moves_a_timer_is_a_timer() -> None:
    timers = {(m.function, m.before) for m in mutations_of_text(CORE) if m.moves_timer}
    assert timers == {("next_timer_ms", "1_000")}


def test_a_mutation_shows_its_change_as_a_diff(tmp_path: Path) -> None:
    path = tmp_path / "toy.py"
    path.write_text("def f(a, b):\n    return a < b\n")
    (only,) = mutations_of("rocketha.toy", path, path.read_text(), frozenset())
    assert only.diff().splitlines()[-2:] == ["-    return a < b", "+    return a <= b"]


def test_a_name_stays_when_other_functions_change() -> None:
    before = {m.id for m in mutations_of_text(CORE) if m.function == "step"}
    after = mutations_of_text(CORE.replace("1_000", "2_000 + 5").replace('"""A', '"""\nA'))
    assert {m.id for m in after if m.function == "step"} == before


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_mutations_of_cores_are_other_programs_with_names_of_their_own(protocol: str) -> None:
    mutations = all_mutations(PROTOCOLS[protocol].cores)
    assert len(mutations) >= 100
    assert len({m.id for m in mutations}) == len(mutations)
    for one in draw(mutations, 20, 7, lambda _: False):
        text = one.path.read_text("utf-8")
        assert ast.dump(ast.parse(one.mutated(text))) != ast.dump(ast.parse(text)), one.id


def test_a_draw_is_reproducible_and_begins_as_a_smaller_one() -> None:
    mutations = all_mutations(("locks",))
    few, many = (draw(mutations, size, 3, lambda one: one.moves_timer) for size in (5, 16))
    assert many[: len(few)] == few
    assert many == draw(mutations, 16, 3, lambda one: one.moves_timer)
    assert many != draw(mutations, 16, 4, lambda one: one.moves_timer)
    assert sum(not one.moves_timer for one in many) == 16
    assert {one.kind for one in few} > {Kind.COMPARISON, Kind.GUARD, Kind.DROPPED_EFFECT}


def test_an_interval_is_that_of_wilson() -> None:
    low, high = Rate(34, 40).interval
    assert (round(low, 1), round(high, 1)) == (70.9, 92.9)
    assert Rate(0, 0).interval == (0, 100)
    assert Rate(0, 40).interval[0] == 0
    assert Rate(40, 40).interval[1] == 100


# ---- runs of mutations ----


def of_locks(before: str, after: str, function: str) -> Mutation:
    (found,) = [
        one
        for one in all_mutations(("locks",))
        if one.function == function
        and " ".join(one.before.split()) == before
        and " ".join(one.after.split()) == after
    ]
    return found


def examined(
    mutations: Sequence[Mutation], equivalents: dict[str, str], *, seed: int = 0
) -> Measurement:
    sample = Sample(
        protocol="lock_quorum", mutations=mutations, seeds=(seed,), equivalents=equivalents
    )
    results = sorted(measured(sample, workers=2), key=lambda one: mutations.index(one.mutation))
    return Measurement(sample, results)


@pytest.fixture
def whole_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no node end in the middle of a step, in runs of which that is not asked."""
    monkeypatch.setattr(measure, "_SEEDS_WITH_SEAMS", 0)
    monkeypatch.setattr(measure, "_SEEDS_WITH_OPERATIONS", 0)


def test_runs_reject_a_mutation_and_let_an_equivalent_one_pass() -> None:
    stays = of_locks("replace(state, attempt=None)", "replace(state)", "give_up")
    expired = "now_ms - vote.voted_ms >= state.options.life_ms"
    breaks = of_locks(f"vote is not None and {expired}", f"({expired})", "present_vote")
    before_the_first = of_locks("0", "(-1)", "receive_ask")
    known = of_locks("0", "(-1)", "LockManagerState")
    mutations = [stays, breaks, before_the_first, known]
    found = examined(mutations, {known.id: "rounds count from 1 or from 0"})
    first, error, equivalent, apart = found.results
    assert first.rejected[Column.WHOLE_STATES].run == RunKey(0)
    assert error.rejected[Column.ERRORS].reason.startswith("AttributeError: ")
    assert equivalent.rejected == {}
    assert apart.of_class is Class.EQUIVALENT
    assert [one.mutation for one in found.survivors] == [before_the_first]
    assert found.rate("all") == Rate(2, 3)


@pytest.mark.usefixtures("whole_steps")
def test_a_mutation_to_which_no_run_comes_counts_as_not_rejected() -> None:
    unlocks = of_locks("queue not in held", "True", "unlock")
    found = examined([unlocks], {}, seed=1)
    (result,) = found.results
    assert (result.of_class, result.runs) == (Class.NEVER_EXECUTED, 0)
    assert found.rate("all") == Rate(0, 1)


def test_all_runs_come_to_what_is_executed_at_import() -> None:
    every = all_mutations(PROTOCOLS["dledger"].cores)
    of_module = [one for one in every if one.function == "<module>" and "node" in one.module]
    lines = frozenset(line for one in of_module for line in one.lines)
    assert lines
    path = str(of_module[0].path)
    task = RunTask(protocol="dledger", runs=(RunKey(0),), watched={path: lines})

    ((_, result),) = run_apart([task], work, workers=1, timeout_s=60)

    assert isinstance(result, Examined)
    assert result.executed == {RunKey(0): frozenset((path, line) for line in lines)}


def test_runs_that_are_rejected_as_they_are_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def rejecting(tasks: Sequence[RunTask], *_: object, **__: object) -> object:
        yield (
            tasks[0],
            Examined(rejected={Column.HISTORIES: Rejected(RunKey(3), "a promise is broken")}),
        )

    monkeypatch.setattr(measure, "run_apart", rejecting)
    mutation = of_locks("votes >= needed", "votes > needed", "enough")
    with pytest.raises(ToolError, match="histories reject seed 3 without a mutation: a promise"):
        examined([mutation], {})


LOSES_WITH_ANY_TWO: Final = 213
"""A seed of ReplicaGroup in whose configuration any two brokers are enough: a message is lost."""


def test_nodes_end_at_operations_of_which_half_are_of_the_rarest_kinds() -> None:
    """In run 5 a log is thrown away, once."""
    task = RunTask(protocol="dledger", runs=(RunKey(5),), operations=8)
    kinds = operation_points("dledger", 5, PROTOCOLS["dledger"].configured(5))
    points = [examination._point(drawn) for drawn in examination._drawn(task, 5)]
    of_kind = {examination._point(run): number for number, runs in enumerate(kinds) for run in runs}

    drawn = Counter(of_kind[point] for point in points)
    assert len(drawn) == 8
    assert sorted(len(kinds[kind]) for kind in drawn)[:4] == sorted(map(len, kinds))[:4]
    ends = {kind: {p.end for p in points if of_kind[p] == kind} for kind in drawn}
    assert all(Fault.PROCESS_CRASH in some for some in ends.values())
    assert {Fault.POWER_CUT, Fault.TORN_WRITE} & set().union(*ends.values())
    uses = PROTOCOLS["dledger"].observe(5, PROTOCOLS["dledger"].configured(5)).disk_use
    ended = {use.what for p in points for use in uses[p.node] if use.number == p.effect}
    assert DISCARD in ended


@pytest.mark.usefixtures("whole_steps")
def test_a_promise_that_a_configuration_cannot_keep_rejects_nothing() -> None:
    plug = PROTOCOLS["replica_group"]
    options = plug.configured(LOSES_WITH_ANY_TWO)
    assert not plug.keeps_promises(options)
    assert isinstance(plug.observe(LOSES_WITH_ANY_TWO, options).clients.check(), Broken)
    mutation = next(iter(all_mutations(("broker.confirm",))))
    sample = Sample(
        protocol="replica_group",
        mutations=[mutation],
        seeds=(LOSES_WITH_ANY_TWO,),
        equivalents={},
    )
    (result,) = measured(sample, workers=1)
    assert Column.HISTORIES not in result.rejected


# ---- the command ----


def call(*args: str) -> Result:
    return CliRunner().invoke(command, ["lock_quorum", *args])


def test_what_the_type_checker_refuses_is_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    every = all_mutations(PROTOCOLS["lock_quorum"].cores)
    with TypeCheck() as types:
        guards = [one for one in every if one.kind is Kind.GUARD]
        said = {one.id: types.refuses(one) for one in guards[::4]}
    refused = {name: error for name, error in said.items() if error is not None}
    assert 0 < len(refused) < len(said) / 2
    assert all("[" in error for error in refused.values()), "each has its code"
    monkeypatch.setattr(
        mutate_implementation, "draw", lambda every, *drawn: _those(every, drawn, refused)
    )

    result = CliRunner().invoke(command, ["lock_quorum", "--sample", "1", "--json"])

    found = json.loads(result.stdout)
    classes = {one["id"]: one["class"] for one in found["mutations"]}
    assert {name for name, of in classes.items() if of == "refused by types"} == {*refused}
    assert found["counted"] == 0
    assert result.exit_code == 3


def _those(
    every: Sequence[Mutation], drawn: tuple[Any, ...], refused: Container[str]
) -> list[Mutation]:
    is_apart = drawn[-1]
    chosen = [one for one in every if one.id in refused]
    assert all(is_apart(one) for one in chosen)
    return chosen


def test_a_condition_that_is_always_true_is_no_error_of_types() -> None:
    """Mypy would say so of some, if it were asked; but such a program runs."""
    every = all_mutations(PROTOCOLS["lock_quorum"].cores)
    always = [one for one in every if one.kind is Kind.GUARD and one.after == "True"]

    with TypeCheck() as types:
        assert any(types.refuses(one) is None for one in always)


def test_nothing_examined_is_no_success() -> None:
    result = call("--sample", "0")
    assert result.exit_code == 3
    assert "lock_quorum: 0 mutations" in result.output


@pytest.mark.usefixtures("whole_steps")
def test_the_command_prints_rates_and_survivors_and_holds_them_against_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutation = of_locks("replace(state, attempt=None)", "replace(state)", "give_up")
    survivor = of_locks("1", "0", "is_wanted")
    chosen = ["--seeds", "0", "--only", mutation.id, "--only", survivor.id]
    results = list[MutationResult]()

    def remembered(sample: Sample, **given: int) -> Iterator[MutationResult]:
        """Examine them once; the second call has the same answers."""
        if not results:
            results.extend(measured(sample, **given))
        yield from results

    monkeypatch.setattr(mutate_implementation, "measured", remembered)
    result = call(*chosen, "--at-least-all", "50")
    assert result.exit_code == 0, result.output
    assert "all              1 of 2, 50 % (9 to 91)" in result.output
    assert f"1. constant, plain: {survivor.id}" in result.output
    below = call(*chosen, "--at-least-all", "51", "--json")
    assert below.exit_code == 1
    figures = json.loads(below.stdout)
    assert figures["rates"]["all"] == {
        "rejected": 1,
        "of": 2,
        "percent": 50.0,
        "interval": [9.5, 90.5],
    }
    assert figures["mutations"][1]["rejected"] == {}


def test_who_names_no_mutation_reads_so() -> None:
    result = call("--only", "locks.voting:nothing")
    assert result.exit_code == 2
    assert "no such mutation: locks.voting:nothing" in result.output


def test_a_file_of_equivalents_says_why(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text('[[mutation]]\nid = "a:b:guard:1"\nchange = "x => True"\nreason = "always"\n')
    assert read_equivalents(path) == {"a:b:guard:1": "always"}
    path.write_text('[[mutation]]\nid = "a:b:guard:1"\n')
    with pytest.raises(ToolError, match="missing required field `change`"):
        read_equivalents(path)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_mutations_known_to_be_equivalent_are_there(protocol: str) -> None:
    path = Path(protocols.__file__).parent / protocol / "equivalent_mutations.toml"
    known = read_equivalents(path) if path.is_file() else {}
    assert known.keys() <= {one.id for one in all_mutations(PROTOCOLS[protocol].cores)}
    assert all(known.values())


def test_each_module_of_a_core_is_mutated_for_some_protocol() -> None:
    pools = [plug.cores for plug in PROTOCOLS.values()]
    mutated = {one.module for cores in pools for one in all_mutations(cores)}

    packages = sorted({package for cores in pools for package in core_folders(cores)})

    assert {one.module for one in all_mutations(packages)} <= mutated


def test_a_result_without_a_process_counts_as_an_error() -> None:
    mutation = of_locks("votes >= needed", "votes > needed", "enough")
    result = MutationResult(
        mutation=mutation,
        of_class=Class.PLAIN,
        rejected={Column.ERRORS: Rejected(None, "its process died")},
    )
    sample = Sample(protocol="lock_quorum", mutations=[mutation], seeds=(0,), equivalents={})
    found = Measurement(sample, [result])
    assert (found.rate("all"), found.rate("all but errors")) == (Rate(1, 1), Rate(0, 1))


def test_runs_have_a_limit_and_judges_of_their_traces_have_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a judge needs says nothing of the implementation; that it fails does."""

    def over(_seconds: float) -> NoReturn:
        raise NoEnd

    monkeypatch.setattr(examination, "cpu_limit", over)
    subject, key = examination._Subject(PROTOCOLS["lock_quorum"], {}), RunKey(3)

    subject._ask(Column.WHOLE_STATES, key, ())
    assert subject.rejected == {}
    assert not subject._guarded(key, lambda: None)
    assert subject.rejected == {Column.ERRORS: Rejected(key, "no end within 10 s of the processor")}

    del subject.rejected[Column.ERRORS]
    subject._ask(Column.RECORDS, key, (object(),))  # type: ignore[arg-type]
    assert subject.rejected[Column.ERRORS].reason.startswith("AttributeError")
