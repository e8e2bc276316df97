"""Ask TLC for the states that may follow a given one.

TLC searches from the given state with the specification's Next, or with one action, and an action
constraint refuses every step that is not the first. Its dump of the graph has the answer, each step
with the name of its action.

A quantifier over Nat cannot be enumerated. For a survey of all successors Nat is then 0..n, with n
a little above the largest number in the state; the answer says so.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError, TlatraceError
from tlatrace.judgement.specification import PREFIX, SpecUnderTest
from tlatrace.judgement.transition import Allowed, Refused, Transition
from tlatrace.tlc.pack import Packer
from tlatrace.tlc.state_graph import read_dot
from tlatrace.tools.tlc import QUICK_JVM_ARGS, Outcome, run_tlc
from tlatrace.values import Fcn, State, TlaSet, Value, canonical_state

__all__ = ["Successor", "Survey", "action_successors", "initial_states", "second_look", "survey"]

_MODULE: Final = f"{PREFIX}Step"
_DATA: Final = f"{PREFIX}StepData"
_NAT_ABOVE: Final = 2
_NAT_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class Successor:
    """A state that may follow, and the action that leads there ("" where TLC does not tell)."""

    action: str
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """All successors of a state."""

    successors: tuple[Successor, ...]
    nat_up_to: int | None
    """Parameters were tried up to this number only; None: all of them."""


def survey(spec: SpecUnderTest, state: State, *, timeout_s: float) -> Survey:
    """Find all successors of a state under Next, with the names of their actions.

    Raises:
        SpecError: TLC cannot evaluate Next in this state.
        ModelGapError: TLC has no such state.
        ToolError: no Java, no jar, a crash, or a timeout.
    """
    assigned = {line.split()[0] for line in spec.constants}
    nat = None
    if "Nat" in spec.declarations.operators and "Nat" not in assigned:
        numbers = [_largest(value) for value in state.values()]
        nat = min(max(numbers, default=0) + _NAT_ABOVE, _NAT_MAX)
    return Survey(
        successors=_run(spec, state, spec.next, (), nat, timeout_s),
        nat_up_to=nat,
    )


def action_successors(
    spec: SpecUnderTest, state: State, action: str, params: Sequence[Value], *, timeout_s: float
) -> tuple[Successor, ...]:
    """Find all successors of a state under one action with these parameters.

    Raises: as `survey`.
    """
    return _run(spec, state, action, tuple(params), None, timeout_s)


def initial_states(spec: SpecUnderTest, *, timeout_s: float) -> tuple[State, ...]:
    """Find all initial states.

    Raises: as `survey`.
    """
    return tuple([found.state for found in _run(spec, None, spec.next, (), None, timeout_s)])


def second_look(
    spec: SpecUnderTest, transition: Transition, *, timeout_s: float
) -> Allowed | Refused | None:
    """Judge a step that TLC could not evaluate by what is allowed instead; None if unknown.

    TLC refuses to compare values of different types, such as 1 and "a", and to enumerate Nat in a
    predicate. A list of the allowed states needs no such comparison, and for Next it may be cut off
    and still hold the claimed state.
    """
    complete = True
    box = spec.box if transition.action is None else None
    if box is not None and transition.pre is not None:
        if canonical_state(transition.pre) == canonical_state(transition.post):
            return Allowed()
        complete = box.is_whole
    try:
        if transition.pre is None:
            allowed = list(initial_states(spec, timeout_s=timeout_s))
        elif transition.action is None:
            found = survey(spec, transition.pre, timeout_s=timeout_s)
            complete = complete and found.nat_up_to is None
            allowed = [successor.state for successor in found.successors]
        else:
            successors = action_successors(
                spec, transition.pre, transition.action, transition.params, timeout_s=timeout_s
            )
            allowed = [successor.state for successor in successors]
        if canonical_state(transition.post) not in {canonical_state(state) for state in allowed}:
            return Refused() if complete else None
    except TlatraceError:
        return None
    # An action's own list says nothing of the bounds that Next puts on the parameters.
    return Allowed() if transition.pre is None or transition.action is None else None


def _run(
    spec: SpecUnderTest,
    state: State | None,
    action: str,
    params: tuple[Value, ...],
    nat: int | None,
    timeout_s: float,
) -> tuple[Successor, ...]:
    """Search one step; without a state, search the initial states."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-step-") as name:
        folder = Path(name)
        module, config = _write(spec, state, action, params, nat, folder)
        dump = folder / "step.dot"
        run = run_tlc(
            module,
            config,
            timeout_s=timeout_s,
            libraries=(spec.module.parent, *spec.libraries),
            extra_args=("-dump", "dot,actionlabels", str(dump)),
            jvm_args=QUICK_JVM_ARGS,
        )
        if run.outcome is not Outcome.SUCCESS:
            text = " ".join(run.message.split()) or run.outcome.value
            raise SpecError(spec.module, f"TLC cannot list the next states: {text[:400]}")
        graph = read_dot(dump)
    if state is None:
        return tuple([Successor("", graph.states[at]) for at in graph.initial])
    return tuple(
        [
            Successor("" if label == f"{PREFIX}Next" else label.split("(")[0], graph.states[end])
            for start, label, end in graph.edges
            if start in graph.initial
        ]
    )


def _write(
    spec: SpecUnderTest,
    state: State | None,
    action: str,
    params: tuple[Value, ...],
    nat: int | None,
    folder: Path,
) -> tuple[Path, Path]:
    pack = Packer(PREFIX)
    for value in params:
        pack.add(pack.intern(value))
    for name in spec.variables if state is not None else ():
        assert state is not None
        pack.add(pack.intern(state[name]))
    values = f"{PREFIX}Values"
    models = pack.model_values
    data = [
        f"---- MODULE {_DATA} ----",
        *[f"LOCAL INSTANCE {library}" for library in ("Integers", "Sequences", "TLC")],
        f"CONSTANTS {', '.join(models)}" if models else "",
        pack.text(values),
        f'{PREFIX}First == TLCGet("level") = 1',
        f"{PREFIX}Nat == 0..{nat or 0}",
        "====\n",
    ]
    arguments = [f"{values}[{at}]" for at in range(1, len(params) + 1)]
    idle = f"FALSE /\\ UNCHANGED <<{', '.join(spec.variables)}>>"
    known = spec.declarations.operators.get(action)
    call = action if known is None else known.call(action, arguments)
    assigned = [
        f"  /\\ {name} = {values}[{at}]" for at, name in enumerate(spec.variables, len(params) + 1)
    ]
    root = [
        f"---- MODULE {_MODULE} ----",
        f"EXTENDS {spec.declarations.module}, {_DATA}",
        *spec.definitions,
        f"{PREFIX}Init ==",
        *(assigned if state is not None else [f"  {spec.init}"]),
        f"{PREFIX}Next == {call if state is not None else idle}",
        "====\n",
    ]
    config = [
        f"INIT {PREFIX}Init",
        f"NEXT {PREFIX}Next",
        f"ACTION_CONSTRAINT {PREFIX}First",
        "CONSTANTS" if spec.constants or models or nat is not None else "",
        *[f"  {line}" for line in spec.constants],
        *[f"  {constant} = {model}" for constant, model in models.items()],
        f"  Nat <- {PREFIX}Nat" if nat is not None else "",
        "",
    ]
    (folder / f"{_DATA}.tla").write_text("\n".join(data), "utf-8")
    module_path, config_path = folder / f"{_MODULE}.tla", folder / f"{_MODULE}.cfg"
    module_path.write_text("\n".join(root), "utf-8")
    config_path.write_text("\n".join(config), "utf-8")
    return module_path, config_path


def _largest(value: Value) -> int:
    """Return the largest number inside a value, 0 if there is none."""
    match value:
        case bool() | str():
            return 0
        case int():
            return value
        case tuple() | TlaSet():
            return max([_largest(element) for element in value], default=0)
        case Fcn():
            return max([_largest(part) for pair in value.pairs for part in pair], default=0)
        case _:
            return 0
