"""What members of ours wrote in a mixed group, held against DLedgerInPart by `rocketproof`.

Members of DLedger's write nothing: there is what came from them, in the records of ours, and their
files, which are read at the end and put beside the records as lines of the same form.
"""

from __future__ import annotations

import os
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dledger_peer.judging import LogEntry
from rocketha.recording.record import STARTED, NodeHeader, NodeRecord, push_line
from rocketmq_peer.processes import run_program

__all__ = ["RECORDS", "Held", "hold", "write_files"]

RECORDS: Final = ".records.jsonl"
"""Behind a member's name: its file in the folder of a run's records."""

_KIND: Final = "dledger_files"
_VERDICTS: Final = {0: "conforms", 1: "diverges", 3: "undecided"}
_TIMEOUT_S: Final = 1200.0
_SHOWN: Final = 800


@dataclass(frozen=True, slots=True)
class Held:
    """What became of it."""

    verdict: str
    """conforms, diverges, undecided; not judged: the records are none of one run."""
    says: str

    @property
    def is_good(self) -> bool:
        """Tell whether all that ours did is allowed."""
        return self.verdict == "conforms"


def write_files(folder: Path, logs: Mapping[str, Sequence[LogEntry]]) -> None:
    """Write what is in the files of members that keep no records; finish the records of others.

    A line without an end is of a step that was never over. Raises: OSError
    """
    for path in folder.glob(f"*{RECORDS}"):
        data = path.read_bytes()
        path.write_bytes(data[: data.rfind(b"\n") + 1])
    for name, log in logs.items():
        path = folder / f"{name}{RECORDS}"
        if path.exists():
            continue
        header = NodeHeader(protocol="dledger", node=name, settings={"kind": _KIND})
        items = [[one.term, zlib.crc32(one.body.encode())] for one in log]
        record = NodeRecord(
            node=name,
            incarnation=1,
            sequence=0,
            at_ns=time.monotonic_ns(),
            shows_ms=0,
            event=STARTED,
            state={"log": {"kept": 0, "added": items}},
        )
        path.write_bytes(push_line(header) + push_line(record))


def hold(folder: Path) -> Held:
    """Hold the records of a run against the specification. Raises: ProcessError"""
    command = [sys.executable, "-m", "rocketproof", "records", str(folder), "--judge"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = run_program(command, folder=folder, timeout_s=_TIMEOUT_S, environment=environment)
    return Held(_VERDICTS.get(ended.code, "not judged"), ended.output.strip()[-_SHOWN:])
