"""What only mappings say: states before steps, expressions, parts of arguments, and changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.matching.toy import ToyModel, counters, lock_server
from tlatrace.errors import ValueFormatError
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.matching import match_traces, read_log, read_mapping
from tlatrace.oracle import ModelState, Step
from tlatrace.trace import Change, Clues, Event, Header, ParamPart, Part, Silent, Trace
from tlatrace.trace.itf import itf_text
from tlatrace.trace.ndjson import write_trace
from tlatrace.values import Value


def judge(
    model: ToyModel, *events: tuple[str, Clues], silent: Silent | None = None
) -> tuple[Trace, Verdict]:
    """Match a trace that shows nothing but the actions and the clues."""
    header = Header(
        spec=model.module, silent=silent, expressions=dict.fromkeys(model.expressions, "")
    )
    steps = [Event(step=0, action="Init")]
    steps += [
        Event(step=at, action=action, known_params=() if action != "Expire" else None, clues=clues)
        for at, (action, clues) in enumerate(events, start=1)
    ]
    trace = Trace(header=header, events=tuple(steps))
    return trace, match_traces(model, [trace])[0]


def change(variable: str, operation: str, *arguments: Value) -> Clues:
    """Make the clue of one change."""
    return Clues(
        changes=(Change(variable=variable, at=(), operation=operation, arguments=arguments),)
    )


def test_a_change_is_checked_against_the_state_before_each_candidate() -> None:
    request = ("Request", change("queue", "append", "c1"))

    assert judge(lock_server(), request, ("Grant", Clues()))[1] == Conforms(3)
    _, found = judge(lock_server(), request, ("Grant", change("token", "plus", 2)))
    assert isinstance(found, Diverges)
    assert "token: 1 -> 2" in found.observed


def test_two_changes_of_a_variable_are_made_one_after_the_other() -> None:
    one = Change(variable="left", at=(), operation="plus", arguments=(1,))

    assert judge(counters(), ("Jump", Clues(changes=(one, one))))[1] == Conforms(2)
    assert isinstance(judge(counters(), ("Jump", Clues(changes=(one,))))[1], Diverges)


def test_a_variable_of_which_nothing_is_said_may_change() -> None:
    assert judge(counters(), ("Both", change("left", "plus", 1)))[1] == Conforms(2)


def test_a_change_without_a_value_leaves_the_trace_undecided() -> None:
    _, found = judge(counters(), ("Left", change("left", "append", 1)))

    assert found == Undecided("step 1: something is appended to 0, which is no sequence")


def test_the_state_before_a_step_is_the_one_after_silent_steps() -> None:
    before = Clues(before=(Part(variable="holder", at=(), value="Nobody"),))
    silent = Silent(actions=("Expire",), most=1)
    events = [("Request", Clues()), ("Grant", Clues()), ("Request", before)]

    assert isinstance(judge(lock_server(), *events)[1], Diverges)
    assert judge(lock_server(), *events, silent=silent)[1] == Conforms(4)


def test_the_state_before_silent_steps_is_the_one_after_the_last_event() -> None:
    """The holder of the lock is still shown, though its lease runs out before the next step."""
    shown = Clues(earlier=(Part(variable="holder", at=(), value="c1"),))
    silent = Silent(actions=("Expire",), most=1)
    events = [("Request", Clues()), ("Grant", change("token", "plus", 1)), ("Request", Clues())]

    assert judge(lock_server(), *events, ("Grant", shown), silent=silent)[1] == Conforms(5)
    wrong = Clues(earlier=(Part(variable="holder", at=(), value="Nobody"),))
    _, found = judge(lock_server(), *events, ("Grant", wrong), silent=silent)
    assert isinstance(found, Conforms)  # it ran out before the request already
    twice = [*events[:2], ("Release", wrong)]
    _, found = judge(lock_server(), *twice, silent=silent)
    assert isinstance(found, Diverges)
    assert (found.step, found.observed.split(" (")[0]) == (3, "before it, holder: c1 -> Nobody")


def test_a_divergence_of_the_state_before_is_told_as_such() -> None:
    before = Clues(before=(Part(variable="left", at=(), value=3),))

    _, found = judge(counters(), ("Left", Clues()), ("Left", before))

    assert isinstance(found, Diverges)
    assert found.observed == "before it, left: 1 -> 3 (the nearest of 1 state -> the log)"


def test_an_expression_is_observed_before_and_after_as_a_variable_is() -> None:
    model = counters()
    model.expressions = {"sum": lambda state: (int(str(state["left"])) + int(str(state["right"])),)}
    good = Clues(
        before=(Part(variable="sum", at=(1,), value=0),),
        expressions=(Part(variable="sum", at=(), value=(2,)),),
    )

    assert judge(model, ("Both", good))[1] == Conforms(2)
    assert isinstance(judge(model, ("Left", good))[1], Diverges)


def test_a_part_of_an_argument_chooses_the_step() -> None:
    three = Clues(
        params=(ParamPart(number=1, at=(), value=3),),
        expressions=(),
    )
    four = Clues(params=(ParamPart(number=1, at=(), value=4),))

    assert judge(counters(), ("Jump", three))[1] == Conforms(2)
    _, found = judge(counters(), ("Jump", four))
    assert isinstance(found, Diverges)
    assert found.observed == "other arguments in each of 2 results"


def test_more_parts_of_arguments_than_arguments_are_no_answer() -> None:
    _, found = judge(counters(), ("Jump", Clues(params=(ParamPart(number=2, at=(), value=3),))))

    assert found == Undecided("step 1: Jump of Counters takes 1 parameters only")


@pytest.mark.parametrize("name", ["nothing", "sum"])
def test_what_is_neither_variable_nor_expression_is_no_answer(name: str) -> None:
    _, found = judge(counters(), ("Left", Clues(before=(Part(variable=name, at=(), value=1),))))

    assert found == Undecided(f"step 1: Counters has no variable {name}")


def test_silent_steps_may_be_bound_to_the_next_line() -> None:
    events = [("Request", Clues()), ("Grant", Clues()), ("Request", Clues()), ("Grant", Clues())]
    for only, verdict in ((["Grant"], Conforms), (["Request"], Conforms), (["Release"], Diverges)):
        silent = Silent(actions=("Expire",), most=1, only_before={"Expire": frozenset(only)})
        assert isinstance(judge(lock_server(), *events, silent=silent)[1], verdict)


def test_silent_steps_may_have_the_arguments_of_the_next_line() -> None:
    three = Clues(params=(ParamPart(number=1, at=(), value=3),))
    for left, same, verdict in (
        (3, ["Jump"], Conforms),
        (2, ["Jump"], Diverges),
        (2, [], Conforms),
    ):
        silent = Silent(actions=("Jump",), most=1, same_arguments=frozenset(same))
        seen = Clues(params=three.params, before=(Part(variable="left", at=(), value=left),))
        assert isinstance(judge(counters(), ("Jump", seen), silent=silent)[1], verdict)


@pytest.mark.parametrize("left", [2, 0])
def test_a_silent_step_with_fewer_arguments_has_those_that_it_has(left: int) -> None:
    """Left has no argument, and Jump one, which says nothing of Left."""
    seen = Clues(
        params=(ParamPart(number=1, at=(), value=3),),
        before=(Part(variable="left", at=(), value=left),),
    )
    silent = Silent(actions=("Left",), most=2, same_arguments=frozenset(["Left"]))

    assert judge(counters(), ("Jump", seen), silent=silent)[1] == Conforms(2)


class _Endless(ToyModel):
    """Counters of which a jump can be asked for with its argument only."""

    __slots__ = ()

    def bound_successors(self, state: ModelState, action: str, params: ModelState) -> list[Step]:
        return [
            step
            for step in self.successors(state)
            if step.action == action and step.params == params
        ]


def test_a_silent_step_with_all_arguments_of_the_next_line_is_not_enumerated() -> None:
    toy = counters()
    model = _Endless(
        module=toy.module,
        initial=toy.initial,
        steps=toy.steps,
        actions=toy.actions,
        fails_at=lambda _state, action: action == "Jump",
    )
    silent = Silent(actions=("Jump",), most=1, same_arguments=frozenset(["Jump"]))
    for left, verdict in ((3, Conforms), (2, Diverges)):
        before = Clues(before=(Part(variable="left", at=(), value=left),))
        events = (
            Event(step=0, action="Init"),
            Event(step=1, action="Jump", params=(3,), clues=before),
        )
        trace = Trace(header=Header(spec=model.module, silent=silent), events=events)
        assert isinstance(match_traces(model, [trace])[0], verdict)


@pytest.mark.parametrize(("unchanged", "verdict"), [("token", Conforms), ("queue", Diverges)])
def test_a_variable_without_updates_may_be_said_to_be_unchanged(
    unchanged: str, verdict: type[Verdict], tmp_path: Path
) -> None:
    """The lock is taken on a line that shows the token only, by which the queue changed."""
    (tmp_path / "map.toml").write_text(
        'format = "rocketproof-mapping"\nversion = 1\nspec = "LockServer"\n'
        f'[updates]\nvariables = ["queue", "token"]\nunchanged = ["{unchanged}"]\n'
    )
    (tmp_path / "log.jsonl").write_text(
        '{"queue":[{"op":"AppendElement","path":[],"args":["c1"]}]}\n'
        '{"token":[{"op":"Add","path":[],"args":[1]}]}\n'
    )

    log = read_log(tmp_path / "log.jsonl", read_mapping(tmp_path / "map.toml"))

    assert isinstance(match_traces(lock_server(), [log.trace])[0], verdict)


def test_a_trace_file_refuses_what_only_a_mapping_says(tmp_path: Path) -> None:
    bound = Silent(actions=("Expire",), only_before={"Expire": frozenset(["Grant"])})
    with_clue, _ = judge(lock_server(), ("Grant", change("token", "plus", 1)))
    bounded, _ = judge(lock_server(), ("Grant", Clues()), silent=bound)
    for trace in (with_clue, bounded):
        with pytest.raises(ValueFormatError):
            write_trace(tmp_path / "trace.ndjson", trace)
        with pytest.raises(ValueFormatError):
            itf_text(trace)
