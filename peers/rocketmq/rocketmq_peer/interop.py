"""Interoperation: all that released RocketMQ stored and said in runs, read and written by rocketha.

What lies in the stores of a run's nodes and what was captured on its wire is decoded and written
back. Binary formats must come out byte for byte; JSON is equal as values, as its members may stand
in any order. What cannot be decoded is a mismatch, whatever the decoder raised.

`interop_files` says which files, `interop_wire` which bytes of the wire, `interop_commands` which
requests and responses have codecs. What has none is passed by and counted, never called decoded.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from rocketmq_peer.interop_files import examine_files
from rocketmq_peer.interop_tally import Kind, Tally
from rocketmq_peer.interop_wire import examine_wire

__all__ = ["ASKED_FOR", "as_json", "examine", "missing"]

ASKED_FOR: Final = (
    Kind.RECORD,
    Kind.EPOCH_FILE,
    Kind.CHECKPOINT,
    Kind.IDENTITY,
    Kind.HANDSHAKE,
    Kind.HANDSHAKE_REPLY,
    Kind.TRANSFER,
    Kind.ACK,
    Kind.CONTROLLER_REQUEST,
    Kind.CONTROLLER_RESPONSE,
)
"""What every captured run of a group with controllers has, whatever befell it."""


def examine(runs: Sequence[Path]) -> Tally:
    """Decode and write back what is in the folders of these runs; counts are sums.

    Raises: PeerError for a file that is no capture; OSError
    """
    tally = Tally()
    for run in runs:
        folder = run.absolute()
        examine_files(folder, tally)
        examine_wire(folder, tally)
    return tally


def missing(tally: Tally, wanted: Collection[Kind]) -> tuple[Kind, ...]:
    """Return the wanted kinds of which nothing was met, in order."""
    return tuple(kind for kind in Kind if kind in wanted and not tally.seen(kind))


def as_json(tally: Tally, wanted: Collection[Kind]) -> dict[str, Any]:
    """Return all counts, the first mismatches, what was passed by and what is missing."""
    return {
        "kinds": {
            kind.value: {
                "decoded": count.decoded,
                "equal": count.equal,
                "not": count.mismatched,
                "compared": "values" if kind.as_values else "bytes",
            }
            for kind, count in tally.counts.items()
            if tally.seen(kind)
        },
        "mismatches": tally.mismatched,
        "first": [
            {"kind": one.kind.value, "where": one.where, "reason": one.reason}
            for one in tally.mismatches
        ],
        "passed_by": dict(sorted(tally.passed_by.items())),
        "missing": [kind.value for kind in missing(tally, wanted)],
    }
