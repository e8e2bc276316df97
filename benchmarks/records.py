"""What nodes wrote, each for itself, against the whole states that only the simulator sees.

`python -m benchmarks.records SEEDS PROTOCOL...`; without protocols all whose nodes write records. A
step is one of the specification, as whole states have them: both traces of a run are divided by the
same number, except where they are judged, as they have other events.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from rocketha.recording.node_log import NodeLines
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.engines import Judges, match_by_model
from rocketproof.plug import ProtocolPlug
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from rocketproof.trace_inputs import SpecChoice
from tlatrace.judgement.verdict import Conforms
from tlatrace.trace import Trace

SEEDS: Final = 40

T = TypeVar("T")


@dataclass(slots=True)
class Stopwatch:
    """Seconds of CPU of all calls."""

    seconds: float = 0.0

    def time(self, call: Callable[[], T]) -> T:
        """Make a call."""
        begin = time.process_time()
        answer = call()
        self.seconds += time.process_time() - begin
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The traces of some seeds, made in both ways, and what it took."""

    runs: int
    whole: list[Trace]
    of_records: list[Trace]
    alone: float
    """Seconds of the simulation that nobody watches."""
    observed: float
    """Of the one that is projected, whole state by whole state."""
    recorded: float
    """Of the one whose nodes write."""
    read: float
    """Of reading what they wrote, merging it, and projecting it."""
    records: int
    size: int
    """Bytes of all lines."""


def main(seeds: int = SEEDS, names: Sequence[str] = ()) -> None:
    """Print microseconds a step and an event, and the ratios to whole states."""
    for name, plug in PROTOCOLS.items():
        if plug.records is not None and (not names or name in names):
            made = make(plug, range(seeds))
            print_making(plug, made)
            print_judging(made)


def make(plug: ProtocolPlug[Any], seeds: Sequence[int]) -> Made:
    """Make the traces, the ways taking turns."""
    alone, observed, recorded, read = (Stopwatch() for _ in range(4))
    whole: list[Trace] = []
    of_records: list[Trace] = []
    records = size = 0
    plug.run(seeds[0], SimOptions())  # imports and caches are nobody's
    for seed in seeds:
        options, lines = SimOptions(), NodeLines()
        run = Scheduled(protocol=plug.name, seed=seed, options=options, schedule=UNRESTRICTED)
        alone.time(lambda: plug.observe(seed, options))  # noqa: B023 - called at once
        whole += observed.time(lambda: plug.run_scheduled(run)).traces  # noqa: B023
        recorded.time(lambda: plug.record(run, lines.write))  # noqa: B023
        of_records += read.time(lambda: plug.traces_of_records(lines.logs()))  # noqa: B023
        records += sum(len(texts) - 1 for texts in lines.lines.values())
        size += sum(len(text) for texts in lines.lines.values() for text in texts)
    return Made(
        runs=len(seeds),
        whole=whole,
        of_records=of_records,
        alone=alone.seconds,
        observed=observed.seconds,
        recorded=recorded.seconds,
        read=read.seconds,
        records=records,
        size=size,
    )


def print_making(plug: ProtocolPlug[Any], made: Made) -> None:
    """Say what a step costs until it is in a trace."""
    steps = events_of(made.whole)

    def step_us(seconds: float) -> float:
        return seconds / steps * 1e6

    whole, written = made.observed - made.alone, made.recorded - made.alone
    print(f"{plug.name}: {made.runs} runs, {steps:,} steps, {made.records:,} records")
    print(f"  simulating:                                  {step_us(made.alone):8.0f} us a step")
    print(f"  projecting whole states (baseline):          {step_us(whole):8.0f} us a step")
    print(f"  writing records, {made.size / steps:4.0f} bytes a step:         ", end="")
    print(f"{step_us(written):8.0f} us a step")
    print(f"  reading, merging and projecting them:        {step_us(made.read):8.0f} us a step")
    print(f"  ratio of records to whole states:            {(written + made.read) / whole:8.2f}")


def print_judging(made: Made) -> None:
    """Say what judging an event costs, from whole states and from records."""
    whole, of_records = judging_us(made.whole), judging_us(made.of_records)
    print(f"  judging whole states (baseline):             {whole:8.0f} us an event")
    print(f"  judging what records show:                   {of_records:8.0f} us an event")
    print(f"  ratio of records to whole states:            {of_records / whole:8.2f}")


def judging_us(traces: Sequence[Trace]) -> float:
    """Judge the traces, those of the same constants together; all must conform."""
    choice, watch = SpecChoice(), Stopwatch()
    judges = Judges(choice=choice)
    groups: dict[object, list[Trace]] = {}
    for trace in traces:
        assert trace.header is not None
        groups.setdefault(choice.key(trace.header), []).append(trace)
    for group in groups.values():
        header = group[0].header
        assert header is not None
        model = choice.model(header)
        verdicts = watch.time(lambda: match_by_model(judges, model, header, group))  # noqa: B023
        assert all(isinstance(verdict, Conforms) for verdict in verdicts), verdicts
    return watch.seconds / events_of(traces) * 1e6


def events_of(traces: Sequence[Trace]) -> int:
    """Count the events of all traces."""
    return sum(len(trace.events) for trace in traces)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS, sys.argv[2:])
