"""Rows of a corpus, judged by machine code: what is surely right, from its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from tlatrace.oracle import Model, load_model, native_rows
from tlatrace.oracle.native_rows import NativeRows, NotNative
from tlatrace.oracle.rows import (
    ACCEPTED,
    ASK,
    INITIAL,
    NO_TEXT,
    READ_ONLY,
    REMEMBERED,
    Call,
    Column,
    States,
    Texts,
    Words,
)
from tlatrace.tla.config import parse_config

pytestmark = pytest.mark.java

MODULE: Final = r"""---- MODULE Parts ----
EXTENDS Integers, FiniteSets
CONSTANT Node, None
VARIABLES left, sent
Init == left = [n \in Node |-> 0] /\ sent = {}
Send(n, k) == /\ left[n] < 5
              /\ left' = [left EXCEPT ![n] = @ + k]
              /\ sent' = sent \cup {[from |-> n, k |-> left[n]]}
Keep(n, k) == left[n] = k /\ UNCHANGED <<left, sent>>
Lose == \E m \in sent : sent' = sent \ {m} /\ UNCHANGED left
Deep == ENABLED Lose /\ UNCHANGED <<left, sent>>
Next == (\E n \in Node, k \in 1..9 : Send(n, k) \/ Keep(n, k)) \/ Lose
Below == \A n \in Node : left[n] < 10
Few == Cardinality(sent) < 9
====
"""
CONFIG: Final = """CONSTANTS Node = {n1, n2} n1 = n1 n2 = n2 None = None
INIT Init
NEXT Next
INVARIANTS Below Few
"""


def state(one: int, two: int, *sent: tuple[str, int]) -> str:
    records = ",".join([f'{{"from":"{node}","k":{k}}}' for node, k in sorted(sent)])
    return f'{{"left":{{"n1":{one},"n2":{two}}},"sent":{{"#set":[{records}]}}}}'


START: Final = state(0, 0)
Row = tuple[str | None, str, str]


def load(folder: Path, module: str = MODULE) -> Model:
    path = folder / "Parts.tla"
    path.write_text(module, "utf-8")
    return load_model(path, parse_config(CONFIG, path), native=True, kept=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load(tmp_path_factory.mktemp("parts"))


class RowsInColumns(NativeRows):
    """Gets its states in columns, where their texts can be cut."""

    def judge(self, states: States, roles: Words, calls: Sequence[Call]) -> Words:
        return super().judge(in_columns(states), roles, calls)


def in_columns(states: States) -> States:
    texts = [states.texts.raw(at) for at in range(len(states.texts.begins))]
    cuts = [cut_at(text) for text in texts]
    begins = np.where([cut > 0 for cut in cuts], NO_TEXT, states.texts.begins)
    columns = [
        Column.of([text[8:cut] if cut else None for text, cut in zip(texts, cuts, strict=True)]),
        Column.of(
            [text[cut + 8 : -1] if cut else None for text, cut in zip(texts, cuts, strict=True)]
        ),
    ]
    return States(replace(states.texts, begins=begins), ("left", "sent"), columns)


def cut_at(text: bytes) -> int:
    whole = text.startswith(b'{"left":') and text.endswith(b"}")
    return text.find(b',"sent":') if whole and b',"sent":' in text else 0


@pytest.fixture(params=[NativeRows, RowsInColumns])
def judge(model: Model, request: pytest.FixtureRequest) -> NativeRows:
    found: NativeRows = request.param(model)
    return found


def answers(judge: NativeRows, *rows: Row) -> list[int]:
    """Judge rows behind the first one, which is only read unless it is an initial state."""
    return judged(judge, rows)[0]


def judged(judge: NativeRows, rows: Sequence[Row]) -> tuple[list[int], list[int], list[int]]:
    roles = [READ_ONLY, *range(1, len(rows))]
    roles = [INITIAL if row[0] == "Init" else role for role, row in zip(roles, rows, strict=True)]
    found = judge.judge(
        States(Texts.of([row[2].encode() for row in rows])),
        np.array(roles, np.int64),
        [(row[0] or None, row[1]) for row in rows],
    )
    first, second, third = found.T.tolist()
    return first, second, third


def test_steps_are_accepted_once_and_then_remembered(judge: NativeRows) -> None:
    rows = (
        ("Init", "[]", START),
        ("Send", '["n1",2]', state(2, 0, ("n1", 0))),
        (None, "[]", state(2, 1, ("n1", 0), ("n2", 0))),
        ("Lose", "[]", state(2, 1, ("n2", 0))),
        ("Keep", '["n1",2]', state(2, 1, ("n2", 0))),
    )
    assert answers(judge, *rows) == [ACCEPTED] * 5
    assert answers(judge, *rows) == [REMEMBERED] * 5


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (("Send", '["n1",3]', state(2, 0, ("n1", 0))), "another argument"),
        (("Send", '["n1"]', state(2, 0, ("n1", 0))), "too few arguments"),
        (("Send", '["n1",2,1]', state(2, 0, ("n1", 0))), "too many arguments"),
        (("Send", ' ["n1",2]', state(2, 0, ("n1", 0))), "arguments that are not canonical"),
        (("Send", '{"#set":[2]}', state(2, 0, ("n1", 0))), "no tuple of arguments"),
        ((None, '["n1",2]', state(2, 0, ("n1", 0))), "arguments of any step"),
        (("Sent", '["n1",2]', state(2, 0, ("n1", 0))), "no such action"),
        (("Lose", "[]", START), "an action that cannot be"),
        (("Send", '["n1",2]', state(2, 0)), "another state"),
        (("Send", '["n1",2]', state(2, 0, ("n2", 0))), "another record"),
        (("Send", '["n1",2]', state(2, 0, ("n1", 0))[:-1]), "a state that ends early"),
        (("Send", '["n1",2]', state(2, 0, ("n1", 0)) + " "), "a state that goes on"),
        (("Send", '["n1",2]', ""), "no state"),
    ],
)
def test_what_is_not_surely_right_is_for_python(judge: NativeRows, row: Row, why: str) -> None:
    good = ("Send", '["n1",2]', state(2, 0, ("n1", 0)))
    for _ in range(2):
        assert answers(judge, ("", "[]", START), row)[1] == ASK, why
        assert answers(judge, ("", "[]", START), good)[1] != ASK
    assert answers(judge, ("Init", "[]", good[2])) == [ASK]


def test_roles_and_arguments_are_remembered_apart(judge: NativeRows) -> None:
    same = ("", "[]", state(3, 4))
    assert answers(judge, same, ("Keep", '["n1",3]', same[2]))[1] == ACCEPTED
    assert answers(judge, same, ("Keep", '["n1",4]', same[2]))[1] == ASK
    assert answers(judge, same, ("Keep", '["n2",4]', same[2]))[1] == ACCEPTED
    assert answers(judge, same, (None, "[]", same[2]))[1] == ACCEPTED
    assert answers(judge, same, ("Lose", "[]", same[2]))[1] == ASK


def test_an_invariant_that_is_false_is_for_python(judge: NativeRows) -> None:
    before = state(4, 3)
    large, small = state(13, 3, ("n1", 4)), state(9, 3, ("n1", 4))
    assert answers(judge, ("", "[]", before), ("Send", '["n1",9]', large))[1] == ASK
    assert answers(judge, ("", "[]", before), ("Send", '["n1",5]', small))[1] == ACCEPTED
    # The state before breaks it, too: what has not changed is asked all the same.
    broken = state(4, 11)
    assert answers(judge, ("", "[]", broken), ("Keep", '["n1",4]', broken))[1] == ASK
    many = [("n2", k) for k in range(9)]
    eight, nine, other = (
        state(1, 0, *many[:8]),
        state(1, 0, *many),
        state(2, 0, ("n1", 1), *many[:8]),
    )
    assert answers(judge, ("", "[]", eight), ("Keep", '["n1",1]', eight))[1] == ACCEPTED
    assert answers(judge, ("", "[]", eight), ("Send", '["n1",1]', other))[1] == ASK
    assert answers(judge, ("", "[]", nine), ("Keep", '["n1",1]', nine))[1] == ASK


def test_a_state_that_is_not_read_leaves_the_next_step_to_python(judge: NativeRows) -> None:
    good = state(2, 0, ("n1", 0))
    rows = (("", "[]", START), ("Send", '["n1",2]', good.replace(":2", ": 2")))
    assert answers(judge, *rows, ("Keep", '["n1",2]', good)) == [ASK, ASK, ASK]
    assert answers(judge, rows[0], rows[0], ("Send", '["n1",2]', good))[2] == ACCEPTED


def test_rows_of_another_batch_go_on_where_the_last_one_ended(judge: NativeRows) -> None:
    good = state(2, 0, ("n1", 0))
    answers(judge, ("Init", "[]", START))
    texts, call = States(Texts.of([good.encode()])), ("Send", '["n1",2]')
    roles = np.zeros(1, np.int64)
    assert judge.judge(texts, roles, [call])[0, 0] == ACCEPTED
    judge.forget_states()
    assert judge.judge(texts, roles, [call])[0, 0] == ASK


@pytest.mark.parametrize("kind", [NativeRows, RowsInColumns])
def test_a_full_memory_forgets_and_goes_on(model: Model, kind: type[NativeRows]) -> None:
    small = kind(model, table=1 << 7, nodes=1 << 12)
    rows: list[Row] = [("Init", "[]", START)]
    counts = [0, 0]
    sent: set[tuple[str, int]] = set()
    for at in range(8):
        node = at % 2
        sent.add((f"n{node + 1}", counts[node]))
        counts[node] += 1
        rows.append(("Send", f'["n{node + 1}",1]', state(counts[0], counts[1], *sent)))
    # Lost in another order each time, so that there are many different states.
    for at in range(200):
        rows.append(("Keep", f'["n1",{counts[0]}]', rows[-1][2]))
        if at % 3 == 0 and len(sent) > 1:
            sent.remove(sorted(sent)[at % len(sent)])
            rows.append(("Lose", "[]", state(counts[0], counts[1], *sent)))
    found, states, numbers = judged(small, rows)
    assert ASK not in found
    assert small._age > 0, "it was full"
    texts: dict[int, str] = {}
    for number, row in zip(states, rows, strict=True):
        assert texts.setdefault(number, row[2]) == row[2]
    large = judged(NativeRows(model), rows)
    both = zip(numbers, large[2], strict=True)
    assert all(one in (0, other) or other == 0 for one, other in both)


def test_a_row_that_never_fits_is_for_python(model: Model) -> None:
    tiny = NativeRows(model, table=1 << 9, nodes=1 << 10)
    huge = state(0, 0, *[("n1", k) for k in range(100, 400)])
    again = ("Keep", '["n1",3]', state(3, 0))
    rows = [("Init", "[]", START), ("Keep", '["n1",3]', huge), again, again]
    assert answers(tiny, *rows) == [ACCEPTED, ASK, ASK, ACCEPTED]


def test_columns_of_other_variables_are_for_python(model: Model) -> None:
    judge = NativeRows(model)
    good = in_columns(States(Texts.of([START.encode()])))
    roles = np.array([INITIAL])
    for names in (("sent", "left"), ("left",), ("left", "sent", "zero"), ()):
        other = replace(good, variables=names, columns=[good.columns[0]] * len(names))
        assert judge.judge(other, roles, [])[0, 0] == ASK, names
    assert judge.judge(good, roles, [])[0, 0] == ACCEPTED


def test_a_text_in_a_column_is_one_value_and_nothing_more(model: Model) -> None:
    judge = NativeRows(model)
    good = in_columns(States(Texts.of([START.encode()])))
    left, sent = good.columns
    whole = left.texts.raw(0)
    for text in (whole + b" ", whole + b',"sent":{}', whole[:-1], b"", b" " + whole):
        other = Column.of([text])
        roles = np.array([INITIAL])
        assert judge.judge(replace(good, columns=[other, sent]), roles, [])[0, 0] == ASK, text


def test_numbers_of_steps_are_the_same_in_each_judge(model: Model) -> None:
    rows = [
        ("Init", "[]", START),
        ("Send", '["n1",2]', state(2, 0, ("n1", 0))),
        (None, "[]", state(2, 1, ("n1", 0), ("n2", 0))),
        ("Lose", "[]", state(2, 1, ("n2", 0))),
    ]
    one, other = NativeRows(model), NativeRows(model)
    judged(other, [("", "[]", state(5, 6, ("n2", 7), ("n1", 3)))])
    numbers = judged(one, rows)[2]
    assert numbers == judged(other, rows)[2]
    assert len(set(numbers)) == 4
    assert 0 not in numbers
    renamed = [(action, params, text.replace("n1", "n3")) for action, params, text in rows]
    assert not set(judged(one, renamed)[2]) & set(numbers)


def test_an_action_that_stays_python_s_leaves_the_others_to_machine_code(tmp_path: Path) -> None:
    judge = NativeRows(load(tmp_path, MODULE.replace("\\/ Lose\n", "\\/ Lose \\/ Deep\n")))
    assert set(judge.unlowered) >= {"action Deep", "next"}
    same = ("", "[]", state(3, 4))
    assert answers(judge, same, ("Deep", "[]", same[2]))[1] == ASK
    assert answers(judge, same, (None, "[]", same[2]))[1] == ASK
    assert answers(judge, same, ("Keep", '["n1",3]', same[2]))[1] == ACCEPTED


def test_an_invariant_that_stays_python_s_leaves_all_rows_to_it(tmp_path: Path) -> None:
    module = MODULE.replace("Few == Cardinality(sent) < 9", "Few == ENABLED Next")
    with pytest.raises(NotNative, match="Enabled"):
        NativeRows(load(tmp_path, module))


def test_texts_of_columns_are_remembered_from_batch_to_batch(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = NativeRows(model)
    calls: list[Call] = [("Send", '["n1",2]'), ("Send", '["n2",2]')]
    good = [START.encode(), state(2, 0, ("n1", 0)).encode()]
    sent = good[1].replace(b'"n1",', b'"n2",')  # as many bytes
    roles = np.array([INITIAL, 0], np.int64)
    for _ in range(3):  # the arrays are others each time
        assert judge.judge(in_columns(States(Texts.of(good))), roles, calls)[1, 0] != ASK
        other = in_columns(States(Texts.of([good[0], sent])))
        assert judge.judge(other, roles, calls)[1, 0] == ASK
    texts = int(judge._read_texts[0])
    assert texts == len({(2, 0), (0, 0)}) + len({"none", "n1", "n2"})
    assert len(judge._kept) == 4, "those of the first round"

    monkeypatch.setattr(native_rows, "_MOST_KEPT", 0)
    assert judge.judge(in_columns(States(Texts.of(good))), roles, calls)[1, 0] == REMEMBERED
    assert int(judge._read_texts[0]) == 4
    assert len(judge._kept) == 2


def test_the_same_text_of_two_variables_is_two_texts(tmp_path: Path) -> None:
    module = MODULE
    for old, new in (
        ("VARIABLES left, sent", "VARIABLES left, more, sent"),
        ("sent = {}", "sent = {} /\\ more = left"),
        ("sent' =", "more' = left' /\\ sent' ="),
        ("<<left, sent>>", "<<left, more, sent>>"),
    ):
        assert old in module
        module = module.replace(old, new)
    judge = NativeRows(load(tmp_path, module))
    whole = START.replace(',"sent"', ',"more":{"n1":0,"n2":0},"sent"').encode()
    left, sent = in_columns(States(Texts.of([START.encode()]))).columns
    states = States(
        replace(Texts.of([whole]), begins=np.array([NO_TEXT])),
        ("left", "more", "sent"),
        [left, left, sent],
    )
    assert judge.judge(states, np.array([INITIAL]), [])[0, 0] == ACCEPTED
    assert int(judge._read_texts[0]) == 3
