"""What of a specification traces have logged: how much a verdict on them has examined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tlatrace.trace import Event, Trace
from tlatrace.values import Json

__all__ = ["Logged", "logged_in", "together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """How often each variable and each action of a specification stands in traces."""

    steps: int
    """Events; the initial state is counted only where it is all that there is."""
    variables: Mapping[str, int]
    """Each variable -> the events that show it, or a part of it."""
    actions: Mapping[str, int]
    """Each action that Next calls -> the events that name it."""
    expressions: Mapping[str, int] = field(default_factory=dict)
    """Expressions that a mapping defines -> the events that show them."""

    def text(self) -> str:
        """Say it in a few words."""
        parts = [f"{_seen(self.variables)} of {len(self.variables)} variables"]
        if self.expressions:
            shown = _seen(self.expressions)
            parts.append(f"{shown} expression{'' if shown == 1 else 's'}")
        parts.append(f"{_seen(self.actions)} of {len(self.actions)} actions logged")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Json]:
        """Return the machine's answer."""
        answer: dict[str, Json] = {
            "steps": self.steps,
            "variables": dict(self.variables),
            "actions": dict(self.actions),
        }
        if self.expressions:
            answer["expressions"] = dict(self.expressions)
        return answer


def _seen(counts: Mapping[str, int]) -> int:
    return sum(count > 0 for count in counts.values())


def logged_in(traces: Iterable[Trace], variables: Iterable[str], actions: Iterable[str]) -> Logged:
    """Count what traces show of the variables of a specification and of the actions of its Next."""
    shown: Counter[str] = Counter()
    named: Counter[str | None] = Counter()
    expressions: dict[str, None] = {}
    steps = 0
    for trace in traces:
        if trace.header is not None:
            expressions.update(dict.fromkeys(trace.header.expressions))
        events = trace.events[1:] or trace.events
        steps += len(events)
        for event in events:
            shown.update(_shown_by(event))
            named[event.action] += 1
    return Logged(
        steps=steps,
        variables={name: shown[name] for name in sorted(variables)},
        actions={name: named[name] for name in sorted(actions)},
        expressions={name: shown[name] for name in sorted(expressions)},
    )


def together(parts: Sequence[Logged]) -> Logged:
    """Add up what several traces of one specification have logged; there is at least one."""
    return Logged(
        steps=sum(part.steps for part in parts),
        variables=_sums([part.variables for part in parts]),
        actions=_sums([part.actions for part in parts]),
        expressions=_sums([part.expressions for part in parts]),
    )


def _sums(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(part.get(name, 0) for part in parts) for name in parts[0]}


def _shown_by(event: Event) -> list[str]:
    """Name what an event says anything of, before or after its step, each once."""
    if event.state is not None:
        return list(event.state)
    clues = event.clues
    parts = (*event.parts, *clues.expressions, *clues.before, *clues.earlier)
    names = [*(event.observed or {}), *[part.variable for part in parts]]
    names += [change.variable for change in clues.changes]
    return list(dict.fromkeys(names))
