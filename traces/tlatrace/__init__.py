"""The conformance toolchain: TLA+ values, traces, tools, verdicts."""

from __future__ import annotations
