"""A known bug is an override of the rules of its core: each has one, and each changes something."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from rocketha.acting.rules import RULES as ACTING_RULES
from rocketha.broker.rules import BROKER_RULES
from rocketha.controller.rules import CONTROLLER_RULES
from rocketha.dledger.answer_rules import ANSWER_RULES
from rocketha.dledger.push_rules import PUSHER_RULES
from rocketha.dledger.read_rules import READ_RULES
from rocketha.dledger.rules import ELECTOR_RULES
from rocketha.escape.rules import RULES as ESCAPE_RULES
from rocketha.ha.rules import HA_RULES
from rocketha.known_bugs import (
    DLEDGER_BUGS,
    EPOCH_BUGS,
    ESCAPE_BUGS,
    GROUP_BUGS,
    LEGACY_BUGS,
    LOCK_BUGS,
    NO_BUGS,
    PRE_ONLINE_BUGS,
    ROUTE_BUGS,
    SNAPSHOT_BUGS,
    Bug,
    Bugs,
)
from rocketha.known_bugs.dledger import (
    ELECTOR_OVERRIDES,
    PUSHER_OVERRIDES,
    elector_rules,
    pusher_rules,
)
from rocketha.known_bugs.epoch_truncation import HA_OVERRIDES, ha_rules
from rocketha.known_bugs.escape import ESCAPE_OVERRIDES, escape_rules
from rocketha.known_bugs.legacy_replication import LEGACY_OVERRIDES, legacy_rules
from rocketha.known_bugs.lock_quorum import (
    CONSUMER_OVERRIDES,
    VOTING_OVERRIDES,
    consumer_rules,
    voting_rules,
)
from rocketha.known_bugs.pre_online import PRE_ONLINE_OVERRIDES, pre_online_rules
from rocketha.known_bugs.register import (
    ANSWER_OVERRIDES,
    READ_OVERRIDES,
    answer_rules,
    read_rules,
)
from rocketha.known_bugs.replica_group import (
    BROKER_OVERRIDES,
    CONTROLLER_OVERRIDES,
    broker_rules,
    controller_rules,
)
from rocketha.known_bugs.route import (
    ACTING_OVERRIDES,
    NAME_SERVER_OVERRIDES,
    acting_rules,
    name_server_rules,
)
from rocketha.known_bugs.snapshot_loading import SNAPSHOT_OVERRIDES, snapshot_rules
from rocketha.known_bugs.storage import STORAGE_OVERRIDES, file_options
from rocketha.legacy_ha.rules import LEGACY_RULES
from rocketha.locks.rules import CONSUMER_RULES, VOTING_RULES
from rocketha.nameserver.rules import RULES as NAME_SERVER_RULES
from rocketha.pre_online.rules import RULES as PRE_ONLINE_RULES
from rocketha.replicated_log.rules import SNAPSHOT_RULES
from rocketha.runtime.broker_files import FileOptions
from rocketha.storage.commit_log import CommitLogOptions
from rocketha.types import SizeBytes
from tests.source_files import ROOT, WITHOUT_BUGS, python_files

SEGMENT_SIZE: Final = SizeBytes(1024)


@dataclass(frozen=True)
class Home:
    """The bugs of one core."""

    rules: object
    overrides: Mapping[Bug, Callable[[Any], object]]
    with_bugs: Callable[[Bugs], object]


HOMES: Final = {
    "ha": Home(HA_RULES, HA_OVERRIDES, ha_rules),
    "broker": Home(BROKER_RULES, BROKER_OVERRIDES, broker_rules),
    "controller": Home(CONTROLLER_RULES, CONTROLLER_OVERRIDES, controller_rules),
    "legacy": Home(LEGACY_RULES, LEGACY_OVERRIDES, legacy_rules),
    "voting": Home(VOTING_RULES, VOTING_OVERRIDES, voting_rules),
    "consumer": Home(CONSUMER_RULES, CONSUMER_OVERRIDES, consumer_rules),
    "name server": Home(NAME_SERVER_RULES, NAME_SERVER_OVERRIDES, name_server_rules),
    "acting": Home(ACTING_RULES, ACTING_OVERRIDES, acting_rules),
    "pre-online": Home(PRE_ONLINE_RULES, PRE_ONLINE_OVERRIDES, pre_online_rules),
    "escape": Home(ESCAPE_RULES, ESCAPE_OVERRIDES, escape_rules),
    "snapshots": Home(SNAPSHOT_RULES, SNAPSHOT_OVERRIDES, snapshot_rules),
    "elector": Home(ELECTOR_RULES, ELECTOR_OVERRIDES, elector_rules),
    "pusher": Home(PUSHER_RULES, PUSHER_OVERRIDES, pusher_rules),
    "read": Home(READ_RULES, READ_OVERRIDES, read_rules),
    "answer": Home(ANSWER_RULES, ANSWER_OVERRIDES, answer_rules),
    "files": Home(
        FileOptions(log=CommitLogOptions(segment_size=SEGMENT_SIZE)),
        STORAGE_OVERRIDES,
        partial(file_options, SEGMENT_SIZE),
    ),
}
IN_SEVERAL: Final = {
    Bug.B48: {"pre-online", "escape"},
    Bug.B10: {"ha", "broker", "controller"},
    Bug.B84: {"broker", "controller"},
    Bug.B53: {"controller", "snapshots"},
    Bug.B54: {"pusher", "snapshots"},
    Bug.B58: {"pusher", "snapshots"},
    Bug.B68: {"pusher", "snapshots"},
    Bug.INSTALL_FRESH: {"pusher", "snapshots"},
    Bug.OFFSET_CONTINUES: {"ha", "legacy"},
}
"""Bugs that need several cores, and those that two cores have alike."""

EVERY_OVERRIDE: Final = [(name, bug) for name, home in HOMES.items() for bug in home.overrides]


def changed(before: object, after: object) -> set[str]:
    """Return the names of the rules that are not the same functions."""
    assert is_dataclass(before)
    return {
        field.name
        for field in fields(before)
        if getattr(before, field.name) != getattr(after, field.name)
    }


@pytest.mark.parametrize(("name", "bug"), EVERY_OVERRIDE)
def test_an_override_changes_a_rule_and_is_what_the_bug_does(name: str, bug: Bug) -> None:
    home = HOMES[name]
    rules = changed(home.rules, home.overrides[bug](home.rules))
    assert rules
    assert changed(home.rules, home.with_bugs(frozenset({bug}))) == rules


@pytest.mark.parametrize("name", HOMES)
def test_bugs_compose_and_none_changes_nothing(name: str) -> None:
    home = HOMES[name]
    each = [changed(home.rules, home.with_bugs(frozenset({bug}))) for bug in home.overrides]
    assert changed(home.rules, home.with_bugs(frozenset(home.overrides))) == set().union(*each)
    assert home.with_bugs(NO_BUGS) == home.rules
    assert home.with_bugs(frozenset(Bug)) is home.with_bugs(frozenset(Bug))


def test_every_bug_has_one_override_and_only_a_few_have_several() -> None:
    homes = {bug: {name for name in HOMES if bug in HOMES[name].overrides} for bug in Bug}
    assert [bug for bug, names in homes.items() if not names] == []
    assert {bug: names for bug, names in homes.items() if len(names) > 1} == IN_SEVERAL
    protocols = [DLEDGER_BUGS, EPOCH_BUGS, LEGACY_BUGS, LOCK_BUGS, GROUP_BUGS, SNAPSHOT_BUGS]
    protocols += [ROUTE_BUGS, PRE_ONLINE_BUGS, ESCAPE_BUGS]
    assert frozenset[Bug]().union(*protocols) == frozenset(Bug)


def switches(text: str) -> list[str]:
    """Find what a core must not know."""
    return re.findall(r"\bBugs?\b|\bbugs\b|known_bugs", text)


def test_the_cores_read_as_if_there_were_no_bugs() -> None:
    files: list[Path] = [
        path for core in WITHOUT_BUGS for path in python_files(ROOT / "impl" / "rocketha" / core)
    ]
    assert {"ha", "controller", "runtime", "storage"} <= set(WITHOUT_BUGS)
    assert len(files) > len(WITHOUT_BUGS)
    assert {path: found for path in files if (found := switches(path.read_text("utf-8")))} == {}
    assert switches("if Bug.B01 in options.bugs:") == ["Bug", "bugs"]
