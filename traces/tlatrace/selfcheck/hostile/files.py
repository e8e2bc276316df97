"""Changed trace files, NDJSON and ITF: refused by one typed error, or read as what they say.

What is taken must be JSON for another parser, too, and be read back equal when it is written.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from tlatrace.errors import TlatraceError, TraceFormatError, ValueFormatError
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.selfcheck.hostile.changes import change_bytes, change_text
from tlatrace.selfcheck.hostile.material import draw_state, draw_value
from tlatrace.selfcheck.hostile.shrink import shrink
from tlatrace.trace import INIT, Event, Header, Implementation, Part, Silent, Trace
from tlatrace.trace.itf import itf_text, read_itf, write_itf
from tlatrace.trace.ndjson import dump_trace, read_trace, write_trace

__all__ = ["check_files"]

_CHANGED: Final = 20
"""Changes of one file."""
_MOST: Final = 5
_MEMORY: Final = Path("/dev/shm")
_ALIKE: Final = 12
"""Characters of what was expected, by which a finding that is made small stays the same."""
_DECODE: Final = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    kind: str
    """How its name ends."""


def check_files(cases: int, seed: int, tell: Callable[[str], None]) -> Agreement:
    """Change `cases` trace files and read them."""
    began = time.monotonic()
    draw = Random(f"files {seed}")
    counts: Counter[str] = Counter()
    found: list[Disagreement] = []
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="rocketproof-hostile-", dir=place) as scratch:
        folder = Path(scratch)
        while counts["files"] < cases and len(found) < _MOST:
            if counts["files"] % (50 * _CHANGED) == 0:
                tell(f"{counts['files']:,} of {cases:,} trace files")
            good = _draw_file(draw)
            assert _wrong(folder, good, counts) is None, good
            for _ in range(min(_CHANGED, cases - counts["files"])):
                changed = _File(_changed(draw, good), good.kind)
                counts["files"] += 1
                wrong = _wrong(folder, changed, counts)
                if wrong is not None:
                    found.append(_finding(folder, changed, wrong))
    return Agreement(
        part="hostile",
        subject="trace files",
        examined=counts.pop("files"),
        facts=dict(sorted(counts.items())),
        disagreements=tuple(found),
        seconds=time.monotonic() - began,
    )


def _draw_file(draw: Random) -> _File:
    trace = _draw_trace(draw)
    if draw.random() < 0.3:
        return _File(itf_text(trace).encode(), ".itf.json")
    assert trace.header is not None, "it is drawn with one"
    data = b"".join(dump_trace(trace.header, trace.events))
    if draw.random() < 0.1:
        return _File(gzip.compress(data, mtime=0), ".ndjson.gz")
    return _File(data, ".ndjson")


def _draw_trace(draw: Random) -> Trace:
    """Draw a short trace with every field of the format."""
    header = Header(
        spec="Anything",
        spec_sha256=draw.choice([None, "0" * 64]),
        constants={"n1": draw_value(draw, 1)},
        seed=draw.choice([None, 7]),
        implementation=draw.choice([None, Implementation(name="é", version="1")]),
        meta={"faults": ["lost", 1.5, None, {"x": True}]},
        silent=draw.choice([None, Silent(actions=("Swap",), most=draw.choice([None, 3]))]),
    )
    events = [Event(step=0, action=INIT, state=draw_state(draw, 0))]
    for step in range(1, draw.randrange(1, 5)):
        state = draw_state(draw, step)
        event = Event(step=step, action="Count", params=(draw_value(draw, 1),), clock=step)
        match draw.randrange(4):
            case 0:
                event = replace(event, observed={"left": state["left"]}, node="n")
            case 1:
                parts = (Part(variable="right", at=(draw_value(draw, 1),), value=state["right"]),)
                event = replace(event, parts=parts)
            case 2:
                event = replace(event, params=(), known_params=(None, draw_value(draw, 1)))
            case _:
                event = replace(event, state=state)
        events.append(event)
    return Trace(header=header, events=tuple(events))


def _changed(draw: Random, file: _File) -> bytes:
    if draw.random() < 0.4 or file.kind == ".ndjson.gz":
        return change_bytes(draw, file.data)
    lines = file.data.decode().split("\n")
    at = draw.randrange(len(lines))
    lines[at] = change_text(draw, lines[at])
    return "\n".join(lines).encode("utf-8", "surrogatepass" if draw.random() < 0.5 else "replace")


# ---- what must hold ----


def _wrong(folder: Path, file: _File, counts: Counter[str]) -> tuple[str, str] | None:
    """Return what was expected of a file and what was seen, if that is something else."""
    path = folder / f"trace{file.kind}"
    path.write_bytes(file.data)
    is_itf = file.kind == ".itf.json"
    try:
        trace = read_itf(path) if is_itf else read_trace(path)
    except TraceFormatError as error:
        counts["refused"] += 1
        str(error)
        return None
    except Exception as error:
        return "a TraceFormatError", f"{type(error).__name__}: {error}"
    counts["taken"] += 1
    if file.kind != ".ndjson.gz":
        texts = [file.data] if is_itf else [line for line in file.data.split(b"\n") if line.strip()]
        for text in texts:
            try:
                _DECODE(text)
            except ValueError as error:
                if "out of range" not in str(error):
                    return f"plain: no JSON: {error}", "it is read"
    return _written_again(folder, trace)


def _written_again(folder: Path, trace: Trace) -> tuple[str, str] | None:
    """Write what was read, in both formats, and read it again."""
    if trace.header is None:
        return None  # an empty file
    trace = replace(trace, header=replace(trace.header, ignored=()))
    try:
        write_trace(folder / "again.ndjson", trace)
        found = [read_trace(folder / "again.ndjson")]
    except TlatraceError as error:
        return "it can be written", str(error)
    try:
        write_itf(folder / "again.itf.json", trace)
    except ValueFormatError:
        pass  # ITF has no model value that is no identifier
    else:
        found.append(read_itf(folder / "again.itf.json"))
    for again in found:
        if _lines(again) != _lines(trace):
            return f"what was written is {trace}", f"it is read as {again}"
    return None


def _lines(trace: Trace) -> list[bytes]:
    return [] if trace.header is None else list(dump_trace(trace.header, trace.events))


def _finding(folder: Path, file: _File, wrong: tuple[str, str]) -> Disagreement:
    """Make the file small."""

    def still(files: Sequence[_File]) -> bool:
        now = _wrong(folder, files[0], Counter())
        return now is not None and now[0][:_ALIKE] == wrong[0][:_ALIKE]

    (small,) = shrink(
        [file],
        still,
        lambda item: item.data.decode("latin-1"),
        lambda item, data: _File(data.encode("latin-1"), item.kind),
    )
    expected, seen = _wrong(folder, small, Counter()) or wrong
    return Disagreement(question=f"{small.kind}: {small.data!r}", tlc=expected, model=seen)
