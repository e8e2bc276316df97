"""What is found in runs of a real system, and how often: divergences, and broken promises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocketproof.peer_runs import JudgedRun
from tlatrace.judgement.verdict import Conforms, Diverges, kind

__all__ = ["Find", "finds_of", "totals"]


@dataclass(frozen=True, slots=True)
class Find:
    """What was found, as far as a repeated run can be compared with it."""

    protocol: str | None
    """Whose specification the run diverges from; None: clients saw it."""
    action: str | None
    """The action at which it diverges."""
    names: tuple[str, ...]
    """The known bugs that explain it; none: it is new, or several are at work."""

    def __str__(self) -> str:
        what = f"{self.protocol} at {self.action}" if self.protocol else "a promise is broken"
        return f"{what}: {' or '.join(self.names) or 'NEW'}"


def finds_of(judged: JudgedRun) -> tuple[Find, ...]:
    """Name what a run shows; a loss is a find of its own where no trace shows one."""
    finds = [
        Find(one.protocol, one.result.outcome.action, one.explained_by)
        for one in judged.traces
        if isinstance(one.result.outcome, Diverges)
    ]
    if judged.run.broken and not finds:
        finds.append(Find(None, None, ()))
    return tuple(finds)


def totals(judged: Sequence[JudgedRun]) -> Iterator[str]:
    """Say what runs came to together, the most frequent finds first.

    A trace that diverges was examined up to that step.
    """
    verdicts = Counter(kind(one.verdict) for one in judged)
    said = ", ".join(f"{count} {name}" for name, count in sorted(verdicts.items()))
    steps = sum(_examined(one) for one in judged)
    troubles = sum(1 for one in judged if one.run.trouble is not None)
    yield f"{len(judged)} runs, {steps:,} steps examined: {said}; {troubles} came to no end"
    finds = Counter(str(find) for one in judged for find in finds_of(one))
    for find, count in sorted(finds.items(), key=lambda item: (-item[1], item[0])):
        yield f"  {count} x {find}"


def _examined(run: JudgedRun) -> int:
    outcomes = [one.result.outcome for one in run.traces]
    conforming = sum(one.events for one in outcomes if isinstance(one, Conforms))
    return conforming + sum(one.step for one in outcomes if isinstance(one, Diverges))
