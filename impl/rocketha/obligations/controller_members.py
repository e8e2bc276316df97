"""What controllers owe each other that are members of a DLedger group: what any members do.

One controller alone owes nothing here.

Source: `rocketha.obligations.dledger`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rocketha.obligations.dledger import DLEDGER
from rocketha.obligations.obligation import Due, Obligation, RecordedRun
from rocketha.recording.dledger_members import is_member, said_between

__all__ = ["CONTROLLER_MEMBERS"]


def _group(run: RecordedRun) -> RecordedRun:
    headers = {name: one for name, one in run.headers.items() if is_member(one)}
    records = [record for record in run.records if record.node in headers]
    between = said_between(headers, records)
    return replace(run, headers=headers, records=[between(record) for record in records])


def _dues(run: RecordedRun) -> Iterator[Due]:
    group = run.once(_group)
    for obligation in DLEDGER:
        yield from obligation.dues(group)


CONTROLLER_MEMBERS: Final = Obligation(name="what members of a log owe", dues=_dues)
