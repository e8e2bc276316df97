r"""The state graph that TLC writes with `-dump dot,actionlabels`.

| line                                                        | meaning                          |
|-------------------------------------------------------------|----------------------------------|
| `<fp> [label="/\\ x = 0\n...",style = filled]`              | an initial state                 |
| `<fp> [label="..."];`                                       | any other state                  |
| `<fp> -> <fp> [label="Inc",color="black",...];`             | a step of the action Inc         |
| `{rank = same; <fp>;...}`                                   | layout                           |
| `subgraph cluster_legend {...`                              | the legend, with `colorize` only |

`<fp>` is the state's fingerprint, a signed 64-bit number that means nothing outside one run. In
labels a backslash, a quote and a line end are escaped. A step is labelled with the operator at the
end of the disjunctions and `\E`s of Next; where a conjunction stands in between, with "Next".

Source: tlc2.util.DotStateWriter in TLC 2.15; later versions add attributes behind the label, and
parameters to the action (`Inc(p1)`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NewType

from tlatrace.errors import TlaTextError, ToolError
from tlatrace.tla_text import parse_state
from tlatrace.values import Value

__all__ = ["Edge", "StateGraph", "StateId", "outgoing", "parse_dot", "read_dot"]

StateId = NewType("StateId", int)
Edge = tuple[StateId, str, StateId]

_ELEMENT: Final = re.compile(
    r'(-?\d+)(?: -> (-?\d+))?(?: \[(?:label="([^"\\]*(?:\\.[^"\\]*)*)")?([^\]]*)\])?', re.ASCII
)
_ESCAPED: Final = re.compile(r"\\(.)")
_LEGEND: Final = "subgraph cluster_legend"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateGraph:
    """All states and steps that TLC found."""

    initial: tuple[StateId, ...]
    states: dict[StateId, dict[str, Value]]
    edges: list[Edge]
    """(from, action, to), each once, in TLC's order; the action is "" without `actionlabels`."""


def read_dot(path: Path) -> StateGraph:
    """Read a dot file of TLC, line by line.

    Raises:
        ToolError: unreadable, not such a file, or cut off.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            return parse_dot(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError("TLC", f"the state graph {path} cannot be read: {error}") from error


def parse_dot(lines: Iterable[str]) -> StateGraph:
    """Read the lines of a dot file of TLC.

    Raises:
        ToolError: not such a file, or cut off.
    """
    initial: dict[StateId, None] = {}
    states: dict[StateId, dict[str, Value]] = {}
    edges: dict[Edge, None] = {}
    labels: dict[str, str] = {}
    in_legend = False
    last = ""
    for number, line in enumerate(lines, start=1):
        last = line.strip() or last
        if in_legend or not (line[:1].isdigit() or line.startswith("-")):
            in_legend = in_legend or line.startswith(_LEGEND)
            continue
        match = _ELEMENT.match(line)
        if match is None:
            raise ToolError("TLC", f"line {number} of the state graph is neither state nor step")
        source, target, label, attributes = match.groups()
        start = StateId(int(source))
        if target is not None:
            action = labels.setdefault(label or "", _unescape(label or ""))
            edges[start, action, StateId(int(target))] = None
            continue
        if start not in states:
            states[start] = _state(number, label)
        if "filled" in (attributes or ""):
            initial[start] = None
    if not last.endswith("}"):
        raise ToolError("TLC", "the state graph is cut off: its last line does not close it")
    for start, _, end in edges:
        if start not in states or end not in states:
            raise ToolError("TLC", f"the state graph lacks a state of the step {start} -> {end}")
    return StateGraph(initial=tuple(initial), states=states, edges=list(edges))


def outgoing(graph: StateGraph) -> dict[StateId, list[tuple[str, StateId]]]:
    """Group the steps by the state they leave: every state -> its (action, next state) pairs."""
    steps: dict[StateId, list[tuple[str, StateId]]] = {state: [] for state in graph.states}
    for start, action, end in graph.edges:
        steps[start].append((action, end))
    return steps


def _state(number: int, label: str | None) -> dict[str, Value]:
    if label is None:
        raise ToolError("TLC", f"line {number} of the state graph is a state without a label")
    try:
        return parse_state(_unescape(label))
    except TlaTextError as error:
        raise ToolError("TLC", f"line {number} of the state graph: {error}") from error


def _unescape(label: str) -> str:
    return _ESCAPED.sub(_plain, label)


def _plain(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]
