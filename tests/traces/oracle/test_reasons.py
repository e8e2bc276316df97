r"""Why an expression has no value is said in the words of TLA+, wherever it stands.

What Python says of it (`KeyError: 'idx'`) is of no use to somebody who has written TLA+.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import EvaluationError
from tlatrace.judgement.transition import Failed
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.checker import Checker

pytestmark = pytest.mark.java

MODULE: Final = r"""---- MODULE Reasons ----
EXTENDS Integers, Sequences, TLC
CONSTANTS a, b
VARIABLES r, q, n
Init == r = [type |-> "b"] /\ q = <<1, 2>> /\ n = 3
Act(i) == n' = i /\ UNCHANGED <<r, q>>
Maybe(x) == IF n = 4 THEN x ELSE x + 1
Next == %s
%s
====
"""
CONFIG: Final = "INIT Init\nNEXT Next\nCONSTANTS a = a b = b\n"
NO_FIELD: Final = 'the record [type |-> "b"] has no field "idx"'
NEXTS: Final = {
    r"Act(r.idx)": NO_FIELD,
    r"\E m \in {r} : Act(m.idx)": NO_FIELD,
    r"Act([r EXCEPT !.idx = 2].idx)": NO_FIELD,
    r"\E i \in 1..r.idx : Act(i)": NO_FIELD,
    r"\E i \in r.idx : Act(i)": NO_FIELD,
    r"Act(LET found == r.idx IN found)": NO_FIELD,
    r"LET found == r.idx IN Act(found)": NO_FIELD,
    r"Act(Maybe(r.idx))": NO_FIELD,
    r"IF r.idx = 1 THEN Act(1) ELSE Act(2)": NO_FIELD,
    r"Act(q[3])": "3 is not in the domain of <<1, 2>>",
    r"Act(q[a])": "a is not in the domain of <<1, 2>>",
    r"Act(r[b])": 'the record [type |-> "b"] has no field b',
    r"Act(n.idx)": "an integer is applied as a function",
    r"Act(r.type + 1)": "a string is not an integer",
    r"\E <<x, y>> \in {q, <<1>>} : Act(x)": "<<1>> is no tuple of length 2",
}
KINDS: Final = ("r", "q", "n", "{1}", "a", '"x"', "TRUE", "[x \\in {a} |-> 1]")
WRONG: Final = (
    *("%s.idx", "%s[b]", "%s[7]", "%s[r]", "%s[1][2]", "Maybe(%s.idx)", "<<%s.idx>>"),
    *("%s + r.idx", "1 - %s.idx", "%s < r", "r >= %s", "{} + %s", "%s - <<>>"),
    *("[%s EXCEPT ![b] = @.idx].idx", "LET y == %s.idx IN Maybe(y)", "{x.idx : x \\in {%s}}"),
    *("[x \\in {%s} |-> x.idx]", "[f : %s].f", "Head(%s).idx", "CHOOSE x \\in {%s} : x.idx"),
)


def load(folder: Path, next_text: str, definitions: str = "", names: Sequence[str] = ()) -> Model:
    """Compile the module."""
    (folder / "Reasons.tla").write_text(MODULE % (next_text, definitions))
    (folder / "Reasons.cfg").write_text(CONFIG)
    module, config = folder / "Reasons.tla", folder / "Reasons.cfg"
    return load_model(module, config, conjuncts=True, expressions=names, kept=False)


@pytest.mark.parametrize("next_text", NEXTS)
def test_what_has_no_value_in_next_is_said_in_words(next_text: str, tmp_path: Path) -> None:
    model = load(tmp_path, next_text)
    (state,) = model.initial_states()
    post = (1, *state[1:])
    assert model.variables[0] == "n"
    asked: list[Callable[[], object]] = [
        lambda: model.successors(state),
        lambda: model.allows(None, (), state, post),
        lambda: model.allows("Act", (1,), state, post),
        lambda: model.action_successors(state, "Act"),
        lambda: model.bound_successors(state, "Act", (1,)),
    ]

    for ask in asked:
        with pytest.raises(EvaluationError) as raised:
            ask()
        assert raised.value.reason == NEXTS[next_text]
    judged = Checker(model).step(state, "Act", "[1]", post)
    assert judged == Failed(NEXTS[next_text])


def test_no_reason_is_an_error_of_python(tmp_path: Path) -> None:
    texts = [wrong % kind for wrong in WRONG for kind in KINDS]
    names = [f"E{number}" for number in range(len(texts))]
    definitions = "\n".join([f"{name} == {text}" for name, text in zip(names, texts, strict=True)])
    model = load(tmp_path, "Act(1)", definitions, names)
    (state,) = model.initial_states()
    reasons: dict[str, str] = {}

    for name, text in zip(names, texts, strict=True):
        try:
            model.evaluate(name, state)
        except EvaluationError as error:
            reasons[text] = error.reason

    assert len(reasons) > 0.8 * len(texts)
    assert {text: why for text, why in reasons.items() if "Error" in why or "Python" in why} == {}


def test_a_prime_outside_of_a_step_is_said_in_words(tmp_path: Path) -> None:
    model = load(tmp_path, "Act(n' + 1)")
    (state,) = model.initial_states()

    with pytest.raises(EvaluationError, match="there is no step"):
        model.choices("Act", state)
