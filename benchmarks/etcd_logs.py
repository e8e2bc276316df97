"""Jepsen's logs of a register in etcd, judged as Porcupine judges them.

`python -m benchmarks.etcd_logs FOLDER` takes the folder `test_data/jepsen` of Porcupine
(github.com/anishathalye/porcupine), whose logs are not here, and prints how many of its 102
verdicts are ours, too. It ends with 1 if one differs, or if a log is missing.

A line has a process, what happened (`:invoke`, `:ok`, `:fail`, `:info`), the operation (`:read`,
`:write`, `:cas`) and its value. Its number is its time. A CAS that fails was answered: the register
held another value. A read that fails timed out. What ends in `:info`, or not at all, may have
happened, and its process does not come back.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

from rocketha.errors import HistoryFormatError
from rocketha.histories import Outcome
from rocketha.histories.linearizability import (
    Kind,
    Linearizable,
    NotLinearizable,
    Operation,
    RegisterHistory,
    Value,
    check_linearizability,
    draw,
    shrink,
)

GOOD: Final = frozenset(
    {2, 5, 7, 18, 25, 31, 38, 45, 48, 49, 51, 53, 56, 67, 75, 76, 80, 87, 92, 98, 100, 101, 102}
)
"""Logs that Porcupine calls linearizable; it calls all others not, in its porcupine_test.go."""
NUMBERS: Final = frozenset(range(103)) - {95}
"""Of the logs; in run 95 etcd did not start, and its log is empty."""

_LINE: Final = re.compile(
    r"INFO\s+jepsen\.util\s+-\s+(\d+)\s+:(invoke|ok|fail|info)\s+:(read|write|cas)\s+"
    r"(nil|:timed-out|\d+|\[\d+\s+\d+\])"
)
_KEY: Final = "register"


def main() -> int:
    """Judge the logs of a folder; print what differs, a smallest part of a wrong one, and sums."""
    arguments = sys.argv[1:]
    if len(arguments) != 1:
        print("usage: python -m benchmarks.etcd_logs FOLDER", file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    seconds: dict[int, float] = {}
    smallest = None
    for number in sorted(NUMBERS):
        path = Path(arguments[0]) / f"etcd_{number:03}.log"
        history = read_log(path.read_text("utf-8"), path.name)
        begin = time.process_time()
        verdict = check_linearizability(history)
        seconds[number] = time.process_time() - begin
        expected = Linearizable if number in GOOD else NotLinearizable
        agrees = isinstance(verdict, expected)
        counts["operations"] += len(history.operations)
        counts["agree"] += agrees
        counts[type(verdict).__name__] += 1
        if not agrees:
            print(f"{path.name}: {verdict.in_words()}, Porcupine says {expected.__name__}")
        if isinstance(verdict, NotLinearizable):
            shrunk = shrink(verdict)
            counts["minimal"] += shrunk.is_minimal
            if smallest is None or len(shrunk.verdict.operations) < len(smallest.operations):
                smallest = shrunk.verdict
    if smallest is not None:
        print(draw(smallest))
    worst = max(seconds, key=lambda number: seconds[number])
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    print(f"CPU: {sum(seconds.values()):.2f} s, of log {worst:03} alone {seconds[worst]:.2f} s")
    print(f"judged as Porcupine does: {counts['agree']} of {len(NUMBERS)}")
    return 0 if counts["agree"] == len(NUMBERS) else 1


def read_log(text: str, name: str) -> RegisterHistory:
    """Read a log; `name` is for errors. Raises: HistoryFormatError, OperationError"""
    under_way: dict[int, Operation] = {}
    operations: list[Operation] = []
    for number, line in enumerate(text.splitlines(), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise HistoryFormatError(name, line=number, reason="is no line of an operation")
        process, what, kind = int(found[1]), found[2], Kind(found[3])
        if what == "invoke":
            if process in under_way:
                reason = f"process {process} has an operation already"
                raise HistoryFormatError(name, line=number, reason=reason)
            under_way[process] = _called(process, kind, _values(found[4]), number)
        else:
            called = under_way.pop(process, None)
            if called is None or called.kind is not kind:
                reason = f"process {process} has called no {kind}"
                raise HistoryFormatError(name, line=number, reason=reason)
            operations.append(_ended(called, what, _values(found[4]), number))
    return RegisterHistory((*operations, *under_way.values()))


def _values(text: str) -> list[int]:
    """Return the numbers of a value: none of `nil`, two of a CAS."""
    return [int(digits) for digits in re.findall(r"\d+", text)]


def _called(process: int, kind: Kind, values: list[int], at: int) -> Operation:
    value: Value = values[-1] if values else None
    return Operation(
        client=process,
        key=_KEY,
        kind=kind,
        value=value,
        expected=values[0] if kind is Kind.CAS else None,
        called_at=at,
        returned_at=None,
        outcome=Outcome.UNKNOWN,
    )


def _ended(called: Operation, what: str, values: list[int], at: int) -> Operation:
    if what == "info":
        return called
    if called.kind is Kind.CAS:
        return replace(called, returned_at=at, outcome=Outcome.OK, swapped=what == "ok")
    if what == "fail":
        return replace(called, returned_at=at, outcome=Outcome.FAIL)
    if called.kind is Kind.READ:
        called = replace(called, value=values[0] if values else None)
    return replace(called, returned_at=at, outcome=Outcome.OK)


if __name__ == "__main__":
    sys.exit(main())
