"""Traces judged in one TLC process, against one TLC process a trace, as other tools do it."""

from __future__ import annotations

from benchmarks.stopwatch import median_seconds
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.verdict import Conforms
from tlatrace.tlc.traces import validate_traces
from tlatrace.tools.spec_root import find_spec_root

PROTOCOL = "epoch_truncation"
TRACES = 100
SINGLE = 5
"""Traces that the baseline judges; it costs the same for each."""


def main() -> None:
    """Print events a second for both, and the ratio."""
    traces = [simulate_trace(PROTOCOL, seed) for seed in range(TRACES)]
    header = traces[0].header
    assert header is not None
    module = find_spec_root() / PROTOCOL / f"{PROTOCOLS[PROTOCOL].spec}.tla"
    spec = load_spec(module, constants=header.constants)

    def judge_all() -> None:
        verdicts = validate_traces(spec, traces)
        assert all(isinstance(verdict, Conforms) for verdict in verdicts), verdicts

    def judge_one_by_one() -> None:
        for trace in traces[:SINGLE]:
            assert isinstance(validate_traces(spec, [trace])[0], Conforms)

    all_events = sum(len(trace.events) for trace in traces)
    some_events = sum(len(trace.events) for trace in traces[:SINGLE])
    batched = all_events / median_seconds(judge_all, times=3)
    single = some_events / median_seconds(judge_one_by_one, times=3)
    print(f"validation, {TRACES} traces in one TLC process: {batched:8.0f} events/s")
    print(f"validation, one TLC process a trace (baseline): {single:8.0f} events/s")
    print(f"ratio: {batched / single:.1f}")
