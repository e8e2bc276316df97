"""Known bugs of a master that comes back, and of its slaves, as overrides of their rules."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.formats.offset_tables import OffsetTable
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.pre_online.rules import RULES, Offsets, PreOnlineRules, put

__all__ = ["PRE_ONLINE_BUGS", "PRE_ONLINE_OVERRIDES", "pre_online_rules"]


@cache
def pre_online_rules(bugs: Bugs) -> PreOnlineRules:
    """Return the rules of a broker with these bugs in them."""
    return overridden(RULES, PRE_ONLINE_OVERRIDES, bugs)


# ---- slaves ----


def _copies_while_it_acts(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, may_copy=lambda serves: True)


def _keeps_its_version(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, copied_version=lambda mine, theirs: mine)


def _deletes_first(rules: PreOnlineRules) -> PreOnlineRules:
    def copied(mine: Offsets, theirs: Offsets) -> tuple[Offsets, ...]:
        return ({}, *rules.copied(mine, theirs))

    return replace(rules, copied=copied)


# ---- everybody ----


def _counts_nothing(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, is_counted=lambda: False)


# ---- the master ----


def _counts_slaves(rules: PreOnlineRules) -> PreOnlineRules:
    def is_complete(asked: bool, members: frozenset[int], done: frozenset[int]) -> bool:
        return asked and len(members) <= len(done)

    return replace(rules, is_complete=is_complete)


def _waits_for_nobody(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, is_complete=lambda asked, members, done: True)


def _serves_in_isolation(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, takes_commits=lambda serves, isolated: serves or isolated)


def _registers_in_isolation(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, may_register=lambda isolated: True)


def _gives_in_isolation(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, may_be_copied=lambda isolated: True)


def _any_connection(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, is_connected=lambda links, told, slave: bool(links))


def _told_is_enough(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, is_connected=lambda links, told, slave: slave in links or slave in told)


def _by_version(rules: PreOnlineRules) -> PreOnlineRules:
    def merged(mine: OffsetTable, theirs: OffsetTable) -> Offsets:
        is_taken = theirs.version.counter >= mine.version.counter
        return put(mine.offsets, theirs.offsets) if is_taken else mine.offsets

    return replace(rules, merged=merged)


def _not_of_one_version(rules: PreOnlineRules) -> PreOnlineRules:
    def merged(mine: OffsetTable, theirs: OffsetTable) -> Offsets:
        is_tie = theirs.version.counter == mine.version.counter
        return mine.offsets if is_tie else rules.merged(mine, theirs)

    return replace(rules, merged=merged)


def _whatever_it_is(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, merged=lambda mine, theirs: put(mine.offsets, theirs.offsets))


def _asks_once(rules: PreOnlineRules) -> PreOnlineRules:
    return replace(rules, asks_again=lambda: False)


PRE_ONLINE_OVERRIDES: Final[dict[Bug, Override[PreOnlineRules]]] = {
    Bug.B48: _copies_while_it_acts,
    Bug.B48_VERSION: _keeps_its_version,
    Bug.B49: _counts_nothing,
    Bug.B50: _counts_slaves,
    Bug.B51: _deletes_first,
    Bug.B76: _waits_for_nobody,
    Bug.COMPARED: _whatever_it_is,
    Bug.FRESH: _asks_once,
    Bug.GIVES: _gives_in_isolation,
    Bug.HOST: _any_connection,
    Bug.ISOLATED: _registers_in_isolation,
    Bug.SERVING: _serves_in_isolation,
    Bug.TRANSFER: _told_is_enough,
    Bug.VERSIONS: _by_version,
    Bug.TIES: _not_of_one_version,
}

PRE_ONLINE_BUGS: Final[Bugs] = frozenset(PRE_ONLINE_OVERRIDES)
"""What a master that comes back and its slaves may have."""
