"""Lines that list what a step read and wrote, as PGo writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tlatrace.errors import SpecError, TraceFormatError
from tlatrace.matching import read_log, read_mapping
from tlatrace.trace import Change, Event, Part
from tlatrace.values import Value

HEAD: Final = """
format = "rocketproof-mapping"
version = 1
spec = "M"
action = { field = "a", names = { go = "Go" } }
params = { Go = [] }
"""
OF: Final = """
among = "x.ops"
if = {{ field = "of", is = "{}" }}
at = ["key"]
"""
SHOWN: Final = '[[observe]]\nvariable = "v"\nfield = "value"\n' + OF.format("v")
WHOLE: Final = '[[observe]]\nvariable = "w"\namong = "x.ops"\nfield = "value"\n'
ONE: Final = WHOLE + 'if = { field = "of", is = "w" }\n'


def _events(folder: Path, mapping: str, *lines: str) -> tuple[Event, ...]:
    (folder / "map.toml").write_text(HEAD + mapping)
    (folder / "log.jsonl").write_text("".join([f'{{"a":"go",{line}}}\n' for line in lines]))
    log = read_log(folder / "log.jsonl", read_mapping(folder / "map.toml"))
    return log.trace.events[1:]


def _ops(*elements: tuple[str, int, str]) -> str:
    shown = [f'{{"of":"{of}","key":{key},"value":"{value}"}}' for of, key, value in elements]
    return f'"x":{{"ops":[{",".join(shown)}]}}'


def _part(variable: str, at: Value, value: Value) -> Part:
    return Part(variable=variable, at=(at,), value=value)


def test_the_last_element_about_a_place_shows_it_after_the_step_and_the_first_one_before_it(
    tmp_path: Path,
) -> None:
    ops = _ops(("v", 1, "a"), ("w", 0, "b"), ("v", 2, "c"), ("u", 1, "d"), ("v", 1, "e"))

    (event,) = _events(tmp_path, SHOWN + SHOWN + 'when = "before"\n' + ONE, ops)

    assert set(event.parts) == {_part("v", 1, "e"), _part("v", 2, "c")}
    assert set(event.clues.before) == {_part("v", 1, "a"), _part("v", 2, "c")}
    assert event.observed == {"w": "b"}


def test_each_element_is_a_change_of_its_own(tmp_path: Path) -> None:
    change = '[[change]]\nvariable = "q"\ndo = "append"\nwith = "value"\n' + OF.format("q")

    (event,) = _events(tmp_path, change, _ops(("q", 1, "a"), ("v", 1, "b"), ("q", 1, "c")))

    wanted = [Change(variable="q", at=(1,), operation="append", arguments=(x,)) for x in ("a", "c")]
    assert event.clues.changes == tuple(wanted)


def test_an_array_without_such_an_element_shows_nothing(tmp_path: Path) -> None:
    (event,) = _events(tmp_path, SHOWN + ONE, _ops(("u", 1, "a")))

    assert (event.parts, event.observed) == ((), None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('"x":{"ops":{}}', "no array x.ops"),
        ('"x":1', "no array x.ops"),
        ('"x":{"ops":[{"of":"w"}]}', "no field value"),
    ],
)
def test_a_line_without_what_the_mapping_names_is_refused(
    line: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(TraceFormatError, match=reason) as caught:
        _events(tmp_path, ONE, _ops(("w", 1, "a")), line)

    assert caught.value.line == 2


def test_two_rules_may_not_show_one_variable(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match="two rules of the mapping show w"):
        _events(tmp_path, ONE + ONE, _ops(("w", 1, "a")))


def test_what_is_no_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="among of"):
        _events(tmp_path, '[[observe]]\nvariable = "w"\namong = 1\nfield = "a"\n', _ops())
