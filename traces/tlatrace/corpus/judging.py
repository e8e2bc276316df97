"""The kernel that has the distinct pairs judged, in batches, and passes all other rows on.

It gets the rows of a scan, grouped so that equal pairs come to one task. A judge is asked about
each distinct pair once; only the bad ones come out, with the counts that show that none was lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from tlatrace.corpus.scan import FLOW_SCHEMA, BadStatus, FlowRow
from tlatrace.errors import TlatraceError, ValueFormatError
from tlatrace.trace.lines import DEFAULT_LIMITS
from tlatrace.trace.strict_json import parse_json
from tlatrace.validate.transition import Allowed, Failed, Judged, Refused, Transition
from tlatrace.values import State, Value, canonical, from_json

__all__ = ["Judge", "JudgeKernel", "StateReader", "problem_of"]

_RAW_STATE: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_REASON_CHARACTERS: Final = 400
_NO_FILE: Final = Path("state")


class Judge(Protocol):
    """Judges transitions; must be picklable, and must not remember anything that matters."""

    def __call__(self, transitions: Sequence[Transition], /) -> Sequence[Judged]:
        """Judge each transition, in the given order.

        Raises:
            TlatraceError: nothing can be judged at all, whatever the transitions.
        """
        ...


@dataclass(slots=True)
class StateReader:
    """Reads states from canonical texts; equal texts of a variable become one value."""

    _values: dict[bytes, Value] = field(default_factory=dict)
    _states: dict[str, State] = field(default_factory=dict)

    def state(self, text: str) -> State:
        """Read a state.

        Raises:
            ValueFormatError: not the canonical text of a state.
        """
        known = self._states.get(text)
        if known is None:
            known = self._states[text] = self._read(text)
        return known

    def params(self, text: str) -> tuple[Value, ...]:
        """Read the parameters of an action.

        Raises:
            ValueFormatError: not the canonical text of a tuple.
        """
        value = self._value(text.encode("utf-8", "surrogatepass"))
        if not isinstance(value, tuple):
            raise ValueFormatError("the parameters are not a tuple")
        return value

    def _read(self, text: str) -> State:
        try:
            raw = _RAW_STATE.decode(text)
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
            raise ValueFormatError(f"a state cannot be read ({error})") from None
        state = {name: self._value(bytes(part)) for name, part in raw.items()}
        # Each value is canonical; that no variable is there twice is shown by the length.
        names = [canonical(name) for name in raw]
        size = sum(len(part) for part in raw.values()) + 2 * len(raw) + 1
        size += sum(len(name.encode()) for name in names)
        if size + (not raw) != len(text.encode()) or list(raw) != sorted(raw):
            raise ValueFormatError("a state is not written canonically")
        return state

    def _value(self, text: bytes) -> Value:
        known = self._values.get(text)
        if known is None:
            try:
                known = from_json(parse_json(text, path=_NO_FILE, line=1, limits=DEFAULT_LIMITS))
            except TlatraceError as error:
                raise ValueFormatError(f"a value cannot be read ({error})") from None
            if canonical(known).encode() != text:
                raise ValueFormatError("a value is not written canonically")
            self._values[text] = known
        return known


@dataclass(slots=True)
class _Batch:
    """Distinct pairs that wait for the judge."""

    keys: list[bytes] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    unread: list[tuple[bytes, str]] = field(default_factory=list)
    reader: StateReader = field(default_factory=StateReader)

    def __len__(self) -> int:
        return len(self.keys) + len(self.unread)

    def add(self, key: bytes, row: FlowRow) -> None:
        pre, action, params, post = row["pre"], row["action"], row["params"], row["post"]
        assert isinstance(params, str), "the scan lets only whole rows pass"
        assert isinstance(post, str), "the scan lets only whole rows pass"
        try:
            transition = Transition(
                pre=self.reader.state(pre) if isinstance(pre, str) else None,
                action=action if isinstance(action, str) else None,
                params=self.reader.params(params),
                post=self.reader.state(post),
            )
        except ValueFormatError as error:
            self.unread.append((key, error.reason))
            return
        self.keys.append(key)
        self.transitions.append(transition)


@dataclass(frozen=True, slots=True)
class JudgeKernel:
    """Rows of the scan in; out come bad pairs, counts, and all rows that are not pairs."""

    judge: Judge
    batch_size: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen: set[bytes] = set()
        waiting = _Batch()
        dropped = 0
        for batch in batches:
            is_pair = pc.equal(batch.column("kind"), "pair")
            others = batch.filter(pc.invert(is_pair))
            if others.num_rows:
                yield others
            for row in batch.filter(is_pair).to_pylist():
                if row["key"] in seen:
                    dropped += 1
                    continue
                seen.add(row["key"])
                waiting.add(row["key"], row)
                if len(waiting) >= self.batch_size:
                    yield self._judged(waiting)
                    waiting = _Batch()
        if len(waiting):
            yield self._judged(waiting)
        yield _rows([{"kind": "dropped", "count": dropped}])

    def _judged(self, batch: _Batch) -> pa.RecordBatch:
        started = time.monotonic()
        rows = [_bad(key, "failed", reason) for key, reason in batch.unread]
        try:
            judged = self.judge(batch.transitions) if batch.transitions else ()
        except TlatraceError as error:
            return _rows([{"kind": "error", "name": type(error).__name__, "detail": str(error)}])
        if len(judged) != len(batch.transitions):
            told = f"the judge answered {len(judged)} of {len(batch.transitions)} transitions"
            return _rows([{"kind": "error", "name": "ToolError", "detail": told}])
        for key, answer in zip(batch.keys, judged, strict=True):
            problem = problem_of(answer)
            if problem is not None:
                rows.append(_bad(key, *problem))
        milliseconds = round((time.monotonic() - started) * 1000)
        rows += [
            {"kind": "judged", "count": len(batch)},
            {"kind": "milliseconds", "count": milliseconds},
        ]
        return _rows(rows)


def problem_of(judged: Judged) -> tuple[BadStatus, str] | None:
    """Say why a transition ends the accepted path of a trace; None if it does not.

    The invariants of a state count only if the step to it is allowed.
    """
    match judged.step:
        case Refused():
            return "refused", ""
        case Failed(reason=reason):
            return "failed", reason
        case Allowed():
            if judged.violated:
                return "violated", ", ".join(judged.violated)
            if judged.unevaluated is not None:
                return "failed", judged.unevaluated
            return None


def _bad(key: bytes, status: BadStatus, detail: str) -> FlowRow:
    return {"kind": "bad", "key": key, "name": status, "detail": detail[:_REASON_CHARACTERS]}


def _rows(rows: list[FlowRow]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=FLOW_SCHEMA)
