"""What members of a DLedger group owe: at the end of a turn, to who asks, and in time.

The parts are `dledger_answers` (what is answered), `dledger_clients` (what clients are told),
`dledger_duties` (what follows from what was heard), `dledger_entries` (what is pushed) and
`dledger_times` (what is due later); `dledger_turns` has what all of them look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from rocketha.obligations.dledger_answers import ANSWERS, answers_of
from rocketha.obligations.dledger_clients import SAID, said_of
from rocketha.obligations.dledger_duties import DUTIES, Duties
from rocketha.obligations.dledger_entries import ENTRIES, entries_of
from rocketha.obligations.dledger_times import TIMES, times_of
from rocketha.obligations.dledger_turns import turns_of
from rocketha.obligations.obligation import Due, Obligation, RecordedRun

__all__ = ["DLEDGER"]


def _all_dues(run: RecordedRun) -> list[tuple[str, Due]]:
    found = []
    for node, turns in turns_of(run).items():
        settings = run.headers[node].settings
        duties, incarnation = Duties(settings), 0
        for turn in turns:
            if turn.incarnation != incarnation:
                duties, incarnation = Duties(settings), turn.incarnation
            answers, entries = answers_of(turn, settings), entries_of(turn, settings)
            told = said_of(turn, settings)
            for name, done in (*answers, *duties.of(turn), *entries, *told):
                due = Due(
                    node=node,
                    since_ms=turn.at_ms,
                    by_ms=turn.at_ms,
                    what=f"do what {turn.event} asks for ({name})",
                    done_ms=turn.at_ms if done else None,
                )
                found.append((name, due))
        found += times_of(node, turns, settings)
    return found


def _dues(name: str, run: RecordedRun) -> Iterator[Due]:
    return (due for what, due in run.once(_all_dues) if what == name)


DLEDGER: Final = tuple(
    Obligation(name=name, dues=partial(_dues, name))
    for name in (*ANSWERS, *DUTIES, ENTRIES, SAID, *TIMES)
)
