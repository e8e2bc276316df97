"""Compare the compiled model with TLC on one subject, or on the corpus of expressions.

A subject is compiled and explored once; its graph is compared with TLC's, and its steps are
corrupted and judged by both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tlatrace.errors import EvaluationError, SubsetError
from tlatrace.explore import Exploration, explore
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.transition import Judged, Transition
from tlatrace.oracle import Model, ModelState, load_model
from tlatrace.oracle.checker import Checker
from tlatrace.runtime.values import RuntimeValue
from tlatrace.selfcheck.agreement import Agreement, Disagreement, Part
from tlatrace.selfcheck.corruption import Corrupted, corruptions
from tlatrace.selfcheck.differences import DIFFERENCES
from tlatrace.selfcheck.expressions import (
    EXPRESSIONS,
    ROOT,
    compare_answers,
    model_answers,
    read_corpus,
    tlc_answers,
)
from tlatrace.selfcheck.graphs import compare_graphs, tlc_graph
from tlatrace.selfcheck.subjects import Subject
from tlatrace.selfcheck.verdicts import compare_verdicts
from tlatrace.tla.config import parse_config, read_config
from tlatrace.tlc.judge import judge
from tlatrace.values import State, Value, canonical, canonical_state

__all__ = ["Effort", "examine_expressions", "examine_subject", "model_judge", "right_steps"]

_MAX_RIGHT_STEPS: Final = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much of what has no end is examined of a subject."""

    corrupted: int = 700
    """Corrupted steps."""
    failed: int = 4
    """Those among them without a value that TLC is asked about, two seconds each."""
    native: int = 2_000
    """Corrupted steps that machine code is asked about."""
    timeout_s: float = 600.0


def examine_subject(
    subject: Subject,
    *,
    parts: Collection[Part],
    effort: Effort,
    on_stage: Callable[[str], None] | None = None,
    on_corrupted: Callable[[Sequence[Corrupted]], None] | None = None,
) -> Iterator[Agreement]:
    """Compare the graphs and the verdicts on corrupted steps, as far as they are wanted.

    `on_corrupted` is given the corrupted steps, whether they are compared or not.

    Raises:
        ToolError: TLC does not finish, or there is no Java or no jar.
        SpecError: SANY or TLC refuses the subject.
    """
    wanted: tuple[Part, ...] = ("graphs", "corrupted", "native")
    tell = on_stage or (lambda _: None)
    started = time.monotonic()
    try:
        tell("compiling and exploring")
        is_native = "native" in parts
        model = load_model(
            subject.module, subject.config, libraries=subject.libraries, native=is_native
        )
        exploration = explore(model, check_invariants=False)
    except (SubsetError, EvaluationError) as error:
        yield from [_refused(subject, part, error, started) for part in wanted if part in parts]
        return
    show = _remembering(model)
    if "graphs" in parts:
        tell("TLC writes the graph")
        tlc = tlc_graph(subject, timeout_s=effort.timeout_s)
        found = compare_graphs(subject.name, tlc, exploration, show)
        yield replace(found, seconds=time.monotonic() - started)
    steps, initial = right_steps(model, exploration, show=show)
    if is_native:
        tell("asking machine code")
        yield _examine_native(subject, model, steps, initial, effort)
    if "corrupted" not in parts and on_corrupted is None:
        return
    started = time.monotonic()
    drawn = corruptions(steps, initial, count=effort.corrupted, seed=subject.name)
    if on_corrupted is not None:
        on_corrupted(drawn)
    if "corrupted" in parts:
        tell("judging corrupted steps")
        yield replace(
            _examine_corrupted(subject, model, drawn, effort), seconds=time.monotonic() - started
        )


def examine_expressions(on_stage: Callable[[str], None] | None = None) -> Agreement:
    """Compare the values of all expressions of the corpus.

    Raises:
        ToolError: TLC does not finish, or there is no Java or no jar.
        SpecError: a module of the corpus is refused, by SANY or by the compiler.
    """
    tell = on_stage or (lambda _: None)
    started = time.monotonic()
    corpus = read_corpus()
    tell("TLC evaluates")
    tlc = tlc_answers(corpus, EXPRESSIONS)
    tell("compiling and evaluating")
    names = [expression.name for expression in corpus]
    model = load_model(ROOT, parse_config("INIT Init\nNEXT Next\n", ROOT), expressions=names)

    def evaluate(name: str) -> Value:
        return model.show_value(model.evaluate(name))

    found = compare_answers(corpus, tlc, model_answers(corpus, evaluate), DIFFERENCES)
    return replace(found, seconds=time.monotonic() - started)


def model_judge(model: Model) -> Callable[[Sequence[Transition]], list[Judged]]:
    """Return the model as a judge of steps, by the same door as for corpora."""
    checker = Checker(model)

    def judged(transition: Transition) -> Judged:
        pre = transition.pre
        before = None if pre is None else checker.state(canonical_state(pre))
        after = checker.state(canonical_state(transition.post))
        step = checker.step(before, transition.action, canonical(transition.params), after)
        violated, reason = checker.invariants(after)
        return Judged(step=step, violated=violated, unevaluated=reason)

    return lambda transitions: [judged(transition) for transition in transitions]


def _remembering(model: Model) -> Callable[[ModelState], State]:
    """Return `Model.show` that makes each value once: most are those of many states."""
    shown: dict[RuntimeValue, Value] = {}

    def show_value(value: RuntimeValue) -> Value:
        if value not in shown:
            shown[value] = model.show_value(value)
        return shown[value]

    def show(state: ModelState) -> State:
        return dict(zip(model.variables, map(show_value, state), strict=True))

    return show


def right_steps(
    model: Model,
    exploration: Exploration,
    limit: int = _MAX_RIGHT_STEPS,
    show: Callable[[ModelState], State] | None = None,
) -> tuple[list[Transition], list[State]]:
    """Return up to `limit` steps of a graph, evenly chosen, and its initial states.

    They are the same ones in every run: Python's order of strings in sets, which is another one in
    every process, decides in which order the graph was found. A step whose label no trace may
    name, or that TLC could not be asked about by name, is a step of Next.
    """
    states = list(map(show or model.show, exploration.states))
    texts = [canonical_state(state) for state in states]
    shown: dict[tuple[RuntimeValue, ...], tuple[Value, ...]] = {}
    for step in exploration.steps:
        if step.params not in shown:
            shown[step.params] = tuple([model.show_value(param) for param in step.params])
    params = {known: canonical(values) for known, values in shown.items()}
    ordered = sorted(
        exploration.steps,
        key=lambda step: (texts[step.source], step.action, params[step.params], texts[step.target]),
    )
    steps: list[Transition] = []
    for step in ordered[:: max(1, -(-len(ordered) // limit))]:
        values = shown[step.params]
        nameable = model.actions.get(step.action) == len(values)
        if not nameable or (values and "!" in step.action):
            steps.append(Transition(states[step.source], None, (), states[step.target]))
        else:
            steps.append(Transition(states[step.source], step.action, values, states[step.target]))
    initial = [at for at, level in enumerate(exploration.levels) if level == 1]
    return steps, [states[at] for at in sorted(initial, key=texts.__getitem__)]


def _examine_corrupted(
    subject: Subject, model: Model, drawn: Sequence[Corrupted], effort: Effort
) -> Agreement:
    spec = load_spec(
        subject.module, config=read_config(subject.config), libraries=subject.libraries
    )

    def tlc(transitions: Sequence[Transition]) -> list[Judged]:
        # Without second looks: a step that TLC cannot evaluate is to have no value here, either.
        return judge(spec, transitions, timeout_s=effort.timeout_s, second_looks=0)

    return compare_verdicts(
        subject.name, drawn, tlc=tlc, model=model_judge(model), max_failed=effort.failed
    )


def _examine_native(
    subject: Subject,
    model: Model,
    steps: Sequence[Transition],
    initial: Sequence[State],
    effort: Effort,
) -> Agreement:
    from tlatrace.selfcheck.native import compare_native, opened  # here: LLVM is an extra

    drawn = corruptions(steps, initial, count=effort.native, seed=f"native {subject.name}")
    others = [item.transition for item in drawn]
    return compare_native(subject.name, model, opened(model), steps, others)


def _refused(
    subject: Subject, part: Part, error: SubsetError | EvaluationError, started: float
) -> Agreement:
    return Agreement(
        part=part,
        subject=subject.name,
        examined=0,
        facts={},
        disagreements=(
            Disagreement(question="the specification", tlc="accepts it", model=str(error)),
        ),
        seconds=time.monotonic() - started,
    )
