"""How many operations a second are held against linearizability, and do all ways agree?

`python -m benchmarks.linearizability` measures two histories on one core: few values and 6 clients
a key, by our search and by a textbook's (Wing, Gong, Lowe, with a linked list and a mask of all
operations); and unique values, 50 clients on one key, by zones and by our search of a part of it.

`python -m benchmarks.linearizability --agree N` draws N small random histories, good and bad, and
has each judged by our search, a textbook's, by zones where values are unique, and by brute force.
It ends with 1 where two differ.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from rocketha.histories.linearizability import (
    Linearizable,
    Method,
    Operation,
    RegisterHistory,
    check_linearizability,
)
from tests.impl.histories.linearizability import textbook
from tests.impl.histories.linearizability.agreement import DisagreementError, compare
from tests.impl.histories.linearizability.random_histories import Shape, draw_history

OPERATIONS: Final = 100_000
KEYS: Final = 100
CLIENTS: Final = 6
TIMES: Final = 3

FEW_VALUES: Final = Shape(
    clients=CLIENTS, operations=OPERATIONS // KEYS, values=5, unknown=0.0, refused=0.0
)
UNIQUE_VALUES: Final = Shape(clients=50, operations=OPERATIONS, unknown=0.05)


def main() -> None:
    """Print operations a second and core for each, and the ratios to the baselines."""
    history = _many_keys(FEW_VALUES)
    print(f"{OPERATIONS} operations, {KEYS} keys, {CLIENTS} clients a key, 5 values,", end=" ")
    print(f"{_at_once(history):.1f} at once:")
    baseline = _rate(history, lambda: _by_textbook(history))
    ours = _rate(history, lambda: _by(history, Method.SEARCH))
    print(f"  a textbook's search: {baseline:10.0f} operations a second and core")
    print(f"  our search:          {ours:10.0f} operations a second and core")
    whole = _rate(history, lambda: _by(RegisterHistory(history.operations), Method.SEARCH))
    print(f"  and holding that the history can be: {whole:.0f}")
    print(f"  ratio: {ours / baseline:.1f}")

    unique = draw_history(Random(1), UNIQUE_VALUES)
    few_clients = _many_keys(replace(FEW_VALUES, values=None))
    print(f"{OPERATIONS} operations of unique values, 50 clients on one key, 5 % unknown:")
    zones = _rate(unique, lambda: _by(unique, Method.FITTING))
    print(f"  zones:               {zones:10.0f} operations a second and core")
    print(f"as many, {KEYS} keys, {CLIENTS} clients a key, all known:")
    search = _rate(few_clients, lambda: _by(few_clients, Method.SEARCH))
    zones = _rate(few_clients, lambda: _by(few_clients, Method.FITTING))
    print(f"  our search:          {search:10.0f} operations a second and core")
    print(f"  zones:               {zones:10.0f} operations a second and core")
    print(f"  ratio: {zones / search:.1f}")


def agree(count: int) -> int:
    """Compare all ways on so many random histories; return what the command ends with."""
    try:
        counts = compare(range(count))
    except DisagreementError as error:
        print(f"they differ: {error}")
        return 1
    print(", ".join(f"{name}: {number}" for name, number in sorted(counts.items())))
    if not counts["good"] or not counts["bad"]:
        print("not both good and bad histories were drawn: nothing is shown")
        return 1
    print(f"all agree on {counts['good'] + counts['bad']} histories")
    return 0


def command(arguments: Sequence[str]) -> int:
    """Measure, or compare."""
    match arguments:
        case []:
            main()
            return 0
        case ["--agree", count] if count.isascii() and count.isdigit():
            return agree(int(count))
        case _:
            print("usage: python -m benchmarks.linearizability [--agree N]", file=sys.stderr)
            return 2


def _many_keys(shape: Shape) -> RegisterHistory:
    """Draw a history for each key, with clients of its own."""
    operations: list[Operation] = []
    for key in range(KEYS):
        drawn = draw_history(Random(key), shape).operations
        operations += [
            replace(one, key=f"k{key}", client=key * CLIENTS + one.client) for one in drawn
        ]
    return RegisterHistory(tuple(operations))


def _at_once(history: RegisterHistory) -> float:
    """Return how many operations of its key are under way when one is called, with it."""
    total = 0
    for of_key in history.by_key().values():
        events = sorted(
            event for one in of_key for event in ((one.called_at, 1), (one.returned_at or 0, -1))
        )
        under_way = 0
        for _, change in events:
            under_way += change
            total += under_way if change == 1 else 0
    return total / len(history.operations)


def _rate(history: RegisterHistory, call: Callable[[], None]) -> float:
    """Return operations a second of CPU time, the median of some times."""
    seconds = []
    for _ in range(TIMES):
        begin = time.process_time()
        call()
        seconds.append(time.process_time() - begin)
    return len(history.operations) / statistics.median(seconds)


def _by(history: RegisterHistory, method: Method) -> None:
    verdict = check_linearizability(history, method=method)
    assert isinstance(verdict, Linearizable), verdict.in_words()


def _by_textbook(history: RegisterHistory) -> None:
    for of_key in history.by_key().values():
        assert textbook.is_linearizable(of_key, 100_000_000)


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
