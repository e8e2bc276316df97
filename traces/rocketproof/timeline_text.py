"""Values of a trace as short text, for timelines."""

from __future__ import annotations

from tlatrace.values import Fcn, TlaSet, Value, canonical

__all__ = ["epochs", "fields_of", "items", "numbers", "plain"]


def epochs(entries: Value) -> str:
    """Write an epoch cache."""
    texts: list[str] = []
    for entry in items(entries):
        fields = fields_of(entry)
        end = fields.get("end", "")
        text = f"{plain(fields['e'])}@{plain(fields['s'])}"
        texts.append(text + ("" if end == "" else "-" if end == -1 else f"-{plain(end)}"))
    return " ".join(texts)


def numbers(value: Value) -> str:
    """Write a sequence, such as a log."""
    return " ".join(plain(item) for item in items(value))


def items(value: Value) -> tuple[Value, ...]:
    """Return the elements of a sequence."""
    assert isinstance(value, tuple), value
    return value


def fields_of(value: Value) -> dict[str, Value]:
    """Return the fields of a record."""
    assert isinstance(value, Fcn), value
    return value.fields()


def plain(value: Value) -> str:
    """Write a value, a text without quotes, a set of texts in braces."""
    if isinstance(value, TlaSet) and all(isinstance(element, str) for element in value):
        return "{" + ", ".join(map(plain, value)) + "}"
    return value if isinstance(value, str) else canonical(value)
