"""Known bugs of a slave that acts, and of masters that get what is due, as overrides of rules."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.escape.rules import RULES, EscapeRules
from rocketha.formats.due_messages import ROLLED_BACK
from rocketha.formats.pop_messages import Popped
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden

__all__ = ["ESCAPE_BUGS", "ESCAPE_OVERRIDES", "escape_rules"]

_HASH: Final = 7_919
"""Of a topic and a store host, which do not change."""


@cache
def escape_rules(bugs: Bugs) -> EscapeRules:
    """Return the rules with these bugs in them."""
    return overridden(RULES, ESCAPE_OVERRIDES, bugs)


# ---- where a slave puts ----


def _never_asks(rules: EscapeRules) -> EscapeRules:
    return replace(rules, asks=lambda: False)


def _again_goes_here(rules: EscapeRules) -> EscapeRules:
    return replace(rules, may_put_here=lambda is_again: is_again)


def _all_alike(rules: EscapeRules) -> EscapeRules:
    return replace(rules, targets=lambda known, local: known)


def _shows_halves(rules: EscapeRules) -> EscapeRules:
    return replace(rules, shows=lambda is_half: True)


# ---- progress ----


def _passes_what_is_sent(rules: EscapeRules) -> EscapeRules:
    def may_pass(is_heard: bool, has_ended: bool, is_under: bool, has_failed: bool) -> bool:
        return is_heard or has_ended or is_under

    return replace(rules, may_pass=may_pass)


def _passes_what_fails(rules: EscapeRules) -> EscapeRules:
    def may_pass(is_heard: bool, has_ended: bool, is_under: bool, has_failed: bool) -> bool:
        return is_heard or has_ended or has_failed

    return replace(rules, may_pass=may_pass)


def _writes_what_is_sent(rules: EscapeRules) -> EscapeRules:
    return replace(rules, written=lambda progress, waits: progress + 1 if waits else progress)


# ---- half messages ----


def _shows_unasked(rules: EscapeRules) -> EscapeRules:
    return replace(rules, is_committed=lambda how: how != ROLLED_BACK)


# ---- pops ----


def _by_hash(rules: EscapeRules) -> EscapeRules:
    def chosen(master: str, of: frozenset[str]) -> bool:
        return bool(of) and master == sorted(of)[_HASH % len(of)]

    return replace(rules, may_hold=chosen, may_ack=lambda master, holder, of: chosen(master, of))


def _told_anyway(rules: EscapeRules) -> EscapeRules:
    return replace(rules, may_accept=lambda is_stored: True)


def _without_a_broker(rules: EscapeRules) -> EscapeRules:
    def cancels(check_point: Popped, ack: Popped) -> bool:
        return replace(ack, broker_name=check_point.broker_name) == check_point

    return replace(rules, cancels=cancels)


ESCAPE_OVERRIDES: Final[dict[Bug, Override[EscapeRules]]] = {
    Bug.B47: _never_asks,
    Bug.B48: _again_goes_here,
    Bug.EARLY: _writes_what_is_sent,
    Bug.LOCAL_FIRST: _all_alike,
    Bug.MEETS: _by_hash,
    Bug.NAMES: _without_a_broker,
    Bug.SENT: _passes_what_is_sent,
    Bug.SKIPS: _passes_what_fails,
    Bug.STAYS_HALF: _shows_halves,
    Bug.TOLD: _told_anyway,
    Bug.UNASKED: _shows_unasked,
}

ESCAPE_BUGS: Final[Bugs] = frozenset(ESCAPE_OVERRIDES)
"""What a slave that acts and masters of other groups may have."""
