"""Packed values: TLC must read back what was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlatrace.errors import ModelGapError
from tlatrace.tla_text import parse_tla
from tlatrace.tlc.pack import Packer
from tlatrace.tools.tlc import Outcome, run_tlc
from tlatrace.values import ModelValue, Value, canonical, fcn, record, tla_set

B1, B2 = ModelValue("b1"), ModelValue("b2")

VALUES: list[Value] = [
    True,
    False,
    0,
    1,
    -7,
    -(2**31),
    2**31 - 1,
    "",
    'text with "quotes" and \\',
    B1,
    (),
    tla_set([]),
    (1, (2, ("x",))),
    tla_set([1, 2, 3]),
    tla_set([(1, 2), (2, 1)]),
    tla_set([record({"a": 1}), record({"a": 2})]),
    record({"a": True, "b": record({"c": (), "d": tla_set(["x"])})}),
    fcn([(B1, 1), (B2, 2)]),
    fcn([(0, "zero"), (5, "five")]),
    fcn([((1, 2), "pair")]),
    record({"not an identifier": 1}),
    tuple(range(100)),
    tla_set(range(100)),
    fcn([(at * 2, at) for at in range(40)]),
    tuple([(at, (at * at,)) for at in range(300)]),
]


@pytest.mark.java
def test_tlc_reads_back_every_packed_value(tmp_path: Path) -> None:
    packer = Packer("P_")
    for value in VALUES:
        packer.add(packer.intern(value))
    text = packer.text("Items")
    constants = packer.model_values
    module = tmp_path / "Packed.tla"
    lines = ["---- MODULE Packed ----", "EXTENDS Integers, Sequences, TLC"]
    lines += [f"CONSTANTS {', '.join(constants)}", text, "VARIABLE i"]
    lines += [
        "Init == i = 0",
        "Next == i < Len(Items) /\\ i' = i + 1 /\\ PrintT(Items[i'])",
        "====",
    ]
    module.write_text("\n".join(lines))
    config = tmp_path / "Packed.cfg"
    given = [f"{constant} = {name}" for constant, name in constants.items()]
    config.write_text("\n".join(["INIT Init", "NEXT Next", "CONSTANTS", *given]))

    run = run_tlc(module, config)

    assert run.outcome is Outcome.SUCCESS, run.message
    found = _values(run.printed)
    assert [canonical(value) for value in found] == [canonical(value) for value in VALUES]


def _values(lines: tuple[str, ...]) -> list[Value]:
    """Read values that TLC may have broken into several lines, which it then indents."""
    texts: list[str] = []
    for line in lines:
        if texts and (line.startswith(" ") or line in (">>", "}", ")", "]")):
            texts[-1] += "\n" + line
        else:
            texts.append(line)
    return [parse_tla(text) for text in texts]


def test_equal_values_are_one_node_but_true_and_1_are_two() -> None:
    packer = Packer("P_")

    assert packer.intern(record({"a": (1, 2)})) == packer.intern(record({"a": (1, 2)}))
    assert packer.intern(True) != packer.intern(1)
    assert packer.intern((True,)) != packer.intern((1,))
    assert packer.intern("b1") != packer.intern(B1)


@pytest.mark.parametrize("value", [2**31, "\x00", "ü", ModelValue("a b")], ids=repr)
def test_a_value_that_tlc_does_not_have_is_refused(value: Value) -> None:
    packer = Packer("P_")

    with pytest.raises(ModelGapError):
        packer.intern((value,))


def test_ten_thousand_states_that_share_their_parts_stay_small() -> None:
    packer = Packer("P_")
    for at in range(10_000):
        log: Value = tuple([1] * (at % 100))
        packer.add(packer.intern(record({"log": log, "inner": record({"x": at % 7, "y": at})})))

    assert len(packer.text("Items")) < 250_000


def test_the_text_of_a_string_stays_inside_its_quotes() -> None:
    packer = Packer("P_")
    packer.add(packer.intern('" \\cup {x} \\* \n===='))

    text = packer.text("Items")

    assert "\n====" not in text
    assert '\\" \\\\cup' in text


def test_an_empty_sequence_can_be_packed() -> None:
    assert "P_Pick(Rp__v) ==\n  <<>>\n" in Packer("P_").text("Items")
