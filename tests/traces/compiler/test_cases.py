"""What the compiler reads is what the files in `cases/` say; one that says less is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

import pytest

from tests.traces.compiler.case_files import CASES, Section, made_of, parse, reader_of
from tlatrace.compiler.ir.nodes import Call, Expr, Operand, OperatorRef, children
from tlatrace.compiler.lower.reader import Reader

COUNTER: Final = """\
=== module Counter
---- MODULE Counter ----
EXTENDS Naturals
CONSTANT Step
VARIABLE count
Add == count' = count + Step
Lost == count = 1 /\\ [](count = 1)
====
=== configuration
CONSTANT Step = 2
=== tree Add
Add : bool =
  (= count' (+ count 2))
=== refused Lost
Counter.tla:6:22: temporal formulas are for TLC
Lost == count = 1 /\\ [](count = 1)
                     ^^^^^^^^^^^^^
"""


def found_and_wanted(text: str, folder: Path) -> tuple[list[Section], list[Section]]:
    wanted = parse(text)
    return list(made_of(wanted, reader_of(wanted, folder))), wanted


@pytest.mark.java
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_compiler_reads_what_the_case_says(path: Path, tmp_path: Path) -> None:
    found, wanted = found_and_wanted(path.read_text("utf-8"), tmp_path)
    assert sum(section.kind in ("tree", "refused", "native") for section in wanted) >= 4
    for one, other in zip(found, wanted, strict=True):
        assert one == other


@pytest.mark.java
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(= count' (+ count 2))", "(= count' (+ count 1))"),
        ("Step = 2", "Step = 3"),
        ("count + Step", "Step + count"),
        ("                     ^", "                      ^"),
        ("=== refused Lost", "=== tree Lost"),
    ],
)
def test_a_case_that_says_another_thing_is_seen(right: str, wrong: str, tmp_path: Path) -> None:
    found, wanted = found_and_wanted(COUNTER, tmp_path)
    assert found == wanted
    assert right in COUNTER
    found, wanted = found_and_wanted(COUNTER.replace(right, wrong), tmp_path)
    assert found != wanted


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("=== case Add\n", "no head of a section: === case Add"),
        ("=== tree a b\n", "no head of a section: === tree a b"),
        ("Add\n=== tree Add\n", "before the first section: Add"),
    ],
)
def test_a_file_with_a_wrong_head_is_no_case(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(text)


@pytest.mark.java
def test_every_kind_of_node_stands_in_a_case(tmp_path: Path) -> None:
    seen: set[type] = set()
    for path in CASES:
        sections = parse(path.read_text("utf-8"))
        reader = reader_of(sections, tmp_path)
        for section in sections:
            if section.kind == "tree":
                seen.update(kinds(reader, section.name))
    assert {*get_args(Expr), OperatorRef} == seen


def kinds(reader: Reader, name: str) -> Iterator[type]:
    """Yield the class of each node of a definition and of those that it calls."""
    known = {id(reader.definition(name))}
    waiting: list[Operand] = [reader.definition(name).expression]
    while waiting:
        node = waiting.pop()
        yield type(node)
        waiting += children(node)
        if isinstance(node, Call) and id(node.definition) not in known:
            known.add(id(node.definition))
            waiting.append(node.definition.expression)
