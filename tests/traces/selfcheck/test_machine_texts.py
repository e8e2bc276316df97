"""Machine code takes no text but canonical ones; a reader that errs is seen to take more."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

from tlatrace.compiler.emit_native import rows as emitted
from tlatrace.oracle import Model, native
from tlatrace.oracle.native_rows import NativeRows
from tlatrace.runtime.words import flat_text
from tlatrace.selfcheck.hostile.machine_texts import check_machine_texts
from tlatrace.selfcheck.hostile.material import load_anything
from tlatrace.selfcheck.hostile.rows import check_rows

pytestmark = pytest.mark.java

CASES: Final = 24_000

PLANTED: Final = {
    "large numbers": (" or number >= PLAIN", ""),
    "leading zeros": ("(count > 1 or negative)", "(count > 9)"),
    "escapes": ("byte < 32 or byte == BACKSLASH or byte >= DELETE", "byte < 32"),
    "control characters": ("byte < 32 or byte == BACKSLASH", "byte < 1 or byte == BACKSLASH"),
    "what follows a state": ("if at != end - 1 or byte_at(at)", "if byte_at(at)"),
    "what follows a value": ("    if mem[CURSOR] != end:\n        return BAD\n", ""),
    "names with #": ("if byte_at(mem[CURSOR] + 1) == SHARP:", "if byte_at(mem[CURSOR] + 1) == 0:"),
    "order of names": ("if count > 0 and not before(last", "if count < 0 and not before(last"),
    "order of keys": (
        "            return 0\n        if last_count >= 0 and not before",
        "            return 0\n        if last_count > MANY and not before",
    ),
    "order of elements": (
        "            if last_count >= 0 and not before",
        "            if last_count > MANY and not before",
    ),
    "order of elements that are known": ("follows = found >= 0", "follows = 1"),
    "names, some of which are model values": ("if atoms != 0 and atoms != count:", "if atoms < 0:"),
    "records that are written as functions": ("if strings == pairs or mem[FULL]:", "if mem[FULL]:"),
    "tuples that are written as functions": (
        "        index += 1\n    return 0\n\n\ndef read_text",
        "        index += 1\n    return 1\n\n\ndef read_text",
    ),
    "strings that may be model values": ("    if mem[CLASHING]:\n        return BAD\n", ""),
    "what follows a value in a column": (
        "    if mem[CURSOR] != mem[entry + 1]:\n        return BAD\n",
        "",
    ),
    "strings that may be model values in a column": (
        "    mem[CLASHING] = mem[place + 6]\n    mem[CURSOR] = start",
        "    mem[CLASHING] = 0\n    mem[CURSOR] = start",
    ),
    "another name of a variable": ("or read_string() != mem[place]", "or read_string() == BAD"),
}
"""What a reader does not look at: what its text says, what it is made to say."""


@pytest.fixture(scope="module")
def model() -> Model:
    return load_anything(native=True)


def quiet(_: str) -> None:
    pass


def test_machine_code_takes_what_the_plain_reading_takes(model: Model) -> None:
    found = check_machine_texts(model, CASES, 1, quiet)

    assert found.disagreements == ()
    assert found.examined == CASES
    assert min(found.facts.values()) > CASES // 20


@pytest.mark.usefixtures("compiled_soon")
def test_machine_code_that_takes_nothing_has_not_been_examined(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = flat_text()
    old = "    mem[TEXT_END] = end\n"
    assert text.count(old) == 2
    text = text.replace(old, "    mem[TEXT_END] = 0\n")
    text = text.replace("mem[TEXT_END] = mem[entry + 1]", "mem[TEXT_END] = 0")
    monkeypatch.setattr(native, "flat_text", lambda: text)
    judge = partial(NativeRows, model, table=1 << 14, nodes=1 << 18)

    assert check_machine_texts(model, 400, 1, quiet).examined == 0
    assert check_rows(model, 400, 1, quiet, judge).examined == 0


@pytest.mark.usefixtures("compiled_soon")
@pytest.mark.parametrize("name", PLANTED)
def test_a_reader_that_errs_is_found(
    name: str, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = PLANTED[name]
    text = flat_text()
    assert text.count(old) == 1, text.count(old)
    monkeypatch.setattr(native, "flat_text", lambda: text.replace(old, new))

    assert check_machine_texts(model, CASES, 1, quiet).disagreements


@pytest.mark.usefixtures("compiled_soon")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mem[place + 7] + ENTRY * number", "mem[place + 7] + ENTRY * (number // 2)"),
    ],
)
def test_a_reader_of_columns_that_errs_is_found(
    old: str, new: str, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = flat_text()
    assert text.count(old) == 1
    monkeypatch.setattr(native, "flat_text", lambda: text.replace(old, new))
    judge = partial(NativeRows, model, table=1 << 14, nodes=1 << 18)

    assert check_rows(model, 20_000, 1, quiet, judge).disagreements


@pytest.mark.parametrize("compared", [True, False])
def test_texts_of_one_hash_are_compared(
    compared: bool, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = flat_text()
    changes = {"hash_text(start, count) ^ place": "place"}
    if not compared:
        changes["            and compare_text(mem[at], start, count) == 0\n"] = ""
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    monkeypatch.setattr(native, "flat_text", lambda: text)
    judge = partial(NativeRows, model, table=1 << 14, nodes=1 << 18)

    found = check_rows(model, 4_000, 1, quiet, judge)

    assert found.examined
    assert bool(found.disagreements) is not compared


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    if ask_role(role, s, t, (arguments >> 3) + 1) != 1:\n        return 0\n", ""),
        ("        if hold_all(s, t) != 1:\n            return 0\n", ""),
        ("    push(arguments)\n    push(before)\n", "    push(before)\n"),
    ],
)
def test_a_judge_of_rows_that_errs_is_found(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text: str = emitted._TEXT
    assert text.count(old) == 1
    monkeypatch.setattr(emitted, "_TEXT", text.replace(old, new))
    model = load_anything(native=True, kept=False)
    judge = partial(NativeRows, model, table=1 << 14, nodes=1 << 18)

    assert check_rows(model, 20_000, 1, quiet, judge).disagreements
