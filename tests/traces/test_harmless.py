"""Texts of strangers: nothing of them is obeyed, and nothing of them is hidden."""

from __future__ import annotations

import os
import sys

import pytest

from tlatrace.harmless import harmless, harmless_lines, is_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢字 🚀", "plain é 漢字 🚀"),
        ("a\nb\r\n\t", "a\\nb\\r\\n\\t"),
        ("\x1b[2J\x07\x00\x7f\x85", "\\x1b[2J\\x07\\x00\\x7f\\x85"),
        ("\u202eexe.txt\u2066\u200f", "\\u202eexe.txt\\u2066\\u200f"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        (os.fsdecode(b"\xff.ndjson"), "\\xff.ndjson"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_all_of_unicode_becomes_one_line_that_can_be_written() -> None:
    for start in range(0, sys.maxunicode + 1, 4096):
        text = harmless("".join(map(chr, range(start, min(start + 4096, sys.maxunicode + 1)))))
        assert text.isprintable()
        assert is_text(text)
        assert len(text.splitlines()) == 1


def test_no_line_begins_as_a_command_of_a_build_server_does() -> None:
    text = "first\n::error file=x::y\n  ##[add-path]\n::\x1b\nwithin ::notice"

    assert harmless_lines(text).split("\n") == [
        "first",
        "\\::error file=x::y",
        "  \\##[add-path]",
        "\\::\\x1b",
        "within ::notice",
    ]
