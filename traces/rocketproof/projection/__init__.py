"""From runs of the implementation to traces of its specification: one projection a protocol."""

from rocketproof.projection.registry import (
    PROTOCOLS,
    Protocol,
    Run,
    simulate_trace,
    simulate_traces,
    spec_sha256,
)

__all__ = ["PROTOCOLS", "Protocol", "Run", "simulate_trace", "simulate_traces", "spec_sha256"]
