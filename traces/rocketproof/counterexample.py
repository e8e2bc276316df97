"""Tell a counterexample of TLC in lines: each step, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator

from tlatrace.judgement.difference import brief
from tlatrace.tools.tlc import TlcRun
from tlatrace.values import Fcn, TlaSet, Value, same

__all__ = ["changes", "counterexample_lines", "indented"]


def counterexample_lines(run: TlcRun) -> Iterator[str]:
    """Yield the lines of a counterexample, none where there is none."""
    before = None
    for state in run.states:
        yield f"{state.number}: {state.action or 'initial state'}"
        if state.values is None:
            yield from [f"    {line}" for line in state.text.splitlines()]
        elif before is None:
            yield from [f"    {name} = {brief(value)}" for name, value in state.values.items()]
        else:
            for name, value in state.values.items():
                yield from [f"    {line}" for line in changes(name, before[name], value)]
        before = state.values
    if run.loop_to is not None:
        yield f"and from state {run.loop_to} again, for ever"
    if run.stutters:
        yield "and then nothing, for ever"


def indented(text: str) -> str:
    """Return lines below the one that they belong to."""
    return "\n".join([f"    {line}" for line in text.split("\n")])


def changes(path: str, old: Value, new: Value) -> Iterator[str]:
    """Yield what has changed: `votes[r1][q1] = ...`, or what a set has more (+) or less (-)."""
    if same(old, new):
        return
    match old, new:
        case TlaSet(), TlaSet():
            yield from [f"{path} - {brief(element)}" for element in old if element not in new]
            yield from [f"{path} + {brief(element)}" for element in new if element not in old]
        case Fcn(), Fcn() if [key for key, _ in old.pairs] == [key for key, _ in new.pairs]:
            for (key, was), (_, value) in zip(old.pairs, new.pairs, strict=True):
                step = f".{key}" if isinstance(key, str) else f"[{brief(key)}]"
                yield from changes(f"{path}{step}", was, value)
        case _:
            yield f"{path} = {brief(new)}"
