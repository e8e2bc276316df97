"""Compare the whole state graph of a model with the one that TLC writes.

Compared are the initial states, the distinct states, the depth, and the set of all labelled steps
(state, action, next state). TLC runs without symmetry and view, which merge states, and without
invariants and properties, which add nothing to the graph.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from tlatrace.errors import ToolError
from tlatrace.explore import Exploration, ModelState
from tlatrace.selfcheck.agreement import Agreement, Disagreement, state_text
from tlatrace.selfcheck.subjects import Subject
from tlatrace.tlc.state_graph import StateGraph, read_dot
from tlatrace.tools.tlc import Outcome, run_tlc
from tlatrace.tools.tlc_config import without_sections
from tlatrace.values import State, canonical_state

__all__ = ["SHOWN", "TlcGraph", "compare_graphs", "tlc_graph"]

SHOWN: Final = 5
"""Disagreements of a kind that are kept; their number is always reported."""

_JVM_ARGS: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss64m", "-Xmx4g")
_DROPPED: Final = frozenset(
    {"SYMMETRY", "VIEW", "INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES"}
)

_Step = tuple[str, str, str]
_Text = TypeVar("_Text", str, tuple[str, str, str])


@dataclass(frozen=True, slots=True)
class TlcGraph:
    """A state graph with what TLC says of it as a whole."""

    graph: StateGraph
    depth: int | None


def tlc_graph(subject: Subject, *, timeout_s: float = 600.0) -> TlcGraph:
    """Let TLC write the state graph of a subject.

    Raises:
        ToolError: TLC does not finish, or there is no Java or no jar.
    """
    with tempfile.TemporaryDirectory(prefix="rocketproof-graph-") as folder:
        config, dump = Path(folder) / subject.config.name, Path(folder) / "graph.dot"
        config.write_text(without_sections(subject.config.read_text("utf-8"), _DROPPED), "utf-8")
        run = run_tlc(
            subject.module,
            config,
            timeout_s=timeout_s,
            libraries=subject.libraries,
            extra_args=("-dump", "dot,actionlabels", str(dump)),
            jvm_args=_JVM_ARGS,
        )
        if run.outcome is not Outcome.SUCCESS:
            reason = f"{subject.name}: {run.outcome.value}: {' '.join(run.message.split())[:400]}"
            raise ToolError("TLC", reason)
        graph = read_dot(dump)
    if len(graph.states) != run.distinct:
        found = f"{len(graph.states)} states in the graph of {subject.name}, not {run.distinct}"
        raise ToolError("TLC", found)
    return TlcGraph(graph, run.depth)


def compare_graphs(
    subject: str,
    tlc: TlcGraph,
    exploration: Exploration,
    show: Callable[[ModelState], State],
) -> Agreement:
    """Compare TLC's graph with the explored one; `show` gives the values of a model's state."""
    started = time.monotonic()
    graph = tlc.graph
    states = {canonical_state(state): state for state in graph.states.values()}
    text_of = {place: canonical_state(state) for place, state in graph.states.items()}
    steps = {(text_of[start], action, text_of[end]) for start, action, end in graph.edges}
    initial = {text_of[place] for place in graph.initial}

    own_states = [show(state) for state in exploration.states]
    own_texts = [canonical_state(state) for state in own_states]
    known = {**dict(zip(own_texts, own_states, strict=True)), **states}
    own_steps = {(own_texts[t.source], t.action, own_texts[t.target]) for t in exploration.steps}
    firsts = {text for text, level in zip(own_texts, exploration.levels, strict=True) if level == 1}

    def step(found: _Step) -> str:
        before, action, after = found
        return f"{state_text(known[before])}  --{action}-->  {state_text(known[after])}"

    def state(text: str) -> str:
        return state_text(known[text])

    disagreements = [
        *_numbers("states", len(states), len(own_texts)),
        *_numbers("depth", tlc.depth, exploration.depth),
        *_sets("the initial state", initial, firsts, state),
        *_sets("the state", states.keys(), own_texts, state),
        *_sets("the step", steps, own_steps, step),
    ]
    return Agreement(
        part="graphs",
        subject=subject,
        examined=len(steps & own_steps),
        facts={"states": len(states), "depth": tlc.depth or 0, "steps": len(steps)},
        disagreements=tuple(disagreements),
        seconds=time.monotonic() - started,
    )


def _numbers(what: str, tlc: int | None, model: int) -> list[Disagreement]:
    if tlc == model:
        return []
    return [Disagreement(question=f"number of {what}", tlc=str(tlc), model=str(model))]


def _sets(
    what: str, tlc: Iterable[_Text], model: Iterable[_Text], shown: Callable[[_Text], str]
) -> list[Disagreement]:
    mine, theirs = set(model), set(tlc)
    found: list[Disagreement] = []
    for absent, there, not_there in (
        (theirs - mine, "has it", "lacks it"),
        (mine - theirs, "lacks it", "has it"),
    ):
        ordered = sorted(absent)
        more = f" (one of {len(ordered)})" if len(ordered) > 1 else ""
        found += [
            Disagreement(question=f"{what} {shown(text)}{more}", tlc=there, model=not_there)
            for text in ordered[:SHOWN]
        ]
    return found
