"""A toy protocol: a recorder of `specs/Toy.tla`, and a judge of it in Python; all picklable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tlatrace.corpus.schema import ROW_SCHEMA, rows_of
from tlatrace.trace import Event, Header, Trace
from tlatrace.validate.declarations import Declarations
from tlatrace.validate.spec import SpecUnderTest, load_spec
from tlatrace.validate.transition import Allowed, Failed, Judged, Judgement, Refused, Transition
from tlatrace.values import Json, State, canonical_state

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


@dataclass(frozen=True, slots=True)
class ToyJudge:
    """Judges as TLC would; `fails_at` is a number that it cannot judge."""

    fails_at: int | None = None

    def __call__(self, transitions: Sequence[Transition], /) -> Sequence[Judged]:
        keys = [
            (
                None if t.pre is None else canonical_state(t.pre),
                t.action,
                t.params,
                canonical_state(t.post),
            )
            for t in transitions
        ]
        assert len(set(keys)) == len(keys), "a judge is asked about distinct transitions"
        return [self._judged(transition) for transition in transitions]

    def _judged(self, transition: Transition) -> Judged:
        post = transition.post
        x = post["x"]
        assert isinstance(x, int)
        if x == self.fails_at:
            return Judged(step=Failed("cannot judge this"))
        step: Judgement = Allowed() if _allowed(transition.pre, transition, x) else Refused()
        return Judged(step=step, violated=("Low",) if x > MAX else ())


def _allowed(pre: State | None, transition: Transition, x: int) -> bool:
    last = transition.post["last"]
    if pre is None:
        return x == 0 and last == "none"
    before = pre["x"]
    assert isinstance(before, int)
    match transition.action, transition.params:
        case "Up", ():
            return x == before + 1 and last == "up"
        case "Jump", (int(n),):
            return 2 <= n <= 9 and x == before + n and last == "jump"
        case _:
            return False


def toy_spec() -> SpecUnderTest:
    """Describe the specification without asking SANY."""
    declarations = Declarations(
        module="Toy",
        constants=("Max",),
        variables=("x", "last"),
        operators={},
        formulas={},
        places={},
    )
    return SpecUnderTest(
        module=SPEC,
        declarations=declarations,
        init="Init",
        next="Next",
        invariants=("Low",),
        constants=(f"Max = {MAX}",),
        definitions=(),
        values={"Max": MAX},
        model_values=frozenset(),
        places={"Up": (), "Jump": (), "Never": ()},
    )


def real_spec() -> SpecUnderTest:
    """Read the specification with SANY."""
    return load_spec(SPEC, constants=HEADER.constants, invariants=("Low",))


def step_rows(traces: dict[str, Trace]) -> pa.Table:
    """Return the rows of `steps` for the given traces, in their order."""
    batches = [
        batch for name, trace in traces.items() for batch in rows_of(name, None, trace, 1_000)
    ]
    table = pa.Table.from_batches(batches, schema=ROW_SCHEMA)
    return table.filter(pc.is_valid(table.column("step")))
