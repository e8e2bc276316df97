"""From runs of the implementation to traces of its specification: one projection a protocol."""

from rocketproof.projection.registry import PROTOCOLS, Protocol, simulate_trace

__all__ = ["PROTOCOLS", "Protocol", "simulate_trace"]
