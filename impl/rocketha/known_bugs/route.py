"""Known bugs of name servers and of brokers among them, as overrides of their rules."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.acting.rules import RULES as ACTING_RULES
from rocketha.acting.rules import ActingRules
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.nameserver.rules import RULES as NAME_SERVER_RULES
from rocketha.nameserver.rules import NameServerRules
from rocketha.nameserver.table import Group, Registration
from rocketha.types import MASTER

__all__ = [
    "ACTING_OVERRIDES",
    "NAME_SERVER_OVERRIDES",
    "ROUTE_BUGS",
    "acting_rules",
    "name_server_rules",
]


@cache
def name_server_rules(bugs: Bugs) -> NameServerRules:
    """Return the rules of a name server with these bugs in them."""
    return overridden(NAME_SERVER_RULES, NAME_SERVER_OVERRIDES, bugs)


@cache
def acting_rules(bugs: Bugs) -> ActingRules:
    """Return the rules of a broker with these bugs in them."""
    return overridden(ACTING_RULES, ACTING_OVERRIDES, bugs)


def _last_one_wins(rules: NameServerRules) -> NameServerRules:
    return replace(rules, is_newest=lambda group, new: True)


def _only_the_present_counts(rules: NameServerRules) -> NameServerRules:
    def is_newest(group: Group, new: Registration) -> bool:
        present = group.brokers.get(MASTER)
        return not new.is_master or present is None or new.epoch >= present.epoch

    return replace(rules, is_newest=is_newest)


def _ended_by_broker_id(rules: NameServerRules) -> NameServerRules:
    return replace(rules, is_meant=lambda present, meant: present.broker_id == meant.broker_id)


def _ended_by_address(rules: NameServerRules) -> NameServerRules:
    return replace(rules, is_meant=lambda present, meant: present.address == meant.address)


def _masks_every_group(rules: NameServerRules) -> NameServerRules:
    return replace(rules, may_mask=lambda is_acting: True)


NAME_SERVER_OVERRIDES: Final[dict[Bug, Override[NameServerRules]]] = {
    Bug.B40: _last_one_wins,
    Bug.B40_FORGOTTEN: _only_the_present_counts,
    Bug.B41: _ended_by_broker_id,
    Bug.B42: _ended_by_address,
    Bug.B43: _masks_every_group,
}


def _registers_as_default(rules: ActingRules) -> ActingRules:
    return replace(rules, knows_role=lambda role: True)


ACTING_OVERRIDES: Final[dict[Bug, Override[ActingRules]]] = {
    Bug.B44: _registers_as_default,
}

ROUTE_BUGS: Final[Bugs] = frozenset(NAME_SERVER_OVERRIDES) | frozenset(ACTING_OVERRIDES)
"""What name servers and brokers among them may have."""
