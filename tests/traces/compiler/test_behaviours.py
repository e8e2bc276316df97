r"""Formulas, configurations and actions of the forms that public specifications have.

Each was refused once, or answered with an error where TLC had an answer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.errors import EvaluationError, SpecError, SubsetError
from tlatrace.oracle import Model, load_model

pytestmark = pytest.mark.java


def _load(folder: Path, body: str, config: str, *, conjuncts: bool = False, **others: str) -> Model:
    for name, text in {"Spec": body, **others}.items():
        (folder / f"{name}.tla").write_text(f"---- MODULE {name} ----\n{text}\n====\n")
    (folder / "Spec.cfg").write_text(config)
    return load_model(folder / "Spec.tla", folder / "Spec.cfg", conjuncts=conjuncts)


def _graph(model: Model) -> set[tuple[str, str, str]]:
    """Return all (state, label, next state) that can be reached."""
    found: set[tuple[str, str, str]] = set()
    waiting = model.initial_states()
    seen = set(waiting)
    while waiting:
        state = waiting.pop()
        for step in model.successors(state):
            assert model.allows(None, (), state, step.post)
            found.add((repr(state), step.action, repr(step.post)))
            if step.post not in seen:
                seen.add(step.post)
                waiting.append(step.post)
    return found


def test_init_and_next_of_a_formula_need_no_names(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Naturals\nVARIABLES x, y\nStart == x = 0\nUp(n) == x' = (x + n) % 3 /\\ y' = y\n"
        "Spec == Start /\\ y \\in {1} /\\ [][\\E n \\in {1} : Up(n)]_<<x, y>> /\\ WF_x(Up(1))",
        "SPECIFICATION Spec",
    )
    assert model.initial_states() == [(0, 1)]
    assert _graph(model) == {(repr((a, 1)), "Up", repr(((a + 1) % 3, 1))) for a in range(3)}


def test_a_formula_without_steps_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"is not of the form Init /\\ \[\]\[Next\]_v"):
        _load(tmp_path, "VARIABLE x\nSpec == x = 0 /\\ <>~(x = 1)", "SPECIFICATION Spec")


def test_a_formula_may_come_from_an_instance(tmp_path: Path) -> None:
    clock = (
        "EXTENDS Naturals\nCONSTANT Top\nVARIABLE hour\nInit == hour = 0\n"
        "Tick == hour' = (hour + 1) % Top\nNext == Tick\nSpec == Init /\\ [][Next]_hour"
    )
    model = _load(
        tmp_path,
        "EXTENDS Naturals\nVARIABLE h\nINSTANCE Clock WITH hour <- h, Top <- 2",
        "SPECIFICATION Spec",
        Clock=clock,
    )
    name = "UnnamedAction"  # as TLC says: it looks for no names below a substitution
    assert _graph(model) == {("(0,)", name, "(1,)"), ("(1,)", name, "(0,)")}
    assert model.allows("Tick", (), (0,), (1,))


def test_the_actions_of_a_named_instance_are_actions(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "VARIABLE x\nI == INSTANCE Low\nInit == I!Init\nNext == I!Next",
        "INIT Init\nNEXT Next",
        conjuncts=True,
        Low="VARIABLE x\nInit == x = 0\nStep(n) == x = 0 /\\ x' = n\n"
        "Next == \\E n \\in {1} : Step(n)",
    )
    assert _graph(model) == {("(0,)", "I!Next", "(1,)")}
    assert model.allows("I!Step", (1,), (0,), (1,))
    assert not model.allows("I!Step", (2,), (0,), (2,))


def test_an_action_below_let_has_the_parameters_that_let_says(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nTo(n) == x' = n\n"
        "Next == To(0) \\/ LET one == 1 IN To(one) \\/ To(one + x)",
        "INIT Init\nNEXT Next",
    )
    for step in model.successors((1,)):
        assert model.allows(step.action, step.params, (1,), step.post)
    assert {step.params for step in model.action_successors((1,), "To")} == {(0,), (1,), (2,)}
    assert not model.allows("To", (3,), (1,), (3,))


def test_a_step_has_the_name_of_an_operator_with_arguments_that_change(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 1\n"
        "Put(n) == x' = n /\\ x < 1 /\\ y' = y\nBoth(A, n) == A /\\ y' = n\n"
        "Next == Put(y) \\/ Both(x' = 2, 3)",
        "INIT Init\nNEXT Next",
    )
    steps = {(step.action, step.params, step.post) for step in model.successors((0, 1))}
    assert steps == {("Put", (1,), (1, 1)), ("Both", (), (2, 3))}


def test_sets_of_constants_stay_constants_in_comprehensions(tmp_path: Path) -> None:
    """The names of constants were assigned in the function, so that they had no value there."""
    model = _load(
        tmp_path,
        "EXTENDS Naturals\nVARIABLE x\nSmall == {n \\in 0..9 : n < 2}\n"
        "Pairs(a) == {<<i, j>> : i \\in Small, j \\in Small \\ {a}}\n"
        "Init == x = 0\nNext == x' \\in {p[1] + p[2] : p \\in Pairs(x)}",
        "INIT Init\nNEXT Next",
    )
    assert {step.post for step in model.successors((0,))} == {(1,), (2,)}


def test_an_action_may_be_an_argument(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Naturals\nVARIABLES x, y\nInit == x = 0 /\\ y = 0\n"
        "Flip(v) == v' = 1 - v\nPut(n) == y' = n\nKeeping(A, w) == A /\\ UNCHANGED w\n"
        "Either(Op(_), n, w) == Op(n) /\\ UNCHANGED w\n"
        "Left == Keeping(Flip(x), y)\nRight == Either(Put, 1 - y, x)\nNext == Left \\/ Right",
        "INIT Init\nNEXT Next",
    )
    graph = _graph(model)
    assert len(graph) == 8
    assert ("(0, 0)", "Keeping", "(1, 0)") in graph  # the name that TLC gives it
    assert ("(0, 0)", "Either", "(0, 1)") in graph


def test_an_operator_that_primes_its_parameter_is_no_argument(tmp_path: Path) -> None:
    with pytest.raises(SubsetError, match="Flip primes a parameter"):
        _load(
            tmp_path,
            "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nFlip(v) == v' = 1 - v\n"
            "Either(Op(_), v) == Op(v)\nNext == Either(Flip, x)",
            "INIT Init\nNEXT Next",
        )


def test_the_configuration_may_name_what_one_module_has(tmp_path: Path) -> None:
    store = (
        "CONSTANT S\nVARIABLE x\nNone == CHOOSE v : v \\notin S\nNil == CHOOSE v : v \\notin S\n"
        "Init == x = None\nNext == x' \\in S \\cup {Nil}"
    )
    model = _load(
        tmp_path,
        "CONSTANTS S, none\nVARIABLE x\nI == INSTANCE Store\nInit == I!Init\n"
        "Next == x = I!None /\\ I!Next\nMCNil == none",
        "CONSTANTS S = {1} none = none None = [Store]none Nil <- [Store]MCNil stray = stray\n"
        "INIT Init\nNEXT Next",
        Store=store,
    )
    assert {source for source, _, _ in _graph(model)} == {"(none,)"}
    assert {target for _, _, target in _graph(model)} == {"(none,)", "(1,)"}


def test_a_module_knows_what_it_has_by_a_local_instance(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Naturals, Rows\nVARIABLE x\nFew == 0..1\nInit == x \\in Row\nNext == x' = 0",
        "CONSTANT Nat <- [Rows]Few\nINIT Init\nNEXT Next",
        Rows="LOCAL INSTANCE Naturals\nRow == {n \\in Nat : n < 5}",
    )
    assert set(model.initial_states()) == {(0,), (1,)}


def test_a_constant_may_stand_for_another_one(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "CONSTANTS First, l\nVARIABLE x\nInit == x = First\nNext == x' = x",
        "CONSTANTS l = l First <- l\nINIT Init\nNEXT Next",
    )
    assert repr(model.initial_states()) == "[(l,)]"


def test_a_part_of_a_definition_can_be_an_invariant(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "VARIABLE x\nInit == x \\in {0, 1}\nNext == UNCHANGED x\n"
        "Both == /\\ x = 0\n        /\\ x \\in {0, 1}\nFirst == Both!1\nSecond == Both!2",
        "INIT Init\nNEXT Next\nINVARIANTS First Second",
    )
    assert model.violated((1,)) == ("First",)


def test_a_union_of_sets_that_have_no_end_can_be_asked(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Integers\nVARIABLE x\nInit == x = <<-1>>\nNext == UNCHANGED x\n"
        'One == x \\in UNION {[1..2 -> Int], [1..1 -> Int], [{"a"} -> Nat]}\n'
        "Each == x \\in UNION {[1..n -> Int] : n \\in 0..3}\nNone == x \\in UNION {[1..1 -> Nat]}",
        "INIT Init\nNEXT Next\nINVARIANTS One Each None",
    )
    assert model.violated((((-1),),)) == ("None",)


def test_a_constant_without_a_value_says_why_where_it_is_used(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "VARIABLE x\nAny == CHOOSE v \\in {1, 2} : TRUE\nInit == x \\in {Any}\nNext == x' = x",
        "INIT Init\nNEXT Next",
    )
    with pytest.raises(EvaluationError, match="2 elements satisfy the predicate"):
        model.initial_states()


def test_what_tlc_does_in_java_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SubsetError, match="IOEnv of IOUtils is not evaluated") as caught:
        _load(
            tmp_path,
            "EXTENDS IOUtils\nVARIABLE x\nInit == x = IOEnv\nNext == x' = x",
            "INIT Init\nNEXT Next",
            IOUtils="IOEnv == CHOOSE r \\in [STRING -> STRING] : TRUE",
        )
    assert caught.value.excerpt.split("\n")[1].strip() == "^" * len("IOEnv")


def test_a_text_that_is_shown_may_be_of_any_value_that_there_is(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Naturals, Sequences, TLC\nVARIABLE x\nInit == x = 0\n"
        'Told == Assert(x = 0, "x: " \\o ToString(x)) /\\ PrintT(<<ToString(1..x)>>) /\\ x\' = 1\n'
        "Lost == PrintT(ToString(<<>>[x])) /\\ x' = 1\nNext == Told \\/ Lost",
        "INIT Init\nNEXT Next",
    )
    assert model.allows("Told", (), (0,), (1,))
    with pytest.raises(EvaluationError, match="Assert is violated"):
        model.allows("Told", (), (1,), (1,))
    with pytest.raises(EvaluationError, match="not in the domain"):
        model.allows("Lost", (), (0,), (1,))


def test_a_set_without_a_value_has_no_members_to_ask_for(tmp_path: Path) -> None:
    model = _load(
        tmp_path,
        "EXTENDS Naturals, Sequences\nVARIABLES x, y\nLost == CHOOSE s \\in {} : TRUE\n"
        "Init == x = 0 /\\ y = <<>>\nIsOk == y \\in Seq(Lost)\n"
        "Odd == {} \\subseteq Lost /\\ x' = 1 /\\ y' = y\n"
        "Far == x' = 1 /\\ y' = y /\\ ~(y' \\in [1..1 -> {x'} \\cup Lost])\n"
        "Near == x' = 1 /\\ y' = y /\\ y' \\in Seq(Seq({x'} \\cup Nat))\n"
        "Next == Odd \\/ Far \\/ Near",
        "INIT Init\nNEXT Next\nINVARIANT IsOk",
    )
    before, after = (0, ()), (1, ())
    assert model.allows("Near", (), before, after)
    for action in ("Odd", "Far"):
        with pytest.raises(EvaluationError, match="no element satisfies"):
            model.allows(action, (), before, after)
    with pytest.raises(EvaluationError, match="no element satisfies"):
        model.violated(before)
