"""What clients saw while a slave acted for its master and after, and what that comes to.

A run of such a scenario has no trace: its `played.json` has what was seen, and here it is judged.
Each kind of history asks for evidence: that the slave acted, that its progress went on, that what
is looked for comes where nothing stands in its way. Without it there is no outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import msgspec

__all__ = ["JUDGES", "Kind", "Outcome", "Seen", "outcome_of"]

Kind: TypeAlias = Literal["halves", "delays", "pops", "returns"]

_COMMIT: Final = "COMMIT_MESSAGE"
_MARGIN_MS: Final = 2000
"""An ACK is in time that comes so long before the message is visible again."""
_OK: Final = ("SEND_OK", "OK")


class Seen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that was seen, or done to the group."""

    at_ms: int
    """Since the run began."""
    what: str
    """Of the group: killed, acts, back, waited, gone, up, joined. Of clients: sent, decided,
    checked, ended, pulled, popped, acked, found (at the end; it says when that was stored). Of a
    broker: progress, stored."""
    node: str = ""
    """The broker."""
    id: str = ""
    """The message."""
    said: str = ""
    """What was answered, or how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a history comes to."""

    lost: tuple[str, ...] = ()
    """Messages that nobody got although they were due."""
    again: tuple[str, ...] = ()
    """Messages that came again although their acknowledgement had been taken."""
    early: tuple[str, ...] = ()
    """Delayed messages that came before their time."""
    kept_out: tuple[str, ...] = ()
    """Brokers that run, and serve nobody."""
    twice: tuple[str, ...] = ()
    """Messages that came more than once, which at-least-once allows."""
    missing: str = ""
    """The evidence that is not there; the history says nothing then."""
    words: str = ""

    @property
    def broken(self) -> tuple[str, ...]:
        """The messages, or brokers, with which a promise was broken."""
        return (*self.lost, *self.again, *self.early, *self.kept_out)


@dataclass(frozen=True, slots=True)
class _History:
    seen: Sequence[Seen]

    def of(self, what: str, *, node: str = "") -> list[Seen]:
        return [one for one in self.seen if one.what == what and node in ("", one.node)]

    def first(self, what: str, *, node: str = "") -> int | None:
        """Return when something was seen first."""
        return next((one.at_ms for one in self.of(what, node=node)), None)

    def span(self) -> tuple[int, int, int] | None:
        """Return when the master was killed, the slave acted, the master was back."""
        times = [self.first(what) for what in ("killed", "acts", "back")]
        found = [at for at in times if at is not None]
        return (
            (found[0], found[1], found[2]) if len(found) == 3 and found == sorted(found) else None
        )


def outcome_of(kind: Kind, seen: Sequence[Seen]) -> Outcome:
    """Judge what was seen in a run."""
    return JUDGES[kind](_History(seen))


def _named(ids: Iterable[str]) -> str:
    return ", ".join(ids) or "none"


def _halves(history: _History) -> Outcome:
    """Halves that were open when the master was killed, and that their producer committed since."""
    if (span := history.span()) is None:
        return Outcome(missing="the slave did not act between the end and the return of its master")
    killed, acts, back = span
    sent = [one for one in history.of("sent", node="b1") if one.said in _OK]
    before = [one.id for one in sent if one.at_ms < killed]
    after = [one.id for one in sent if one.at_ms > back]
    committed = [one.id for one in history.of("decided") if one.said == _COMMIT]
    checked = history.of("checked")
    asked_before = {one.id for one in checked if one.at_ms < killed}
    if not before or not set(before) <= asked_before:
        return Outcome(missing="the master had not asked for each half")
    passed = [one for one in history.of("progress", node="b2") if acts < one.at_ms < back]
    if not passed or not _is_at_end(passed[-1].said):
        return Outcome(missing="the slave's progress has not passed the halves")
    found = [one.id for one in history.of("found")]
    if not after or not all(one in found for one in after if one in committed):
        return Outcome(
            missing="the master that is back asks nobody: a half sent since is not found"
        )
    lost = tuple(one for one in before if one in committed and one not in found)
    asked = [one for one in checked if one.at_ms > killed and one.id in before]
    rounds = len([one for one in checked if one.at_ms > back and one.id in after])
    twice = tuple(dict.fromkeys(one for one in found if found.count(one) > 1))
    words = (
        f"of {len(before)} open halves {len({one.id for one in asked})} were asked for since the "
        f"master was killed ({len(asked)} checks); since it is back it asked {rounds} times for "
        f"those sent since; committed and never seen: {_named(lost)}; seen twice: {_named(twice)}"
    )
    return Outcome(lost=lost, twice=twice, words=words)


def _is_at_end(said: str) -> bool:
    """Tell whether progress "3 of 3" is at the end of a queue that has something."""
    at, _, end = said.partition(" of ")
    return at == end and end not in ("", "0")


def _delays(history: _History) -> Outcome:
    """Delayed messages that came due while the slave acted."""
    if (span := history.span()) is None:
        return Outcome(missing="the slave did not act between the end and the return of its master")
    killed, acts, back = span
    sent = history.of("sent", node="b1")
    due = {one.id: int(one.said) for one in sent if one.at_ms < killed}
    inside = {one for one, at in due.items() if acts < at < back}
    found = {one.id: [int(f.said) for f in history.of("found") if f.id == one.id] for one in sent}
    if not inside:
        return Outcome(missing="nothing came due while the slave acted")
    controls = [one.id for one in sent if one.at_ms > back]
    if not controls or not all(found[one] for one in controls):
        return Outcome(missing="the master that is back delivers nothing: what was sent since")
    lost = tuple(one for one in due if not found[one])
    early = tuple(one for one, at in due.items() if any(each < at for each in found[one]))
    twice = tuple(one for one in due if len(found[one]) > 1)
    acting = [one for one in inside if any(each < back for each in found[one])]
    words = (
        f"{len(inside)} of {len(due)} came due while the slave acted, {len(acting)} of them were "
        f"delivered before the master was back; never delivered: {_named(lost)}; "
        f"before their time: {_named(early)}; more than once: {_named(twice)}"
    )
    return Outcome(lost=lost, early=early, twice=twice, words=words)


def _pops(history: _History) -> Outcome:
    """Pops from a slave that acts, acknowledged before and after another master has come."""
    acts, came = history.first("acts"), history.first("joined")
    if acts is None or came is None or acts > came:
        return Outcome(missing="no other master came while the slave acted")
    popped = history.of("popped")
    first = {one.id: one.at_ms for one in reversed(popped)}
    done = {one.id: one.at_ms for one in history.of("acked") if one.said in _OK}
    times = {one: len([each for each in popped if each.id == one]) for one in first}
    left = [one for one in first if one not in done]
    if not left or not all(times[one] > 1 for one in left):
        return Outcome(
            missing="what was not acknowledged did not come again, so nothing is revived"
        )
    until = {one.id: one.at_ms + int(one.said.split()[0]) for one in reversed(popped)}
    in_time = {one: at for one, at in done.items() if at + _MARGIN_MS < until[one]}
    before = [one for one, at in in_time.items() if at < came]
    late = [one for one, at in in_time.items() if at > came > first[one]]
    if not before or not late:
        return Outcome(missing="nothing was acknowledged in time before the other master, or since")
    again = tuple(
        one for one, at in in_time.items() if any(p.id == one and p.at_ms > at for p in popped)
    )
    words = (
        f"acknowledged before the other master came: {_named(before)}; since: {_named(late)}; "
        f"not at all: {_named(left)}; acknowledged and delivered again: {_named(again)}"
    )
    return Outcome(again=again, words=words)


def _returns(history: _History) -> Outcome:
    """A master that is started again after a client has pulled from its slave."""
    times = [history.first(what) for what in ("killed", "acts", "pulled")]
    started, ends = history.first("up", node="b1"), history.first("waited", node="b1")
    back = history.first("back")
    if None in times or started is None or (back is None and ends is None):
        return Outcome(missing="the master was not started again after a pull from its slave")
    if back is not None:
        return Outcome(words=f"the master was back {(back - started) / 1000:.0f} s after its start")
    assert ends is not None
    words = f"the master was not back {(ends - started) / 1000:.0f} s after its start"
    return Outcome(kept_out=("b1",), words=words)


_OF: Final[dict[Kind, Callable[[_History], Outcome]]] = {
    "halves": _halves,
    "delays": _delays,
    "pops": _pops,
    "returns": _returns,
}
JUDGES: Final = MappingProxyType(_OF)
