"""Known bugs of replication without a controller, as overrides of its rules."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.ha.state import NOT_YET
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.epoch_truncation import at_log_end
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.legacy_ha.rules import LEGACY_RULES, LegacyRules

__all__ = ["LEGACY_BUGS", "LEGACY_OVERRIDES", "legacy_rules"]


@cache
def legacy_rules(bugs: Bugs) -> LegacyRules:
    """Return the rules of the legacy service with these bugs in them."""
    return overridden(LEGACY_RULES, LEGACY_OVERRIDES, bugs)


def _connections_counted(rules: LegacyRules) -> LegacyRules:
    """Count connections, and two of them may be of one slave."""
    return replace(rules, acknowledged=lambda said, end: sum(ack >= end for _, ack in said))


def _any_report_taken(rules: LegacyRules) -> LegacyRules:
    return replace(rules, accepts_report=lambda report, log_end, last: True)


def _first_report_taken(rules: LegacyRules) -> LegacyRules:
    """Look only at the reports that follow, which are smaller than what was sent: branch 4.9.x."""
    return replace(
        rules,
        accepts_report=lambda report, log_end, last: (
            last == NOT_YET or rules.accepts_report(report, log_end, last)
        ),
    )


def _last_file_sent(rules: LegacyRules) -> LegacyRules:
    """Go to the last file, whoever waits for what is before it."""
    return replace(rules, start_for_empty=lambda last_file, waited_for: last_file)


def _master_counted(rules: LegacyRules) -> LegacyRules:
    """Count the master, and ask nobody where that is enough."""
    return replace(rules, slaves_to_wait_for=lambda need: rules.slaves_to_wait_for(need) - 1)


def _any_offset_taken(rules: LegacyRules) -> LegacyRules:
    return replace(rules, continues_at=at_log_end(rules.continues_at))


LEGACY_OVERRIDES: Final[dict[Bug, Override[LegacyRules]]] = {
    Bug.B23: _connections_counted,
    Bug.B52: _any_report_taken,
    Bug.FIRST_REPORT: _first_report_taken,
    Bug.START_COVERS_WAITING: _last_file_sent,
    Bug.SYNC_WAITS: _master_counted,
    Bug.OFFSET_CONTINUES: _any_offset_taken,
}

LEGACY_BUGS: Final[Bugs] = frozenset(LEGACY_OVERRIDES)
"""What the legacy service may have."""
