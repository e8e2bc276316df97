"""A toy protocol: a recorder of `specs/Toy.tla`, and a checker of it in Python; all picklable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tlatrace.corpus.checker import Checker
from tlatrace.corpus.fingerprint import digest
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.result import CorpusResult
from tlatrace.corpus.schema import SCANNED, STEPS_SCHEMA
from tlatrace.corpus.validate import Driver, Subject, validate_corpus
from tlatrace.errors import ValueFormatError
from tlatrace.judgement.specification import SpecUnderTest, load_spec
from tlatrace.judgement.transition import Allowed, Failed, Judged, Judgement, Refused, Transition
from tlatrace.trace import Event, Header, Trace
from tlatrace.values import Json, canonical, canonical_state

SPEC: Final = Path(__file__).with_name("specs") / "Toy.tla"
MAX: Final = 60
STEPS: Final = 12
HEADER: Final = Header(spec="Toy", constants={"Max": MAX}, meta={"faults": {"jump": 2}})


def record(seed: int, steps: int = STEPS) -> Trace:
    """Record one run: the same seed, the same trace."""
    rng = Random(seed)
    x = 0
    events = [event(0, "Init", 0, "none")]
    for step in range(1, steps):
        if rng.random() < 0.7:
            x += 1
            events.append(event(step, "Up", x, "up"))
        else:
            n = rng.randrange(2, 6)
            x += n
            events.append(event(step, "Jump", x, "jump", n))
    faults: dict[str, Json] = {"jump": sum(e.action == "Jump" for e in events), "none": 0}
    header = Header(spec="Toy", constants={"Max": MAX}, seed=seed, meta={"faults": faults})
    return Trace(header=header, events=tuple(events))


def record_badly(seed: int) -> Trace:
    """Record as `record`, but every third seed has a wrong step 5, every tenth no trace."""
    if seed % 10 == 9:
        raise RuntimeError(f"seed {seed} went wrong")
    trace = record(seed)
    if seed % 3:
        return trace
    wrong = Event(step=5, action="Up", params=(), state={"x": -7, "last": "up"})
    return Trace(header=trace.header, events=(*trace.events[:5], wrong, *trace.events[6:]))


def event(step: int, action: str, x: int, last: str, *params: int) -> Event:
    """Make an event with its whole state."""
    return Event(step=step, action=action, params=params, state={"x": x, "last": last}, node="n1")


# ---- the model ----

ToyState = tuple[str, int]


@dataclass(slots=True)
class ToyChecker:
    """Judges as the compiled model would; `fails_at` is a number that it cannot judge."""

    fails_at: int | None = None
    forgives: int | None = None
    """A number that may always follow: a wrong model."""
    max: int = MAX
    asked: list[tuple[str | None, str]] = field(default_factory=list)
    """(action, params) of the steps that it was asked about."""

    def state(self, text: str, /) -> object:
        try:
            data = json.loads(text)
        except ValueError:
            raise ValueFormatError("a state cannot be read") from None
        if text != json.dumps(data, sort_keys=True, separators=(",", ":")):
            raise ValueFormatError("a state is not written canonically")
        return data["last"], data["x"]

    def step(
        self, pre: object | None, action: str | None, params: str, post: object, /
    ) -> Judgement:
        self.asked.append((action, params))
        last, x = _known(post)
        if x == self.fails_at:
            return Failed("cannot judge this")
        allowed = x == self.forgives or _allowed(pre, action, json.loads(params), last, x)
        return Allowed() if allowed else Refused()

    def invariants(self, state: object, /) -> tuple[tuple[str, ...], str | None]:
        return (("Low",) if _known(state)[1] > self.max else ()), None


def _known(state: object) -> ToyState:
    assert isinstance(state, tuple)
    last, x = state
    return last, x


def _allowed(pre: object | None, action: str | None, params: list[int], last: str, x: int) -> bool:
    if pre is None:
        return x == 0 and last == "none"
    before = _known(pre)[1]
    match action, params:
        case "Up", []:
            return x == before + 1 and last == "up"
        case "Jump", [int(n)]:
            return 2 <= n <= 9 and x == before + n and last == "jump"
        case _:
            return False


@dataclass(frozen=True, slots=True)
class ToySource:
    """Opens the checker in a worker."""

    fails_at: int | None = None
    forgives: int | None = None
    max: int = MAX

    def open(self) -> Checker[object]:
        return ToyChecker(self.fails_at, self.forgives, self.max)


def toy_subject(source: ToySource | None = None) -> Subject:
    """Describe the model without asking SANY."""
    chosen = source or ToySource()
    actions = ("Up", "Jump", "Never")
    fingerprint = digest(repr(chosen)).hex()
    return Subject(
        module="Toy",
        fingerprint=fingerprint,
        source=chosen,
        actions=actions,
        variables=("x", "last"),
    )


def judge(
    folder: Path, source: ToySource | None = None, driver: Driver | None = None, **more: object
) -> CorpusResult:
    """Judge a corpus of the toy, in this process if no driver is given."""
    return validate_corpus(folder, toy_subject(source), driver or LocalDriver(1), **more)  # type: ignore[arg-type]  # passed on


@dataclass(slots=True)
class ToyTlc:
    """Judges as TLC does."""

    source: ToySource = ToySource()
    asked: list[Transition] = field(default_factory=list)

    def __call__(self, transitions: Sequence[Transition], /) -> Sequence[Judged]:
        self.asked += transitions
        return [self._judged(transition) for transition in transitions]

    def _judged(self, transition: Transition) -> Judged:
        checker = self.source.open()
        pre = None if transition.pre is None else checker.state(canonical_state(transition.pre))
        post = checker.state(canonical_state(transition.post))
        step = checker.step(pre, transition.action, canonical(transition.params), post)
        return Judged(step=step, violated=checker.invariants(post)[0])


def real_spec() -> SpecUnderTest:
    """Read the specification with SANY."""
    return load_spec(SPEC, constants=HEADER.constants, invariants=("Low",))


# ---- rows ----

Row = dict[str, "str | int | None"]
Rows = list[Row]


def rows_in(file: Path) -> Rows:
    """Return the rows of a file."""
    rows: Rows = pq.read_table(file).to_pylist()
    return rows


def rows_of(name: str, trace: Trace, chunk_steps: int = 1 << 16) -> Rows:
    """Return the rows of `steps` for a trace, as the writer writes them."""
    rows: Rows = []
    for item in trace.events:
        assert item.state is not None
        row: Row = {
            "trace_id": name,
            "chunk": item.step // chunk_steps,
            "step": item.step,
            "action": item.action,
            "params": canonical(item.params),
            "state": canonical_state(item.state),
        }
        if rows and rows[-1]["chunk"] != row["chunk"]:
            rows.append({**rows[-1], "chunk": row["chunk"]})
        rows.append(row)
    return rows


def batches_of(rows: Rows, size: int) -> list[pa.RecordBatch]:
    """Cut rows into batches of the columns that a kernel reads."""
    schema = pa.schema([STEPS_SCHEMA.field(name) for name in SCANNED])
    return [
        pa.RecordBatch.from_pylist(rows[at : at + size], schema=schema)
        for at in range(0, len(rows), size)
    ]
