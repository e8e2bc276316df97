"""Steps judged by the compiled model, against TLC in literal batches and one TLC a trace.

The compiled model reads NDJSON text, as a corpus has it, on one core: each line is parsed, its
state decoded, its step judged, and where it says so all invariants of the state.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

import msgspec

from benchmarks.stopwatch import median_seconds
from benchmarks.tlc_loader import javac, seconds_by_loader
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from tlatrace.judgement.specification import SpecUnderTest, load_spec
from tlatrace.judgement.transition import Allowed
from tlatrace.judgement.verdict import Conforms
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.checker import Checker
from tlatrace.tlc.traces import validate_traces
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc_config import invariants_of
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import dump_trace

PROTOCOL = "epoch_truncation"
TRACES = 300
BATCHED = 100
SINGLE = 3
"""Traces of the baselines, which are slow; a trace costs the same everywhere."""


class Line(msgspec.Struct):
    """What a judge needs of a line of NDJSON."""

    params: msgspec.Raw
    state: msgspec.Raw
    action: str | None = None


def main() -> None:
    """Print steps a second on one core, and the ratios to both baselines."""
    traces = [simulate_trace(PROTOCOL, seed) for seed in range(TRACES)]
    header = traces[0].header
    assert header is not None
    folder = find_spec_root() / PROTOCOL
    module = folder / f"{PROTOCOLS[PROTOCOL].spec}.tla"
    small = folder / f"MC{PROTOCOLS[PROTOCOL].spec}_small.cfg"
    invariants = invariants_of(small.read_text("utf-8"))
    lines = [list(dump_trace(header, trace.events))[1:] for trace in traces]
    steps = sum(map(len, lines))

    started = time.perf_counter()
    model = load_model(module, constants=header.constants, invariants=invariants)
    print(f"{steps:,} steps of {TRACES} traces, {len(invariants)} invariants")
    print(f"loading the model: {time.perf_counter() - started:.2f} s")
    gc.freeze()
    gc.disable()  # as the workers of a corpus do
    plain = steps / median_seconds(_judging(model, lines, invariants=False), times=5)
    full = steps / median_seconds(_judging(model, lines, invariants=True), times=5)
    spec = load_spec(module, constants=header.constants)
    batched = _events(traces[:BATCHED]) / median_seconds(
        lambda: _by_tlc(spec, [traces[:BATCHED]]), times=1
    )
    single = _events(traces[:SINGLE]) / median_seconds(
        lambda: _by_tlc(spec, [[trace] for trace in traces[:SINGLE]]), times=3
    )
    print(f"compiled, from NDJSON, one core:             {plain:10,.0f} steps/s")
    print(f"compiled, with all invariants:               {full:10,.0f} steps/s")
    print(f"TLC, {BATCHED} traces in one process (baseline):    {batched:10,.0f} steps/s")
    print(f"TLC, one process a trace (baseline):         {single:10,.0f} steps/s")
    compiler = javac()
    loaded = 0.0
    if compiler is None:
        print("TLC with a Java loader: not measured, there is no JDK here")
    else:
        loaded = steps / seconds_by_loader(spec, traces, compiler)[0]
        print(f"TLC with a Java loader, {TRACES} traces (baseline): {loaded:7,.0f} steps/s")
    print(f"ratio to TLC in batches: {plain / batched:.0f}")
    print(f"ratio to one TLC a trace: {plain / single:.0f}")
    if loaded:
        print(f"ratio to TLC with a Java loader: {plain / loaded:.1f}")


def _judging(
    model: Model, traces: Sequence[Sequence[bytes]], *, invariants: bool
) -> Callable[[], None]:
    decode = msgspec.json.Decoder(Line).decode

    def judge() -> None:
        checker = Checker(model)
        for trace in traces:
            before = None
            for text in trace:
                line = decode(text)
                after = checker.state(str(line.state, "utf-8"))
                action: str | None = line.action if before is not None else None
                judgement = checker.step(before, action, str(line.params, "utf-8"), after)
                assert isinstance(judgement, Allowed), judgement
                if invariants:
                    violated, reason = checker.invariants(after)
                    assert not violated, violated
                    assert reason is None, reason
                before = after

    return judge


def _by_tlc(spec: SpecUnderTest, groups: Sequence[Sequence[Trace]]) -> None:
    for group in groups:
        verdicts = validate_traces(spec, group)
        assert all(isinstance(verdict, Conforms) for verdict in verdicts), verdicts


def _events(traces: Sequence[Trace]) -> int:
    return sum(len(trace.events) for trace in traces)
