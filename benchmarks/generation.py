"""What a step of a corpus costs until it is written, against the simulation that nobody watches.

`python -m benchmarks.generation SEEDS PROTOCOL...`; without protocols all. Seconds are of the CPU,
and all ways take turns. What runs leave behind is collected outside of the clock, and the files of
a part are closed once for all seeds.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from benchmarks.records import Stopwatch
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketproof.corpus_runs import simulated_runs
from rocketproof.protocols import PROTOCOLS
from tlatrace.corpus.processes import quiet_collector
from tlatrace.corpus.schema import CHUNK_STEPS
from tlatrace.corpus.writer import PartWriter
from tlatrace.trace import Trace

SEEDS: Final = 40
_HOUR: Final = 3600


@dataclass(slots=True)
class Costs:
    """What it took to make some seeds of a protocol."""

    runs: int
    steps: int = 0
    alone: Stopwatch = field(default_factory=Stopwatch)
    """Of the simulation that nobody watches, and whose nodes write nothing."""
    traces: Stopwatch = field(default_factory=Stopwatch)
    """Of the one that is projected."""
    rows: Stopwatch = field(default_factory=Stopwatch)
    """Of writing traces into a part of a corpus."""
    judged: Stopwatch = field(default_factory=Stopwatch)
    """Of the one whose nodes write, too, and are held against what they owe."""


def main(seeds: int = SEEDS, names: Sequence[str] = ()) -> None:
    """Print microseconds a step, ratios to the simulation alone, and seeds an hour."""
    for name, plug in PROTOCOLS.items():
        if plug.has_traces and (not names or name in names):
            show(name, make(name, range(seeds)))


def make(name: str, seeds: Sequence[int]) -> Costs:
    """Make a part of a corpus, and the same runs in the other ways."""
    plug, options, costs = PROTOCOLS[name], SimOptions(), Costs(len(seeds))
    traces_of, unwatched = simulated_runs(name, options), replace(plug.simulation, obligations=())
    _warm_up(name)
    with tempfile.TemporaryDirectory() as folder, quiet_collector():
        writer = PartWriter(Path(folder), "c", 0, CHUNK_STEPS)
        for seed in seeds:
            costs.alone.time(
                lambda: simulate(unwatched, seed, options, unwatched.unobserved())  # noqa: B023
            )
            made = costs.traces.time(lambda: traces_of(seed))  # noqa: B023 - called at once
            for trace in (made,) if isinstance(made, Trace) else made:
                costs.rows.time(lambda: writer.add(str(seed), seed, trace))  # noqa: B023
                costs.steps += len(trace.events)
            costs.judged.time(lambda: plug.run(seed, options))  # noqa: B023
            gc.collect()
        costs.rows.time(writer.close)
    return costs


def _warm_up(name: str) -> None:
    """Let imports and caches be nobody's."""
    run = PROTOCOLS[name].run(0, SimOptions())
    with tempfile.TemporaryDirectory() as folder:
        writer = PartWriter(Path(folder), "c", 0, CHUNK_STEPS)
        writer.add("0", 0, run.trace)
        writer.close()


def show(name: str, costs: Costs) -> None:
    """Say what a step costs."""

    def step_us(seconds: float) -> str:
        return f"{seconds / costs.steps * 1e6:8.0f} us a step"

    alone, traces, rows = costs.alone.seconds, costs.traces.seconds, costs.rows.seconds
    whole = traces + rows
    print(f"{name}: {costs.runs} runs, {costs.steps:,} steps")
    print(f"  simulating (baseline):                       {step_us(alone)}")
    print(f"  projecting whole states:                     {step_us(traces - alone)}")
    print(f"  texts and files of a corpus:                 {step_us(rows)}")
    print(f"  generating:                                  {step_us(whole)}")
    print(f"  ratio of generating to simulating:           {whole / alone:8.2f}")
    print(f"  seeds an hour and core:                      {costs.runs / whole * _HOUR:8,.0f}")
    owed = costs.judged.seconds - traces
    print(f"  where runs are judged, records and dues:     {step_us(owed)} more")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS, sys.argv[2:])
