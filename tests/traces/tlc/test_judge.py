"""The judge against tables, and against everything that may go wrong with TLC."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.traces.tlc.toy import (
    INITIAL,
    SPECS,
    all_steps,
    corrupted,
    state_of,
    steps_from,
    transition_of,
)
from tlatrace.errors import SpecError, ToolError
from tlatrace.judgement.specification import SpecUnderTest, load_spec
from tlatrace.judgement.transition import Allowed, Failed, Judgement, Refused, Transition
from tlatrace.readings import Reading, Types
from tlatrace.tla.config import read_config
from tlatrace.tla.declarations import Declarations, Operator, Place
from tlatrace.tlc.batch_module import AT, YES, BatchItem
from tlatrace.tlc.judge import judge
from tlatrace.tools.tlc_run import TlcRun, read_run
from tlatrace.values import State, tla_set

SUCCESS = "@!@!@STARTMSG 2193:0 @!@!@\nNo error.\n@!@!@ENDMSG 2193 @!@!@\n"
SANY_END = "@!@!@STARTMSG 2219:0 @!@!@\nSANY finished.\n@!@!@ENDMSG 2219 @!@!@\n"


@pytest.fixture(scope="module")
def mailbox() -> SpecUnderTest:
    return load_spec(SPECS / "Mailbox.tla", config=read_config(SPECS / "Mailbox.cfg"))


def counter(invariants: tuple[str, ...] = ()) -> SpecUnderTest:
    """A specification that no tool has read: one variable, one action."""
    declarations = Declarations(
        module="Counter",
        constants=(),
        variables=("x",),
        operators={
            "Inc": Operator(1, 2, "Counter"),
            "Small": Operator(0, 1, "Counter"),
            "Next": Operator(0, 2, "Counter"),
        },
        formulas={},
        places={},
    )
    return SpecUnderTest(
        module=SPECS / "Counter.tla",
        declarations=declarations,
        init="Init",
        next="Next",
        invariants=invariants,
        constants=(),
        definitions=(),
        values={},
        reading=Reading(Types.of_names([])),
        places={"Inc": (Place(("\\in (Nat)",)),)},
        name="Counter",
    )


def increments(count: int) -> list[Transition]:
    return [Transition({"x": at}, "Inc", (1,), {"x": at + 1}) for at in range(count)]


class ScriptedTlc:
    """Answers each run with the next of some outputs; the last one is for all further runs."""

    def __init__(self, *runs: tuple[str, int | None]) -> None:
        self.runs = list(runs)
        self.sizes: list[int] = []
        self.careful: list[bool] = []

    def __call__(
        self,
        _spec: SpecUnderTest,
        items: Sequence[BatchItem],
        _limit_s: float,
        /,
        *,
        careful: bool = False,
    ) -> TlcRun:
        self.sizes.append(len(items))
        self.careful.append(careful)
        text, exit_code = self.runs.pop(0) if len(self.runs) > 1 else self.runs[0]
        return read_run(SANY_END + text, exit_code=exit_code, seconds=1.0)


def marks(*numbers: int, yes: bool = True) -> str:
    return "".join([f'<<"{AT}", {n}>>\n' + (f'<<"{YES}", {n}>>\n' if yes else "") for n in numbers])


def kinds(judgements: list[Judgement]) -> list[str]:
    return [type(judgement).__name__ for judgement in judgements]


# ---- without Java ----


def test_a_step_without_a_mark_is_failed_although_tlc_succeeded() -> None:
    tlc = ScriptedTlc((marks(1) + SUCCESS, 0))

    judged = judge(counter(), increments(2), run_batch=tlc)

    assert kinds([one.step for one in judged]) == ["Allowed", "Failed"]


def test_a_step_that_tlc_looked_at_and_did_not_allow_is_refused() -> None:
    tlc = ScriptedTlc((marks(1) + marks(2, yes=False) + SUCCESS, 0))

    judged = judge(counter(), increments(2), run_batch=tlc)

    assert kinds([one.step for one in judged]) == ["Allowed", "Refused"]


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [("", None), ("", 1), ("", 255), ("", 0), ("Out of memory", 137)],
    ids=["timeout", "crash", "jvm", "no word of success", "killed"],
)
def test_without_a_single_mark_every_step_is_failed_or_the_tool_is_blamed(
    text: str, exit_code: int | None
) -> None:
    tlc = ScriptedTlc((text, exit_code))

    with pytest.raises(ToolError):
        judge(counter(), increments(2), run_batch=tlc)


def test_the_step_that_stops_tlc_is_failed_and_the_rest_is_run_again_without_it() -> None:
    stopped = marks(1) + marks(2, yes=False)
    tlc = ScriptedTlc((stopped, 75), (marks(1, 2) + SUCCESS, 0))

    judged = judge(counter(), increments(4), run_batch=tlc)

    assert kinds([one.step for one in judged]) == ["Allowed", "Failed", "Allowed", "Allowed"]
    assert tlc.sizes == [4, 2]


def test_a_timeout_blames_the_step_that_tlc_was_looking_at() -> None:
    tlc = ScriptedTlc((marks(1, yes=False), None), (marks(1) + SUCCESS, 0))

    judged = judge(counter(), increments(2), run_batch=tlc)

    assert kinds([one.step for one in judged]) == ["Failed", "Allowed"]
    assert "no answer" in str(judged[0].step)


def test_a_batch_that_cannot_be_built_is_halved_until_the_bad_step_is_alone() -> None:
    ok = (marks(1) + SUCCESS, 0)
    tlc = ScriptedTlc(("", 75), (SUCCESS, 0), ok, ("", 75))

    judged = judge(counter(), increments(2), run_batch=tlc)

    assert kinds([one.step for one in judged]) == ["Allowed", "Failed"]
    assert tlc.sizes == [2, 0, 1, 1]


def test_a_specification_that_fails_without_any_step_is_its_authors_fault() -> None:
    tlc = ScriptedTlc(("", 150))

    with pytest.raises(SpecError):
        judge(counter(), increments(2), run_batch=tlc)


def test_too_many_bad_steps_end_in_failed_and_not_in_endless_runs() -> None:
    tlc = ScriptedTlc((marks(1, yes=False), 75))

    judged = judge(counter(), increments(100), run_batch=tlc)

    assert {type(one.step) for one in judged} == {Failed}
    assert len(tlc.sizes) <= 40
    assert tlc.careful[:4] == [False, False, False, True]


def test_a_mark_beyond_the_batch_or_of_another_shape_counts_for_nothing() -> None:
    noise = f'<<"{AT}", 7>>\n<<"{YES}", 7>>\n<<"{YES}", -1>>\n<<"{AT}">>\n'
    tlc = ScriptedTlc((noise + marks(1, yes=False) + SUCCESS, 0))

    judged = judge(counter(), increments(1), run_batch=tlc)

    assert [one.step for one in judged] == [Refused()]


@pytest.mark.parametrize(
    ("transition", "reason"),
    [
        (Transition({"x": 0}, "Nope", (), {"x": 1}), "no action Nope"),
        (Transition({"x": 0}, "Small", (), {"x": 1}), "not an action"),
        (Transition({"x": 0}, "Inc", (), {"x": 1}), "1 parameters, not 0"),
        (Transition({"x": 0}, "Inc", (1,), {}), "lacks x"),
        (Transition({}, "Inc", (1,), {"x": 1}), "lacks x"),
        (Transition({"x": 0}, "Inc", (1,), {"x": 1, "y": 1}), "no variable y"),
    ],
    ids=["unknown", "predicate", "arity", "missing after", "missing before", "extra"],
)
def test_what_the_module_does_not_declare_is_failed_without_asking_tlc(
    transition: Transition, reason: str
) -> None:
    tlc = ScriptedTlc((SUCCESS, 0))

    judged = judge(counter(), [transition], run_batch=tlc)

    assert isinstance(judged[0].step, Failed)
    assert reason in judged[0].step.reason
    assert tlc.sizes == []


@pytest.mark.parametrize("param", [-1, "text", True, tla_set([])], ids=str)
def test_a_parameter_outside_of_the_bounds_of_next_is_refused(param: int | str | bool) -> None:
    tlc = ScriptedTlc((SUCCESS, 0))
    transition = Transition({"x": 0}, "Inc", (param,), {"x": 1})

    judged = judge(counter(), [transition], run_batch=tlc)

    assert judged[0].step == Refused()


def test_a_value_that_tlc_cannot_order_is_judged_in_a_run_of_its_own() -> None:
    mixed: State = {"x": tla_set([1, "a"])}
    transitions = [*increments(3), Transition({"x": 0}, "Inc", (1,), mixed)]
    tlc = ScriptedTlc((marks(1, 2, 3) + SUCCESS, 0), (marks(1, yes=False) + SUCCESS, 0))

    judged = judge(counter(), transitions, run_batch=tlc)

    assert kinds([one.step for one in judged]) == ["Allowed", "Allowed", "Allowed", "Refused"]
    assert tlc.sizes == [3, 1]


def test_a_state_whose_invariants_were_not_evaluated_says_so() -> None:
    tlc = ScriptedTlc((marks(1) + SUCCESS, 0))

    judged = judge(counter(("Small",)), increments(1), run_batch=tlc)

    assert judged[0].step == Allowed()
    assert judged[0].unevaluated is not None


def test_progress_is_told_after_every_batch() -> None:
    tlc = ScriptedTlc((marks(1, 2) + SUCCESS, 0))
    seen: list[tuple[int, int]] = []

    judge(
        counter(),
        increments(6),
        batch_size=2,
        run_batch=tlc,
        on_progress=lambda done, total: seen.append((done, total)),
    )

    assert seen == [(2, 6), (4, 6), (6, 6)]


# ---- with TLC ----


@pytest.mark.java
def test_every_step_of_the_table_is_allowed(mailbox: SpecUnderTest) -> None:
    steps = [transition_of(step) for step in all_steps(300)]

    judged = judge(mailbox, steps)

    assert {type(one.step) for one in judged} == {Allowed}
    assert {one.violated for one in judged} == {()}
    assert {one.unevaluated for one in judged} == {None}


@pytest.mark.java
def test_verdicts_on_200_corrupted_steps_agree_with_the_table(mailbox: SpecUnderTest) -> None:
    draw = random.Random(20)
    steps = [corrupted(draw.choice(all_steps(300)), draw) for _ in range(200)]
    expected: list[Judgement] = []
    for before, action, params, after in steps:
        allowed = (action, params, after) in set(steps_from(before))
        expected.append(Allowed() if allowed else Refused())

    judged = judge(mailbox, [transition_of(step) for step in steps], batch_size=120, workers=2)

    assert [one.step for one in judged] == expected
    assert expected.count(Refused()) > 150


@pytest.mark.java
def test_an_action_outside_of_next_is_refused_though_its_formula_is_true(
    mailbox: SpecUnderTest,
) -> None:
    before = state_of(((2, 0), (), 0))
    after = state_of(((0, 0), (), 0))
    node = next(iter(mailbox.reading.names & {"n1"}))

    judged = judge(mailbox, [Transition(before, "Cheat", (node,), after)])

    assert judged[0].step == Refused()


@pytest.mark.java
def test_violated_invariants_are_named_beside_the_verdict_on_the_step(
    mailbox: SpecUnderTest,
) -> None:
    crowded = state_of(((2, 1), ((0, 1), (0, 1), (1, 1)), 0))
    negative = state_of(((0, 0), (), -1))
    initial = state_of(INITIAL)

    judged = judge(
        mailbox,
        [
            Transition(None, None, (), initial),
            Transition(None, None, (), crowded),
            Transition(initial, "Receive", (), negative),
        ],
    )

    assert [one.step for one in judged] == [Allowed(), Refused(), Refused()]
    assert [one.violated for one in judged] == [(), ("Bounded",), ("TypeOK",)]


@pytest.mark.java
def test_an_unnamed_step_is_held_against_next(mailbox: SpecUnderTest) -> None:
    initial, sent = state_of(INITIAL), state_of(((1, 0), ((0, 1),), 0))

    judged = judge(
        mailbox, [Transition(initial, None, (), sent), Transition(sent, None, (), initial)]
    )

    assert [one.step for one in judged] == [Allowed(), Refused()]


@pytest.mark.java
def test_a_value_of_another_type_is_refused_although_tlc_cannot_compare_it(
    mailbox: SpecUnderTest,
) -> None:
    before, action, params, after = next(iter(all_steps(1)))
    good = transition_of((before, action, params, after))
    wrong: list[State] = [
        {**good.post, "total": "nothing"},
        {**good.post, "total": False},
        {**good.post, "queue": tla_set([1, "a"])},
    ]

    judged = judge(mailbox, [Transition(good.pre, action, good.params, post) for post in wrong])

    assert [one.step for one in judged] == [Refused(), Refused(), Refused()]


@pytest.mark.java
@pytest.mark.parametrize("action", ["Hang", "Break"])
def test_an_action_that_tlc_cannot_evaluate_is_failed_and_harms_no_other(action: str) -> None:
    spec = load_spec(SPECS / "Forever.tla")
    good = [Transition({"x": at}, "Step", (1,), {"x": at + 1}) for at in range(4)]
    bad = Transition({"x": 0}, action, (0,), {"x": 0})

    judged = judge(spec, [*good[:2], bad, *good[2:]], timeout_s=8.0)

    assert kinds([one.step for one in judged]) == ["Allowed"] * 2 + ["Failed"] + ["Allowed"] * 2


@pytest.mark.java
def test_many_steps_without_a_value_cost_no_other_step_its_answer() -> None:
    spec = load_spec(SPECS / "Shelf.tla")
    gains = (0, 5, 6, 7)
    places = [0 if at % 5 == 3 else 1 + at % 3 for at in range(400)]
    steps = [
        Transition({"x": at}, "Take", (place,), {"x": at + gains[place] + (at % 7 == 6)})
        for at, place in enumerate(places)
    ]

    judged = judge(spec, steps, second_looks=0)

    wanted = [
        "Failed" if place == 0 else "Refused" if at % 7 == 6 else "Allowed"
        for at, place in enumerate(places)
    ]
    assert kinds([one.step for one in judged]) == wanted


@pytest.mark.java
def test_many_states_in_which_an_invariant_has_no_value_are_told_from_others() -> None:
    spec = load_spec(SPECS / "Shelf.tla", invariants=["Odd"])
    steps = [Transition({"x": at}, "Take", (1,), {"x": at + 5}) for at in range(40)]

    judged = judge(spec, steps, second_looks=0)

    assert [one.unevaluated is None for one in judged] == [at < 3 for at in range(40)]
    assert kinds([one.step for one in judged]) == ["Allowed"] * 40
