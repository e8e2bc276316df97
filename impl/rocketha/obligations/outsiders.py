"""Who asks a node and is no node of the run: it is answered in the step, and nothing follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from rocketha.formats.remoting_command import NO_FIELDS
from rocketha.obligations.obligation import Due, RecordedRun, due_in_step
from rocketha.obligations.seen import Seen, seen_of

__all__ = ["CLOSED", "Heard", "answered", "outsiders_answered"]

Heard: TypeAlias = dict[str, Any]
"""A request of an outsider: its `code` and `fields`."""

CLOSED: Final = {"is": "OutsiderRefused"}
"""Its connection is closed."""


def answered(code: int, fields: Mapping[str, str] = NO_FIELDS) -> dict[str, Any]:
    """Return how an answer is recorded."""
    return {"is": "OutsiderAnswered", "code": code, "fields": dict(fields)}


def _plain(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "fields": dict(one["fields"])} if "fields" in one else one


def outsiders_answered(
    run: RecordedRun, kind: str, wanted: Callable[[Seen, Heard], dict[str, Any] | None]
) -> Iterator[Due]:
    """Find what nodes of a kind owe outsiders.

    Nothing is stored, nothing sent, and all that it has in its memory stays.

    `wanted` says by a request what the answer is; None: there is none.
    """
    for node in run.nodes_of(kind):
        for one in seen_of(run, node):
            for heard in one.record.heard:
                if heard["is"] == "OutsiderHeard":
                    answer = wanted(one, heard)
                    told = [_plain(x) for x in one.record.answered]
                    is_told = told == ([] if answer is None else [answer])
                    did = one.record.stored or one.messages or one.state != one.before
                    is_done = is_told and not did
                    how = "nothing" if answer is None else f"{answer.get('code', 'no more')}"
                    what = f"answer {how} to an outsider's {heard['code']}"
                    yield due_in_step(one.record, what, is_done=is_done)
