"""What adapters show in plain Python: the types of a specification say what it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum

import pytest
from hypothesis import settings

from tlatrace.errors import ModelGapError
from tlatrace.oracle import Model, load_model
from tlatrace.testing import Mismatch, check, machine
from tlatrace.testing.lockstep import Lockstep
from tlatrace.testing.moves import Moves
from tlatrace.testing.observed import values_of
from tlatrace.values import ExactString, ModelValue, Value, fcn, record, tla_set

pytestmark = pytest.mark.java

FEW = settings(max_examples=20, stateful_step_count=8, derandomize=True, database=None)

SPEC = r"""---- MODULE Commit ----
EXTENDS Naturals, Sequences
CONSTANTS RM, Nobody
VARIABLES state, messages, order, summary, unused
vars == <<state, messages, order, summary, unused>>
Init == /\ state = [r \in RM |-> "working"]
        /\ messages = {}
        /\ order = <<>>
        /\ summary = [done |-> FALSE, last |-> Nobody, at |-> 0]
        /\ unused = "none"
Prepare(r) == /\ state[r] = "working"
              /\ state' = [state EXCEPT ![r] = "prepared"]
              /\ messages' = messages \cup {[type |-> "Prepared", rm |-> r, path |-> <<1, 2>>]}
              /\ order' = Append(order, r)
              /\ summary' = [summary EXCEPT !.last = r, !.at = @ + 1]
              /\ UNCHANGED unused
Commit == /\ \A r \in RM : state[r] = "prepared"
          /\ ~summary.done
          /\ state' = [r \in RM |-> "committed"]
          /\ summary' = [summary EXCEPT !.done = TRUE]
          /\ UNCHANGED <<messages, order, unused>>
Next == (\E r \in RM : Prepare(r)) \/ Commit
====
"""
CONFIG = "INIT Init\nNEXT Next\nCONSTANT RM = {r1, r2}\nCONSTANT Nobody = Nobody\n"


class Managers:
    """A system in plain Python; with a bug the order of messages is turned."""

    def __init__(self, *, turned: bool = False) -> None:
        self.state = {"r1": "working", "r2": "working"}
        self.messages: list[dict[str, object]] = []
        self.order: list[str] = []
        self.summary: dict[str, object] = {"done": False, "last": "Nobody", "at": 0}
        self.turned = turned

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        if action == "Commit":
            self.state = dict.fromkeys(self.state, "committed")
            self.summary["done"] = True
            return
        (manager,) = params
        assert isinstance(manager, str)
        self.state[manager] = "prepared"
        self.messages.append({"type": "Prepared", "rm": manager, "path": [1, 2]})
        self.order.insert(0 if self.turned else len(self.order), manager)
        self.summary |= {"last": manager, "at": len(self.order)}

    def observe(self) -> Mapping[str, object]:
        return {
            "state": self.state,
            "messages": self.messages,
            "order": self.order,
            "summary": self.summary,
        }


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("commit")
    (folder / "Commit.tla").write_text(SPEC)
    (folder / "Commit.cfg").write_text(CONFIG)
    return load_model(folder / "Commit.tla", folder / "Commit.cfg")


def test_plain_dicts_lists_and_strings_are_compared(model: Model) -> None:
    coverage = check(machine(model, Managers), FEW)

    assert coverage.never_taken == ()
    with pytest.raises(Mismatch, match="order"):
        check(machine(model, lambda: Managers(turned=True)), FEW)


def test_the_trace_of_a_run_has_values_of_tla(model: Model) -> None:
    run = Lockstep(Moves(model), Managers())
    run.take(run.offers()[0])

    observed = run.trace.events[1].observed
    assert observed is not None
    path: Sequence[Value] = (1, 2)
    message = record({"type": "Prepared", "rm": "r1", "path": tuple(path)})
    assert observed["messages"] == tla_set([message])
    assert observed["order"] == ("r1",)


class Kind(StrEnum):
    WORKING = "working"


class Number(IntEnum):
    ONE = 1


def test_python_values_become_those_of_tla(model: Model) -> None:
    shown = values_of(
        model.reading,
        {
            "state": {"r1": Kind.WORKING, "r2": ExactString("x")},
            "messages": {("a", frozenset([1]))},
            "order": (ModelValue("r1"), True),
            "summary": {"done": {1: "a", 2: "b"}, "at": Number.ONE, "last": {(1, 2): {}}},
        },
    )

    assert shown == {
        "state": record({"r1": "working", "r2": ExactString("x")}),
        "messages": tla_set([("a", tla_set([1]))]),
        "order": (ModelValue("r1"), True),
        "summary": record({"done": ("a", "b"), "at": 1, "last": fcn([((1, 2), ())])}),
    }
    assert type(shown["state"].fields()["r1"]) is str  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        ({"unused": [1]}, "the specification does not tell whether unused is a set or a sequence"),
        ({"messages": {}}, "messages is a set, and not a dict: write a set or a list"),
        ({"messages": ()}, "messages is a set, and not a tuple: write a set or a list"),
        ({"order": [None]}, r"order\[1\] is a Python NoneType, which is no TLA"),
        ({"state": {"r1": 0.5}}, r"state\['r1'\] is a Python float"),
        ({"messages": [{"at": 1.0}]}, r"an element of messages\['at'\] is a Python float"),
        ({"order": "\ud800"}, "order: a string holds half of a surrogate pair"),
    ],
)
def test_what_may_be_several_values_or_none_is_refused(
    model: Model, observed: dict[str, object], reason: str
) -> None:
    with pytest.raises(ModelGapError, match=reason):
        values_of(model.reading, observed)
