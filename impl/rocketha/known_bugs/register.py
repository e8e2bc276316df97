"""Known bugs of a register on a DLedger log, as overrides of the rules of reads and of answers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.dledger.answer_rules import ANSWER_RULES, AnswerRules
from rocketha.dledger.read_rules import READ_RULES, ReadRules
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden

__all__ = ["ANSWER_OVERRIDES", "READ_OVERRIDES", "REGISTER_BUGS", "answer_rules", "read_rules"]


@cache
def answer_rules(bugs: Bugs) -> AnswerRules:
    """Return the rules of answers with these bugs in them."""
    return overridden(ANSWER_RULES, ANSWER_OVERRIDES, bugs)


@cache
def read_rules(bugs: Bugs) -> ReadRules:
    """Return the rules of reads with these bugs in them."""
    return overridden(READ_RULES, READ_OVERRIDES, bugs)


# ---- reads without an entry ----


def _anybody_reads(rules: ReadRules) -> ReadRules:
    return replace(
        rules,
        may_read=lambda leads: True,
        knows_committed=lambda committed, curr_term: True,
        is_confirmed=lambda majority_follows: True,
    )


def _reads_before_an_own_entry(rules: ReadRules) -> ReadRules:
    return replace(rules, knows_committed=lambda committed, curr_term: True)


def _reads_without_heartbeats(rules: ReadRules) -> ReadRules:
    return replace(rules, is_confirmed=lambda majority_follows: True)


def _reads_before_it_has_applied(rules: ReadRules) -> ReadRules:
    return replace(rules, has_applied=lambda applied, noted: True)


READ_OVERRIDES: Final[dict[Bug, Override[ReadRules]]] = {
    Bug.APPLIED_FIRST: _reads_before_it_has_applied,
    Bug.HEARTBEATS: _reads_without_heartbeats,
    Bug.LOCAL_READ: _anybody_reads,
    Bug.OWN_TERM_FIRST: _reads_before_an_own_entry,
}

# ---- entries ----


def _answers_whoever_waits_there(rules: AnswerRules) -> AnswerRules:
    return replace(rules, waits_on=lambda leads_on: True)


def _answers_when_it_has_written(rules: AnswerRules) -> AnswerRules:
    return replace(rules, is_done=lambda applied: True)


ANSWER_OVERRIDES: Final[dict[Bug, Override[AnswerRules]]] = {
    Bug.ANSWER_APPLIED: _answers_when_it_has_written,
    Bug.SAME_ENTRY: _answers_whoever_waits_there,
}

REGISTER_BUGS: Final[Bugs] = frozenset(READ_OVERRIDES) | frozenset(ANSWER_OVERRIDES)
"""What a register may have."""
