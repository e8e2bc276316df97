"""Specifications as SANY declares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.tlc.toy import SPECS
from tlatrace.errors import ModelGapError, SpecError
from tlatrace.judgement.specification import differing_constants, load_spec
from tlatrace.tla.config import TlcConfig, parse_config, read_config
from tlatrace.tla.declarations import Operator, Place, read_declarations
from tlatrace.values import ModelValue, record, tla_set

pytestmark = pytest.mark.java

MAILBOX = SPECS / "Mailbox.tla"


def test_declarations_are_those_of_the_module_and_of_what_it_extends() -> None:
    found = read_declarations(MAILBOX)

    assert set(found.constants) == {"Node", "Max"}
    assert set(found.variables) == {"sent", "queue", "total"}
    assert found.operators["Send"] == Operator(2, 2, "Mailbox")
    assert found.operators["TypeOK"].level == 1
    assert "Append" in found.operators
    assert found.formulas["Spec"] == ("Init", "Next")


def test_places_have_the_bounds_of_next_and_only_certain_ones_count() -> None:
    places = read_declarations(MAILBOX).places["Next"]

    assert places["Send"] == (Place(("\\in (Node)", "\\in (1..2)")),)
    assert places["Receive"] == (Place(()),)
    assert "Forget" not in places
    assert "Drop" not in places
    assert "Cheat" not in places


def test_constants_come_from_the_trace_where_there_is_no_configuration() -> None:
    spec = load_spec(MAILBOX, constants={"Node": tla_set(["a", "b"]), "Max": 3})

    assert spec.constants == ("Max = 3", 'Node = {"a", "b"}')
    assert spec.reading.names == frozenset()


def test_strings_that_the_configuration_declares_become_model_values() -> None:
    spec = load_spec(MAILBOX, config=read_config(SPECS / "Mailbox.cfg"))

    assert spec.reading.names == {"n1", "n2"}
    assert spec.reading.plain(("n1", "other")) == (ModelValue("n1"), "other")
    assert spec.invariants == ("TypeOK", "Bounded")
    assert differing_constants(spec, {"Node": tla_set(["n1", "n2"]), "Max": 3}) == []
    assert differing_constants(spec, {"Max": 4}) == ["Max"]


def test_a_constant_that_no_configuration_can_write_becomes_a_definition() -> None:
    spec = load_spec(MAILBOX, constants={"Node": tla_set([record({"a": 1})]), "Max": 3})

    assert spec.constants == ("Max = 3", "Node <- Rp__c1")
    assert spec.definitions == ("Rp__c1 == {[a |-> 1]}",)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("CONSTANTS Max = 1", "no value for the constant Node"),
        ("CONSTANTS Max = 1 Node = {a} INVARIANT Nope", "Nope is no state invariant"),
        ("CONSTANTS Max = 1 Node = {a} INVARIANT Next", "Next is no state invariant"),
        ("CONSTANTS Max = 1 Node = {a} INIT Max", "Max is no initial predicate"),
        ("CONSTANTS Max = 1 Node = {a} NEXT Spec", "Spec is no next-state relation"),
        ("CONSTANTS Max = 1 Node = {a} SPECIFICATION TypeOK", "not of the form"),
    ],
)
def test_a_configuration_that_does_not_fit_the_module_is_refused(config: str, reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        load_spec(MAILBOX, config=parse_config(config, Path("x.cfg")))


def test_a_constant_that_the_module_does_not_have_is_a_gap() -> None:
    with pytest.raises(ModelGapError, match="no constant Other"):
        load_spec(MAILBOX, config=TlcConfig(path=MAILBOX), constants={"Other": 1})


def test_a_broken_module_is_its_authors_fault(tmp_path: Path) -> None:
    module = tmp_path / "Broken.tla"
    module.write_text("---- MODULE Broken ----\nx == \n====\n")

    with pytest.raises(SpecError, match="SANY refuses"):
        load_spec(module)


def test_a_missing_module_is_its_authors_fault(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no such module"):
        load_spec(tmp_path / "Nowhere.tla")
