"""Settings as lines: both ways, and what is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import EncodingError, PacketError
from rocketha.formats.properties import pull_properties, push_properties

_NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,9}", fullmatch=True)
_VALUES = st.text(
    st.characters(exclude_characters="\\", exclude_categories=("Cc", "Cs", "Z")), max_size=9
)


def test_lines_are_written_in_order_and_read_with_what_does_not_count() -> None:
    said = {"b": "n0-127.0.0.1:1", "a": "ü=1", "c": ""}
    assert push_properties(said) == "b=n0-127.0.0.1:1\na=ü=1\nc=\n".encode()
    text = "# of nobody\n\n  b = n0-127.0.0.1:1\r\na=ü=1\nc="
    assert pull_properties(text.encode()) == said
    assert pull_properties(b"") == {}


@given(st.dictionaries(_NAMES, _VALUES))
def test_what_is_written_is_read(values: dict[str, str]) -> None:
    assert pull_properties(push_properties(values)) == values


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a=1\nb", "property at byte 4: 'b' is not name=value"),
        (b"=1", "'=1' is not name=value"),
        (b"a b=1", "'a b=1' is not name=value"),
        (b"a=C:\\x", "is not name=value"),
        (b"a=1\rb=2", "is not name=value"),
        (b"a=1\na=1", "property at byte 4: a is there twice"),
        (b"b=2\na=\xff", "property at byte 6: is not UTF-8"),
        (b"#" * 65_537, "properties at byte 0: have 65537 bytes, over 65536"),
    ],
)
def test_what_is_no_line_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(PacketError, match=re.escape(said)):
        pull_properties(data)


@pytest.mark.parametrize(
    ("name", "value"), [("", "1"), ("a b", "1"), ("a", "1\n"), ("a", " 1"), ("a", "\\")]
)
def test_what_would_need_escapes_is_not_written(name: str, value: str) -> None:
    with pytest.raises(EncodingError, match="property"):
        push_properties({name: value})


@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_hostile_bytes_raise_nothing_else(data: bytes) -> None:
    try:
        pull_properties(data)
    except PacketError:
        return
