"""The state graph of the small model: every state, and the steps that the specification allows.

TLC writes the graph, without symmetry, in about half a minute; what is read from it is kept in the
user's cache, under a hash of everything that it depends on. Model values are strings here, as in
traces.

Left out are the heartbeats that a master sends although it has records to send: the specification
allows them, and no core sends any.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from tlatrace.state_graph import StateGraph, StateId, outgoing, read_dot
from tlatrace.tools.tlc import Outcome, find_jar, run_tlc
from tlatrace.values import (
    Fcn,
    ModelValue,
    State,
    TlaSet,
    Value,
    canonical_state,
    fcn,
    state_from_json,
    tla_set,
)

__all__ = [
    "CONFIG",
    "NONE",
    "Param",
    "SmallModel",
    "Step",
    "field",
    "load_small_model",
    "of_broker",
]

NONE: Final = "none"
"""The model value for "no broker", spelled as the projection does."""

Param: TypeAlias = str | int
"""A parameter of an action: a broker or a number."""

_SPEC: Final = Path(__file__).parents[2] / "spec" / "epoch_truncation"
_MODULE: Final = _SPEC / "MCEpochTruncation.tla"
CONFIG: Final = _SPEC / "MCEpochTruncation_small.cfg"
_CHECKS: Final = re.compile(r"^(SYMMETRY|INVARIANTS?|PROPERT(Y|IES))\b")
_KEYWORD: Final = re.compile(r"^[A-Z_]{4,}\b")


class Step(NamedTuple):
    """One action with its parameters, and the numbers of the states that it may lead to."""

    action: str
    params: tuple[Param, ...]
    targets: tuple[int, ...]
    changed: str
    """The variables that it changes, for a first target."""

    def __str__(self) -> str:
        return f"{self.action}({', '.join(map(str, self.params))})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallModel:
    """States by number, 0 being the initial one; a state further away has a larger number."""

    texts: list[str]
    """Canonical texts."""
    steps: list[list[Step]]
    """Steps from each state."""
    number_of: dict[str, int]
    came_by: list[tuple[int, Step] | None]
    """For each state but the first, on a shortest way: the state before it, and the step."""

    def way_to(self, number: int) -> list[Step]:
        """Return the steps of a shortest way from the initial state."""
        steps: list[Step] = []
        before = self.came_by[number]
        while before is not None:
            steps.append(before[1])
            before = self.came_by[before[0]]
        return steps[::-1]

    def state(self, number: int) -> State:
        """Return a state."""
        return state_from_json(json.loads(self.texts[number]))


def load_small_model() -> SmallModel:
    """Read the graph from the cache, or let TLC make it."""
    config = dump_config(CONFIG.read_text())
    parts = [
        find_jar().sha256.encode(),
        config.encode(),
        *(path.read_bytes() for path in sorted(_SPEC.glob("*.tla"))),
        Path(__file__).read_bytes(),
    ]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    kept = Path(base) / "rocketproof" / f"small-model-{digest[:16]}.json"
    if not kept.is_file():
        text = json.dumps(_as_json(_dump(config)))
        kept.parent.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_text(text)
        written.replace(kept)
        for older in kept.parent.glob("small-model-*.json"):
            if older != kept:
                older.unlink(missing_ok=True)
    data = json.loads(kept.read_text())
    texts = [str(text) for text in data["states"]]
    steps = [
        [Step(a, tuple(params), tuple(targets), changed) for a, params, targets, changed in found]
        for found in data["steps"]
    ]
    return SmallModel(
        texts=texts,
        steps=steps,
        number_of={text: number for number, text in enumerate(texts)},
        came_by=_shortest_ways(steps),
    )


def _shortest_ways(steps: list[list[Step]]) -> list[tuple[int, Step] | None]:
    came_by: list[tuple[int, Step] | None] = [None] * len(steps)
    for number, leaving in enumerate(steps):
        for step in leaving:
            for target in step.targets:
                if target > number and came_by[target] is None:
                    came_by[target] = number, step
    return came_by


def dump_config(config: str) -> str:
    """Drop symmetry, which would merge states, and checks, which take time; rename None."""
    lines: list[str] = []
    dropping = False
    for line in config.splitlines():
        if _KEYWORD.match(line):
            dropping = _CHECKS.match(line) is not None
        if not dropping:
            lines.append(re.sub(r"\bNone = \w+", f"None = {NONE}", line))
    return "\n".join(lines) + "\n"


def _dump(config: str) -> StateGraph:
    with tempfile.TemporaryDirectory() as folder:
        settings, graph = Path(folder) / "dump.cfg", Path(folder) / "graph.dot"
        settings.write_text(config)
        run = run_tlc(
            _MODULE, settings, extra_args=["-dump", "dot,actionlabels", str(graph)], timeout_s=300
        )
        assert run.outcome is Outcome.SUCCESS, run.message
        found = read_dot(graph)
    assert len(found.states) == run.distinct
    return found


def _as_json(graph: StateGraph) -> dict[str, object]:
    """Number the states by their distance, name the steps, and join those with equal names."""
    leaving = outgoing(graph)
    states = {number: _plain_state(state) for number, state in graph.states.items()}
    order: dict[StateId, int] = {state: number for number, state in enumerate(graph.initial)}
    queue = deque(order)
    steps: list[list[tuple[str, tuple[Param, ...], list[int], str]]] = []
    while queue:
        source = queue.popleft()
        targets: dict[tuple[str, tuple[Param, ...]], list[int]] = {}
        changed: dict[tuple[str, tuple[Param, ...]], str] = {}
        for action, target in leaving[source]:
            params = params_of(action, states[source], states[target])
            if action == "Transfer" and params[2] == 0 and _sendable(params, states[source]):
                continue
            if target not in order:
                order[target] = len(order)
                queue.append(target)
            targets.setdefault((action, params), []).append(order[target])
            changed.setdefault((action, params), _changes(states[source], states[target]))
        steps.append([(*s, found, changed[s]) for s, found in sorted(targets.items(), key=str)])
    return {"states": [canonical_state(states[state]) for state in order], "steps": steps}


def _changes(before: State, after: State) -> str:
    return " ".join(name for name in sorted(before) if before[name] != after[name])


def _sendable(params: tuple[Param, ...], state: State) -> int:
    """Return how many records a batch has that is as large as it may be."""
    master, slave, _ = params
    link = of_broker(state, "link", str(slave))
    end, at = field(field(link, "cur"), "end"), field(link, "next")
    log = of_broker(state, "log", str(master))
    assert isinstance(end, int)
    assert isinstance(at, int)
    assert isinstance(log, tuple)
    return (len(log) if end == -1 else end) - at


def _plain_state(state: State) -> State:
    return {name: _plain(value) for name, value in state.items()}


def _plain(value: Value) -> Value:
    """Make strings of model values."""
    match value:
        case ModelValue(name=name):
            return name
        case tuple():
            return tuple([_plain(element) for element in value])
        case TlaSet():
            return tla_set([_plain(element) for element in value])
        case Fcn():
            return fcn([(_plain(key), _plain(image)) for key, image in value.pairs])
        case _:
            return value


# ---- which parameters a step had ----


def of_broker(state: State, variable: str, broker: str) -> Value:
    """Return `variable[broker]`."""
    values = state[variable]
    assert isinstance(values, Fcn)
    return values[broker]


def field(value: Value, name: str) -> Value:
    """Return a field of a record."""
    assert isinstance(value, Fcn), value
    return value[name]


def params_of(action: str, before: State, after: State) -> tuple[Param, ...]:
    """Find the parameters of a step in what it changed."""
    match action:
        case "ElectMaster":
            return (_name(field(after["ctl"], "master")),)
        case "BecomeMaster" | "BecomeSlave":
            return (_changed("known", before, after),)
        case "Flush":
            return (_changed("flushed", before, after),)
        case "Restart":
            return (_changed("role", before, after),)
        case "PutMessage":
            return (_changed("log", before, after),)
        case "Crash":
            broker = _changed("inc", before, after)
            log = of_broker(after, "log", broker)
            assert isinstance(log, tuple)
            return (broker, len(log))
        case "ReceiveHandshake" | "ReceiveTransfer" | "Disconnect":
            return (_changed("link", before, after),)
        case "Handshake" | "ReceiveAck" | "Transfer":
            return _of_master(action, before, after)
        case _:
            raise AssertionError(f"the machine does not know the action {action}")


def _of_master(action: str, before: State, after: State) -> tuple[Param, ...]:
    slave = _acknowledging(after) if before == after else _changed("link", before, after)
    link = of_broker(after, "link", slave)
    ends = (_name(field(link, "peer")), slave)
    if action == "Handshake":
        return ends
    if action == "ReceiveAck":
        ack = field(link, "ack")
        assert isinstance(ack, int)
        return (*ends, ack)
    down = field(link, "down")
    assert isinstance(down, tuple)
    batch = field(down[-1], "recs")
    assert isinstance(batch, tuple)
    return (*ends, len(batch))


def _changed(variable: str, before: State, after: State) -> str:
    (broker,) = [b for b in _brokers(before) if _differs(variable, b, before, after)]
    return broker


def _differs(variable: str, broker: str, before: State, after: State) -> bool:
    return of_broker(before, variable, broker) != of_broker(after, variable, broker)


def _acknowledging(state: State) -> str:
    """Find the slave whose acknowledgement may come again; two brokers have only one."""
    (slave,) = [
        broker
        for broker in _brokers(state)
        if _name(field(of_broker(state, "link", broker), "peer")) != NONE
        and field(of_broker(state, "link", broker), "open") is True
    ]
    return slave


def _brokers(state: State) -> list[str]:
    roles = state["role"]
    assert isinstance(roles, Fcn)
    return [_name(broker) for broker, _ in roles.pairs]


def _name(value: Value) -> str:
    assert isinstance(value, str), value
    return value
