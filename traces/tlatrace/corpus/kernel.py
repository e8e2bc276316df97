"""The kernel: sorted steps in, what is to be said of them out; it knows no engine.

It reads Arrow batches, wherever they come from, and carries the last state of a piece from row to
row and from batch to batch, so where a batch ends makes no difference. It believes nothing about
the order: a piece must have its steps one by one and in one place. What is wrong with the rows, or
a step that the model refuses, ends the judging of the piece there; the rest is counted as skipped.

Each row of a piece is one of

    initial       step 0, judged as an initial state
    evaluated     judged now, with the invariants of the state after it
    remembered    equal to one that this worker has accepted before
    recalled      equal to one that an earlier run has accepted (see `store`)
    skipped       behind the end of the judging
    carried       the state before the piece, from the chunk before; no step

Initial steps are remembered and recalled like others, but are counted as initial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar, assert_never, cast

import pyarrow as pa
import pyarrow.compute as pc

from tlatrace.corpus.checker import Checker
from tlatrace.corpus.findings import PROBLEM, Bad, BadStatus, FindingRow, finding_batch
from tlatrace.corpus.fingerprint import TransitionKey, fingerprint
from tlatrace.corpus.memo import Digests, Memo
from tlatrace.corpus.schema import NO_NAME, SCANNED, fault_in_row, first_row
from tlatrace.corpus.sketch import Ranks, rank_of
from tlatrace.errors import CorpusError, TlatraceError
from tlatrace.judgement.transition import Allowed, Failed, Refused
from tlatrace.trace import INIT

__all__ = ["Kernel", "KernelOptions"]

S = TypeVar("S")

_SLICE: Final = 512
"""Rows that are Python objects at a time."""
_BATCH_ROWS: Final = 2_000
_BATCH_CHARACTERS: Final = 8 << 20
_REASON_CHARACTERS: Final = 400
_MAX_BAD: Final = 50_000
_MAX_PARAMS: Final = 50_000
_MAX_SOUND: Final = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOptions:
    """What a kernel does besides judging; plain data."""

    chunk_steps: int
    """Steps of a trace in one piece."""
    sample: int = 0
    """Accepted transitions to choose, by rank."""
    shown: range = range(0)
    """Ranks of the accepted transitions to show."""
    seed: int = 0
    """Chooses the sample."""
    memo: int = 80_000
    """Half of the transitions that a worker remembers."""
    renew_after: int = 45_000
    """Transitions that a checker judges before another one takes its place."""

    def __post_init__(self) -> None:
        assert self.chunk_steps >= 2, self.chunk_steps


@dataclass(slots=True)
class _Piece(Generic[S]):
    """The piece that is being read."""

    trace_id: str
    chunk: int
    expected: int
    """The next step."""
    steps: int = 0
    text: str | None = None
    digest: bytes | None = None
    state: S | None = None
    """The last state, if it has been decoded."""
    head: bytes | None = None
    ended: FindingRow | None = None


@dataclass(slots=True)
class _Run:
    """What is counted and shown of one stream of batches."""

    counts: Counter[str] = field(default_factory=Counter)
    actions: Counter[str | None] = field(default_factory=Counter)
    ranks: Ranks = field(default_factory=Ranks)
    chosen: Ranks = field(default_factory=Ranks)
    reported: set[bytes] = field(default_factory=set)
    """Bad transitions whose texts are out."""
    new: list[bytes] = field(default_factory=list)
    """Accepted transitions that no store has."""
    rows: list[FindingRow] = field(default_factory=list)
    characters: int = 0


@dataclass(slots=True)
class Kernel(Generic[S]):
    """Judges streams of steps with one checker; what it remembers serves all its streams."""

    checker: Checker[S]
    options: KernelOptions
    known: Container[bytes] = frozenset()
    """Fingerprints of transitions that were accepted before."""
    renew: Callable[[], Checker[S]] | None = None
    """Makes another checker: what a checker remembers grows with what it is asked."""
    accepted: list[bytes] = field(default_factory=list)
    """Fingerprints of those that the last stream has evaluated and accepted."""
    _memo: Memo = field(init=False)
    _digests: Digests = field(default_factory=Digests)
    _bad: dict[TransitionKey, Bad] = field(default_factory=dict)
    _sound: set[bytes] = field(default_factory=set)
    """Digests of states in which all invariants hold."""
    _params: dict[str, str] = field(default_factory=dict)
    _asked: int = 0

    def __post_init__(self) -> None:
        self._memo = Memo(self.options.memo)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the findings of a stream of steps with the columns `SCANNED`."""
        run = _Run(chosen=Ranks(self.options.sample))
        piece: _Piece[S] | None = None
        for batch in batches:
            run.counts["rows"] += batch.num_rows
            actions = pc.value_counts(batch.column("action"))
            counts = actions.field("counts").to_pylist()
            for name, count in zip(_objects(actions.field("values")), counts, strict=True):
                run.actions[cast("str | None", name)] += count
            for at in range(0, batch.num_rows, _SLICE):
                columns = [_objects(batch.column(name).slice(at, _SLICE)) for name in SCANNED]
                piece = self._slice(run, piece, columns)
                if len(run.rows) >= _BATCH_ROWS or run.characters > _BATCH_CHARACTERS:
                    yield _flush(run)
        if piece is not None:
            _close(run, piece)
        self.accepted = run.new
        run.rows += [
            {"kind": "count", "detail": name, "count": count} for name, count in run.counts.items()
        ]
        run.rows += [
            {"kind": "action", "action": name, "count": count}
            for name, count in run.actions.items()
        ]
        run.rows.append({"kind": "ranks", "key": run.ranks.packed()})
        run.rows.append({"kind": "chosen", "key": run.chosen.packed()})
        yield _flush(run)

    def _slice(
        self, run: _Run, piece: _Piece[S] | None, columns: Sequence[Sequence[object]]
    ) -> _Piece[S] | None:
        """Read some rows: cut them where another piece begins."""
        names, chunks = columns[0], columns[1]
        ends = [
            at
            for at in range(1, len(names))
            if names[at] != names[at - 1] or chunks[at] != chunks[at - 1]
        ]
        begin = 0
        for end in (*ends, len(names)):
            if piece is None or names[begin] != piece.trace_id or chunks[begin] != piece.chunk:
                if piece is not None:
                    _close(run, piece)
                piece = _open(names[begin], chunks[begin], self.options.chunk_steps)
            self._read(run, piece, [column[begin:end] for column in columns[2:]])
            begin = end
        return piece

    def _read(self, run: _Run, piece: _Piece[S], columns: Sequence[Sequence[object]]) -> None:
        """Read rows of one piece: those that are in order at once, up to the first that is not."""
        done, rows = 0, len(columns[0])
        while done < rows and piece.ended is None:
            expected = piece.expected
            carried = piece.digest is None and expected > 0
            # The carried row and an initial state are looked at alone.
            good = _in_order([column[done:] for column in columns], expected)
            good = min(good, 1) if carried or expected == 0 else good
            if good == 0:
                row = [column[done] for column in columns]
                piece.ended = {
                    "step": max(expected, 0),
                    "status": PROBLEM,
                    "detail": fault_in_row(row[0], expected, *row[1:]),
                }
            elif carried:
                self._carry(run, piece, columns[1][done], str(columns[3][done]))
                done += 1
            else:
                texts = cast("Sequence[Sequence[str]]", columns)  # `_in_order` has looked
                upto = slice(done, done + good)
                done += self._steps(run, piece, texts[1][upto], texts[2][upto], texts[3][upto])
        piece.steps += rows - done
        run.counts["skipped"] += rows - done

    def _carry(self, run: _Run, piece: _Piece[S], action: object, text: str) -> None:
        """Take over the state before a piece."""
        piece.text, piece.digest = text, self._digests.of(text)
        piece.head = piece.digest
        piece.expected += 1
        run.counts["carried"] += 1
        run.actions[action if isinstance(action, str) else None] -= 1

    def _steps(
        self,
        run: _Run,
        piece: _Piece[S],
        actions: Sequence[str | None],
        params: Sequence[str],
        texts: Sequence[str],
    ) -> int:
        """Judge steps that follow each other; return how many, the last may be a bad one."""
        memo, digest_of = self._memo, self._digests.of
        known = memo.young
        kind = "remembered" if piece.expected else "initial"
        before, previous = piece.digest, piece.text
        remembered = read = 0
        for action, arguments, text in zip(actions, params, texts, strict=True):
            digest = digest_of(text)
            key = (before, action, arguments, digest)
            read += 1
            if key in known or key in memo:
                remembered += 1
                piece.state = None
            else:
                piece.text = previous
                if not self._judge(run, piece, key, text, piece.expected + read - 1):
                    break
                known = memo.young
            before, previous = digest, text
        piece.text, piece.digest = previous, before
        piece.expected += read
        piece.steps += read
        run.counts[kind] += remembered
        return read

    def _judge(self, run: _Run, piece: _Piece[S], key: TransitionKey, text: str, step: int) -> bool:
        """Judge a step that is not remembered as accepted; False if it ends the piece."""
        mark = fingerprint(key)
        rank = rank_of(mark, self.options.seed)
        run.ranks.add(rank)
        bad = self._bad.get(key)
        if bad is not None:
            counter = "remembered"
        elif mark in self.known:
            piece.state, counter = None, "recalled"
        else:
            bad, counter = self._ask(piece, key, text), "evaluated"
            if bad is None:
                run.new.append(mark)
        run.counts["initial" if key[0] is None else counter] += 1
        if bad is None:
            self._memo.add((key[0], key[1], self._interned(key[2]), key[3]))
            if self.options.sample:
                run.chosen.add(rank)
            if rank in self.options.shown:
                _show(run, piece, key, text, {"kind": "shown", "key": mark, "count": rank})
            return True
        finding: FindingRow = {"key": mark, "status": bad.status, "detail": bad.detail}
        if mark not in run.reported:
            run.reported.add(mark)
            _show(run, piece, key, text, {"kind": "transition", **finding})
        if len(self._bad) < _MAX_BAD:
            self._bad[key] = bad
        piece.ended = {**finding, "step": step, "action": key[1], "params": key[2]}
        return False

    def _interned(self, text: str) -> str:
        """Return one object for equal parameters: a batch has them once a row."""
        if len(self._params) > _MAX_PARAMS:
            self._params.clear()
        return self._params.setdefault(text, text)

    def _ask(self, piece: _Piece[S], key: TransitionKey, text: str) -> Bad | None:
        """Have the checker judge a step and the state after it; None if both are good."""
        self._asked += 1
        if self.renew is not None and self._asked % self.options.renew_after == 0:
            self.checker = self.renew()
        checker = self.checker
        try:
            if piece.state is None and piece.text is not None:
                piece.state = checker.state(piece.text)
            post = checker.state(text)
        except TlatraceError as error:
            return _bad("failed", str(error))
        judgement = checker.step(piece.state, key[1], key[2], post)
        piece.state = post
        match judgement:
            case Refused():
                return _bad("refused", "")
            case Failed(reason=reason):
                return _bad("failed", reason)
            case Allowed():
                pass
            case _ as unreachable:
                assert_never(unreachable)
        if key[3] in self._sound:
            return None
        violated, unevaluated = checker.invariants(post)
        if violated:
            return _bad("violated", ", ".join(violated))
        if unevaluated is not None:
            return _bad("failed", unevaluated)
        if len(self._sound) >= _MAX_SOUND:
            self._sound.clear()
        self._sound.add(key[3])
        return None


def _bad(status: BadStatus, detail: str) -> Bad:
    return Bad(status, detail[:_REASON_CHARACTERS])


def _open(trace_id: object, chunk: object, chunk_steps: int) -> _Piece[S]:
    if not isinstance(trace_id, str) or not isinstance(chunk, int) or chunk < 0:
        name = trace_id if isinstance(trace_id, str) else NO_NAME
        piece = _Piece[S](name, -1, 0)
        piece.ended = {"step": 0, "status": PROBLEM, "detail": "a row has no trace or no chunk"}
        return piece
    return _Piece(trace_id, chunk, first_row(chunk, chunk_steps))


def _in_order(columns: Sequence[Sequence[object]], expected: int) -> int:
    """Return how many rows are the next steps of a piece, with all that they need."""
    steps, actions, params, texts = columns
    good = len(steps)
    if steps != list(range(expected, expected + good)):
        at = 0
        while steps[at] == expected + at:
            at += 1
        good = at
    for column in (params, texts):
        if None in column[:good]:
            good = column.index(None)
    if expected == 0:
        return good if good and actions[0] == INIT else 0
    return actions.index(INIT) if INIT in actions[:good] else good


def _close(run: _Run, piece: _Piece[S]) -> None:
    """Say what was seen of a piece."""
    row: FindingRow = {
        "kind": "piece",
        "trace_id": piece.trace_id,
        "chunk": piece.chunk,
        "count": piece.steps,
        "head": piece.head,
        "tail": piece.digest,
    }
    run.rows.append(row if piece.ended is None else row | piece.ended)


def _show(run: _Run, piece: _Piece[S], key: TransitionKey, text: str, about: FindingRow) -> None:
    """Show a transition with its texts."""
    about |= {"pre": piece.text, "action": key[1], "params": key[2], "post": text}
    run.rows.append(about)
    run.characters += len(piece.text or "") + len(text)


def _flush(run: _Run) -> pa.RecordBatch:
    batch = finding_batch(run.rows)
    run.rows, run.characters = [], 0
    return batch


def _objects(column: pa.Array) -> Sequence[object]:
    """Return a column as Python objects.

    Raises:
        CorpusError: a text in it is not UTF-8, which Parquet does not look at.
    """
    try:
        values: Sequence[object] = column.to_pylist()
    except UnicodeDecodeError as error:
        raise CorpusError("steps", f"a text is not UTF-8: {error}") from None
    return values
