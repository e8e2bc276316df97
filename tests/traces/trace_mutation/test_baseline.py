"""Known holes do not count, new ones do, and a file that is damaged is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traces.trace_mutation.test_measure import TIGHT, Careless, of, walk
from tlatrace.errors import SpecError
from tlatrace.trace_mutation import Hole, Kind, judge_mutations, read_holes, write_holes

LOST = Hole(kind=Kind.FIELD, action="Fill", about="lost")
SOLD = Hole(kind=Kind.DROP, action="Sell", about="")


def test_a_hole_has_neither_numbers_nor_values() -> None:
    model = Careless()
    one, other = [of(model, walk(model, seed), count=300, seed=seed) for seed in (1, 2)]

    assert {hole.hole for hole in one.holes} & {hole.hole for hole in other.holes}
    assert LOST in {hole.hole for hole in one.holes}


def test_known_holes_do_not_count_and_those_that_are_gone_are_named() -> None:
    model = Careless()
    result = of(model, walk(model, 1), count=300)
    met = {one.hole for one in result.holes}

    all_new = judge_mutations(result)
    assert (set(all_new.new), all_new.exit_code) == (met, 1)
    some = judge_mutations(result, {LOST, SOLD})
    assert (LOST in some.new, some.gone) == (False, (SOLD,))
    assert some.new_findings < all_new.new_findings
    known = judge_mutations(result, met)
    assert (known.new, known.exit_code) == ((), 0)


def test_so_many_may_be_holes_and_no_more() -> None:
    model = Careless()
    result = of(model, walk(model, 1), count=300)
    percent = judge_mutations(result).percent

    assert 0 < percent < 100
    assert judge_mutations(result, most_percent=percent).exit_code == 0
    assert judge_mutations(result, most_percent=percent / 2).exit_code == 1


def test_nothing_decided_is_undecided() -> None:
    assert judge_mutations(of(TIGHT)).exit_code == 3


def test_a_file_of_holes_comes_back_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "holes.json"
    write_holes(file, "Tank", {SOLD, LOST})

    assert read_holes(file, "Tank") == {LOST, SOLD}
    assert file.read_text().splitlines()[1].startswith(' {"kind":"drop"')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no file of known holes"),
        ("[" * 5000, "is no file of known holes"),
        ('{"format":"x","version":1,"spec":"Tank","holes":[]}', "is not of the format"),
        ('{"format":"rocketproof-holes","version":2,"spec":"Tank","holes":[]}', "version 1"),
        ('{"format":"rocketproof-holes","version":1,"spec":"Pond","holes":[]}', "not of Tank"),
        (
            '{"format":"rocketproof-holes","version":1,"spec":"Tank",'
            '"holes":[{"kind":"dig","action":"","about":""}]}',
            "is no file of known holes",
        ),
    ],
)
def test_what_is_no_file_of_these_holes_is_refused(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "holes.json"
    file.write_text(text)

    with pytest.raises(SpecError, match=says):
        read_holes(file, "Tank")
    with pytest.raises(SpecError, match="holes"):
        read_holes(tmp_path / "no holes.json", "Tank")
