"""What a worker calls for each seed of a corpus; it imports little, because executors import it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rocketha.sim.engine.options import SimOptions
from rocketproof.plug import spec_sha256
from rocketproof.protocols import PROTOCOLS
from tlatrace.trace import Trace

__all__ = ["SimulatedRuns", "simulated_runs"]


@dataclass(frozen=True, slots=True)
class SimulatedRuns:
    """Runs of a protocol's implementation, by their seeds; plain data."""

    protocol: str
    options: SimOptions
    spec_sha256: str | None
    """Of the text where the corpus is asked for: a worker may be far from the specifications."""

    def __call__(self, seed: int) -> Trace | tuple[Trace, ...]:
        """Simulate a seed, and give its trace, or its traces."""
        run = PROTOCOLS[self.protocol].make_traces(seed, self.options)
        if PROTOCOLS[self.protocol].traces_are is None:
            return self._of_text(run.trace)
        return tuple([self._of_text(trace) for trace in run.traces])

    def _of_text(self, trace: Trace) -> Trace:
        assert trace.header is not None, "a projection writes it"
        return replace(trace, header=replace(trace.header, spec_sha256=self.spec_sha256))


def simulated_runs(protocol: str, options: SimOptions) -> SimulatedRuns:
    """Say what runs are, with the text of the specification that is here."""
    return SimulatedRuns(protocol, options, spec_sha256(protocol, PROTOCOLS[protocol].spec))
