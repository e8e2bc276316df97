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

Initial steps are remembered and recalled like others, but are counted as initial. What machine
code has accepted is evaluated, remembered or recalled like the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar, assert_never, cast

import numpy as np
import pyarrow as pa

from tlatrace.corpus.checker import Checker
from tlatrace.corpus.findings import (
    MACHINE_CODE,
    PROBLEM,
    Bad,
    BadStatus,
    FindingRow,
    finding_batch,
)
from tlatrace.corpus.fingerprint import TransitionKey, digest_of_bytes, fingerprint
from tlatrace.corpus.memo import Digests, Memo
from tlatrace.corpus.rows import Rows, answer
from tlatrace.corpus.schema import NO_NAME, fault_in_row, first_row
from tlatrace.corpus.sketch import Ranks, rank_of, ranks_of
from tlatrace.errors import TlatraceError
from tlatrace.judgement.transition import Allowed, Failed, Refused
from tlatrace.oracle.rows import MOST_ROWS, RowJudge, Words

__all__ = ["Kernel", "KernelOptions"]

S = TypeVar("S")

_BATCH_ROWS: Final = 2_000
_BATCH_CHARACTERS: Final = 8 << 20
_REASON_CHARACTERS: Final = 400
_MAX_BAD: Final = 50_000
_MAX_PARAMS: Final = 50_000
_MAX_SOUND: Final = 200_000
_MAX_UNSEEN: Final = 1_000_000


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
    keeps: bool = False
    """Whether the fingerprints of what is accepted are wanted."""
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
    last: tuple[Rows, int] | None = None
    """Where the last state is to be read, if nobody has needed its text."""
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
    rows: RowJudge | None = None
    """Machine code that is asked first, if there is any."""
    accepted: list[bytes] = field(default_factory=list)
    """Fingerprints of those that the last stream has evaluated and accepted."""
    _memo: Memo = field(init=False)
    _digests: Digests = field(default_factory=Digests)
    _bad: dict[TransitionKey, Bad] = field(default_factory=dict)
    _sound: set[bytes] = field(default_factory=set)
    """Digests of states in which all invariants hold."""
    _params: dict[str, str] = field(default_factory=dict)
    _unseen: set[int] = field(default_factory=set)
    """Numbers of steps that machine code has accepted where a piece had ended: not counted yet."""
    _asked: int = 0

    def __post_init__(self) -> None:
        self._memo = Memo(self.options.memo)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the findings of a stream of steps with the columns `SCANNED`."""
        run = _Run(chosen=Ranks(self.options.sample))
        piece: _Piece[S] | None = None
        if self.rows is not None:
            self.rows.forget_states()
        for batch in batches:
            run.counts["rows"] += batch.num_rows
            for at in range(0, batch.num_rows, MOST_ROWS):
                rows = Rows(batch.slice(at, MOST_ROWS))
                run.actions.update(rows.actions.counted())
                if self.rows is not None:
                    answer(self.rows, rows, continues=_continues(piece, rows))
                piece = self._batch(run, piece, rows)
                if len(run.rows) >= _BATCH_ROWS or run.characters > _BATCH_CHARACTERS:
                    yield _flush(run)
        if piece is not None:
            self._close(run, piece)
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

    def _batch(self, run: _Run, piece: _Piece[S] | None, rows: Rows) -> _Piece[S] | None:
        """Read some rows, piece by piece."""
        pieces, sure, done = rows.pieces(), self._sure_pieces(rows), 0
        for number, (begin, end) in enumerate(pieces):
            if sure[number] and number >= done:
                if piece is not None:
                    self._close(run, piece)
                    piece = None
                done = sure.index(False, number)  # the last one may go on
                self._whole(run, rows, pieces[number:done])
            if number < done:
                continue
            name, chunk = rows.piece_of(begin)
            if piece is None or name != piece.trace_id or chunk != piece.chunk:
                if piece is not None:
                    self._close(run, piece)
                piece = _open(name, chunk, self.options.chunk_steps)
            self._read(run, piece, rows, begin, end)
        return piece

    def _read(self, run: _Run, piece: _Piece[S], rows: Rows, begin: int, end: int) -> None:
        """Read rows of one piece: those that are in order at once, up to the first that is not."""
        at = begin
        while at < end and piece.ended is None:
            expected = piece.expected
            carried = piece.chunk > 0 and piece.head is None
            # The carried row and an initial state are looked at alone.
            good = rows.in_order(at, at + 1 if carried or expected == 0 else end, expected)
            if good == at:
                row = rows.row(at)
                piece.ended = {
                    "step": max(expected, 0),
                    "status": PROBLEM,
                    "detail": fault_in_row(row[0], expected, *row[1:]),
                }
            elif carried:
                self._carry(run, piece, rows.actions.at(at), rows.text(at))
                at += 1
            elif rows.is_sure(at):
                good = rows.alike(at, good)
                self._sure(run, piece, rows, at, good)
                at = good
            else:
                good = rows.makeable(at, rows.alike(at, good))
                actions, params = rows.actions.of(at, good), rows.params.of(at, good)
                texts = rows.texts(at, good)
                drawn = rows.drawn_of(at, good)
                at += self._steps(run, piece, actions, cast("Sequence[str]", params), texts, drawn)
        piece.steps += end - at
        run.counts["skipped"] += end - at
        self._unseen.update(rows.accepted(at, end))
        if len(self._unseen) > _MAX_UNSEEN and self.rows is not None:
            self._unseen.clear()
            self.rows.forget()

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
        drawn: Sequence[int],
    ) -> int:
        """Judge steps that follow each other; return how many, the last may be a bad one.

        `drawn`: their numbers, as a `RowJudge` gives them.
        """
        memo, digest_of = self._memo, self._digests.of
        known = memo.young
        self._settle(piece)
        kind = "remembered" if piece.expected else "initial"
        before, previous = piece.digest, piece.text
        remembered = read = 0
        for action, arguments, text, number in zip(actions, params, texts, drawn, strict=True):
            digest = digest_of(text)
            key = (before, action, arguments, digest)
            read += 1
            if key in known or key in memo:
                remembered += 1
                piece.state = None
            else:
                piece.text = previous
                if not self._judge(run, piece, key, text, piece.expected + read - 1, number):
                    break
                known = memo.young
            before, previous = digest, text
        piece.text, piece.digest = previous, before
        piece.expected += read
        piece.steps += read
        run.counts[kind] += remembered
        return read

    def _sure(self, run: _Run, piece: _Piece[S], rows: Rows, begin: int, end: int) -> None:
        """Count steps that machine code has accepted; those that are new have a rank."""
        first = piece.expected == 0
        new = self._new(rows, begin, end)
        recalled = 0
        if len(new):
            ranks = ranks_of(rows.drawn(new), self.options.seed)
            run.ranks.add_all(ranks)
            if self.options.sample:
                run.chosen.add_all(ranks)
            if self.options.keeps or self.options.shown:
                pairs = zip(new.tolist(), ranks.tolist(), strict=True)
                recalled = self._mark(run, piece, rows, begin, pairs)
        run.counts["initial" if first else "evaluated"] += len(new) - recalled
        run.counts["initial" if first else "recalled"] += recalled
        run.counts["initial" if first else "remembered"] += end - begin - len(new)
        run.counts[MACHINE_CODE] += end - begin
        piece.state, piece.last = None, (rows, end - 1)
        piece.expected += end - begin
        piece.steps += end - begin

    def _sure_pieces(self, rows: Rows) -> list[bool]:
        """Tell which pieces are counted together: whole traces that machine code has accepted."""
        sure = rows.sure_pieces()
        if self._unseen or self.options.keeps or self.options.shown:
            return [False] * len(sure)
        return [False, *sure[1:-1], False][-len(sure) :]

    def _whole(self, run: _Run, rows: Rows, pieces: Sequence[tuple[int, int]]) -> None:
        """Count whole traces, which follow each other, as `_sure` does."""
        begin, end = pieces[0][0], pieces[-1][1]
        new = rows.new(begin, end)
        ranks = ranks_of(rows.drawn(new), self.options.seed)
        run.ranks.add_all(ranks)
        if self.options.sample:
            run.chosen.add_all(ranks)
        evaluated = len(new) - int(rows.begins[new].sum())
        run.counts["initial"] += len(pieces)
        run.counts["evaluated"] += evaluated
        run.counts["remembered"] += end - begin - len(pieces) - evaluated
        run.counts[MACHINE_CODE] += end - begin
        for first, behind in pieces:
            name, chunk = rows.piece_of(first)
            tail = self._digests.of_row(rows, behind - 1)
            row = {"kind": "piece", "trace_id": name, "chunk": chunk, "head": None, "tail": tail}
            run.rows.append({**row, "count": behind - first})

    def _settle(self, piece: _Piece[S]) -> None:
        """Read the last state of a piece, if that has been put off."""
        if piece.last is not None:
            rows, at = piece.last
            piece.text, piece.digest = rows.text(at), self._digests.of_row(rows, at)
            piece.last = None

    def _new(self, rows: Rows, begin: int, end: int) -> Words:
        """Return the rows whose steps machine code has accepted and this kernel has not counted."""
        new = rows.new(begin, end)
        if not self._unseen:
            return new
        late: list[int] = []
        for at, number in enumerate(rows.drawn_of(begin, end), start=begin):
            if number in self._unseen:
                self._unseen.remove(number)
                late.append(at)
        return np.union1d(new, late).astype(np.int64)

    def _mark(
        self,
        run: _Run,
        piece: _Piece[S],
        rows: Rows,
        begin: int,
        new: Iterable[tuple[int, int]],
    ) -> int:
        """Keep, and show, steps that are new in machine code; return how many a store has.

        `new`: their rows and ranks.
        """
        self._settle(piece)
        digest_of = self._digests.of_row
        before, last = piece.digest or b"", begin - 1
        recalled = 0
        for at, rank in new:
            if at - 1 != last:
                before = digest_of(rows, at - 1)
            after = digest_of(rows, at)
            mark = digest_of_bytes(before + rows.call_bytes(at) + after)
            if mark in self.known:
                recalled += 1
            else:
                run.new.append(mark)
            if rank in self.options.shown:
                if at > begin:
                    piece.text = rows.text(at - 1)
                key = (None, rows.actions.at(at), rows.params.at(at) or "", b"")
                about: FindingRow = {"kind": "shown", "key": mark, "count": rank}
                _show(run, piece, key, rows.text(at), about)
            before, last = after, at
        return recalled

    def _judge(
        self,
        run: _Run,
        piece: _Piece[S],
        key: TransitionKey,
        text: str,
        step: int,
        drawn: int,
    ) -> bool:
        """Judge a step that is not remembered as accepted; False if it ends the piece."""
        mark = fingerprint(key)
        rank = rank_of(mark, self.options.seed, drawn)
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

    def _close(self, run: _Run, piece: _Piece[S]) -> None:
        """Say what was seen of a piece."""
        if piece.last is not None:
            piece.digest = self._digests.of_row(*piece.last)
        row: FindingRow = {
            "kind": "piece",
            "trace_id": piece.trace_id,
            "chunk": piece.chunk,
            "count": piece.steps,
            "head": piece.head,
            "tail": piece.digest,
        }
        run.rows.append(row if piece.ended is None else row | piece.ended)

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


def _continues(piece: _Piece[S] | None, rows: Rows) -> bool:
    return piece is not None and rows.piece_of(0) == (piece.trace_id, piece.chunk)


def _show(run: _Run, piece: _Piece[S], key: TransitionKey, text: str, about: FindingRow) -> None:
    """Show a transition with its texts."""
    about |= {"pre": piece.text, "action": key[1], "params": key[2], "post": text}
    run.rows.append(about)
    run.characters += len(piece.text or "") + len(text)


def _flush(run: _Run) -> pa.RecordBatch:
    batch = finding_batch(run.rows)
    run.rows, run.characters = [], 0
    return batch
