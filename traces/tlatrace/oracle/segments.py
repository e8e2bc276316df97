"""Cut canonical JSON objects that look nearly like the one before.

From step to step most fields of a state keep their text. A field whose text stands where it is
expected is known without being looked at; only the others are cut out and decoded.

The cut is sound without parsing: the names of the fields are known, and each piece between them has
to be the canonical text of a value, so there is only one object that the text can be, and it is
canonical where the names are in order, need no escapes, and none begins with "#".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tlatrace.runtime.values import RuntimeValue

__all__ = ["Segments"]

_INNER_NAMES: Final = 16
"""So often the name of the next field may stand inside a value."""


class Segments:
    """The fields of objects with these names, and their texts in the last object."""

    __slots__ = ("_heads", "_tails", "_texts", "_values", "_widths")

    def __init__(self, names: Sequence[str]) -> None:
        assert names
        heads = [f',"{name}":' for name in names]
        heads[0] = "{" + heads[0][1:]
        self._heads = heads
        self._tails = [*heads[1:], "}"]
        self._texts = [""] * len(heads)
        """Name and value of each field and what follows, as they stood in the last object."""
        self._widths = [0] * len(heads)
        """Characters of these texts without what follows."""
        self._values: list[RuntimeValue] = [""] * len(heads)

    def cut(
        self, text: str, decode: Callable[[int, str], RuntimeValue | None]
    ) -> list[RuntimeValue] | None:
        """Return the values of the fields; `decode` is asked for texts that have changed.

        It says None to what is no whole value. None: the text is no canonical object with these
        names, or one in which a name stands too often.
        """
        texts, values, widths = self._texts, self._values, self._widths
        begin = 0
        last = len(texts) - 1
        for at, known in enumerate(texts):
            if known and text.startswith(known, begin):
                width = widths[at]
                if at < last or begin + width + 1 == len(text):
                    begin += width
                    continue
            if at == 0 and not text.startswith(self._heads[0]):
                return None  # where another field begins, what is before it has ended with its head
            tail = self._tails[at]
            start = begin + len(self._heads[at])
            if at < last:
                end = text.find(tail, start)
            else:
                end = len(text) - 1 if text.endswith("}") else -1
            if end < start:
                return None
            value = decode(at, text[start:end])
            if value is None and at < last:
                # The name may have stood inside the value: a record in a record has the same names.
                for _ in range(_INNER_NAMES):
                    end = text.find(tail, end + 1)
                    if end < start:
                        return None
                    value = decode(at, text[start:end])
                    if value is not None:
                        break
            if value is None:
                return None
            texts[at] = text[begin : end + len(tail)]
            widths[at] = end - begin
            values[at] = value
            begin = end
        return values[:]
