"""The manifest, the specifications, the mutants and the implementation's switches fit together."""

from __future__ import annotations

import re
from typing import Final

import pytest

from rocketha.known_bugs import GROUP_BUGS, Bug
from tests.source_files import ROOT
from tlatrace.tools.manifest import Manifest, read_manifest
from tlatrace.tools.tlc_config import invariants_of, properties_of

SPEC: Final = ROOT / "spec"
COMMON: Final = "common"
_MOST_LINES: Final = 500
_TAG: Final = re.compile(r"\\\* CHECK (\w+)")
_DEFINED: Final = re.compile(r"^(\w+)\s*(?:\([^=\n]*\))?\s*==", re.MULTILINE)

NO_RUN_SHOWS: Final = {"B29", "B33", "LateEpoch"}
"""Switches that no simulated run was found to show: TLC finds these bugs, and so does the machine
that drives a group beside its model (model_tests/machines/test_replica_group.py)."""

SHOWN_OTHERWISE: Final = {"B43", "B70"}
"""Switches that are not searched for: traces show B70 at once though TLC finds no harm in it, and
B43 with RocketMQ's defaults (tests/traces/rocketproof/test_route_projection.py)."""

BY_TLC_ALONE: Final = {
    "B17": "confirmOffset is always at the end of a record, so none begins below it and ends above",
    "B21": "a broker has room for one proposal; with the second in its place it is B79",
    "B22": "with one proposal at a time, no set is learnt between making and sending a request",
    "B80": "with one proposal at a time, an answer to another one cannot end it",
    "B81": "a slave is looked at right after its report, so the report is never an old one",
    "Deposed": "alone it is harmless: an election makes every request of before stale",
    "Registered": "alone it is harmless: who has restarted since is of no use; with B85 it shows",
    "SelfShrink": "alone it is harmless; B25 has it, and shows",
    "Unbumped": "alone it is harmless: a request tells its master",
    "W9": "it is no bug but a choice: simulate --unclean",
    "W10": "it is no bug but a choice: simulate --config rocketmq",
    "MasterAck": "it is the same choice, of which only producers know",
    "StaleLook": "a broker looks at its set and sends what it made of it in one step",
}
"""Guards of SyncStateSet whose bugs are not searched in simulated runs, and why."""


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return read_manifest(SPEC)


def test_the_manifest_names_every_configuration(manifest: Manifest) -> None:
    used = {model.config for model in manifest.models}
    used |= {witness.config for witness in manifest.witnesses}
    used |= {mutant.config for mutant in manifest.mutants}
    assert used == set(SPEC.rglob("*.cfg"))
    assert used, "there is no configuration at all"


def test_every_protocol_has_a_small_model(manifest: Manifest) -> None:
    small = {model.protocol for model in manifest.models if model.name == "small"}
    assert small == set(manifest.protocols)


def test_every_count_is_recorded(manifest: Manifest) -> None:
    assert [m.name for m in manifest.models if not (m.distinct or m.length)] == []
    assert [w.name for w in manifest.witnesses if not w.length] == []
    assert [m.name for m in manifest.mutants if not (m.length or m.distinct)] == []


def marked(folder: str) -> set[str]:
    """Return the tags of the guards in a protocol's specifications, or in the common modules."""
    texts = [path.read_text("utf-8") for path in (SPEC / folder).rglob("*.tla")]
    return {tag for text in texts for tag in _TAG.findall(text)}


def test_a_module_has_at_most_500_lines() -> None:
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in SPEC.rglob("*.tla")}
    assert lines["ReplicaGroup.tla"] > 400
    assert [name for name, count in lines.items() if count > _MOST_LINES] == []


def test_every_guard_that_is_marked_has_a_mutant(manifest: Manifest) -> None:
    assert any(marked(protocol) for protocol in manifest.protocols), "no guard is marked"
    for protocol in manifest.protocols:
        names = {mutant.name for mutant in manifest.mutants if mutant.protocol == protocol}
        assert marked(protocol) <= names, protocol
    assert marked(COMMON) <= {mutant.name for mutant in manifest.mutants}


def test_a_mutant_is_named_after_its_guards(manifest: Manifest) -> None:
    """Its name is the guard's tag, or several with `_` between, and what it is checked against."""
    for mutant in manifest.mutants:
        *others, last = mutant.name.split("_")
        tags = marked(mutant.protocol) | marked(COMMON)
        assert set(others) <= tags, mutant.name
        assert last in tags or (others and last == mutant.against), mutant.name


def test_every_operator_of_a_mutants_module_is_used(manifest: Manifest) -> None:
    for module in {mutant.module for mutant in manifest.mutants}:
        mutants = [m for m in manifest.mutants if m.module == module]
        used = {o.partition(" <- ")[2] for m in mutants for o in m.overrides}
        assert used == set(_DEFINED.findall(module.read_text("utf-8"))), module


def test_a_mutant_is_killed_by_a_property_of_its_configuration(manifest: Manifest) -> None:
    for mutant in manifest.mutants:
        if mutant.killed_by is not None:
            text = mutant.config.read_text("utf-8")
            assert mutant.killed_by in invariants_of(text) + properties_of(text), mutant.name


def test_every_switch_of_the_implementation_is_a_mutant_and_all_but_a_few_are_searched_for(
    manifest: Manifest,
) -> None:
    switches = {bug.value for bug in Bug}
    assert switches <= {m.name for m in manifest.mutants}
    searched = {part for m in manifest.mutants if m.bug for part in m.name.split("_")}
    assert searched <= switches
    assert switches - searched == NO_RUN_SHOWS | SHOWN_OTHERWISE


def test_a_bug_of_the_sync_state_set_is_searched_for_in_master_epochs_or_there_is_a_reason(
    manifest: Manifest,
) -> None:
    mutants = [m for m in manifest.mutants if m.protocol == "sync_state_set"]
    searched = {m.name for m in mutants if m.bug}
    assert marked("sync_state_set") - searched == set(BY_TLC_ALONE)
    assert searched <= {bug.value for bug in GROUP_BUGS}
