"""Rows of a corpus, judged by machine code: canonical texts in, answers out.

An answer is never "no": what is not surely accepted is for the Python checker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tlatrace.compiler.emit_native.rows import ROW
from tlatrace.errors import TlatraceError
from tlatrace.oracle.model import Model
from tlatrace.oracle.native import NativeModel, NoWord
from tlatrace.oracle.rows import MOST_ROWS, READ_ONLY, Call, States, Texts, Words
from tlatrace.readings import Reading
from tlatrace.runtime.values import RuntimeValue, function, model_value
from tlatrace.runtime.words import layout
from tlatrace.runtime.words.columns import ENTRY, MOST_TEXTS, TEXT, TEXTS, UNREAD
from tlatrace.runtime.words.texts import CHILD, CHILDREN, KNOWN

__all__ = ["NativeRows", "NotNative"]

_TABLE: Final = 1 << 21
_NODES: Final = 1 << 24
_ATOM: Final = 1 << 60
"""Tells the numbers of model values from those of strings."""
_MOST_KEPT: Final = 64 << 20
"""Bytes of texts."""
_MOST_CALLS: Final = 100_000
_AGE: Final = 1 << 40
"""More than any word: numbers of states that have been forgotten are not given again."""


class NotNative(TlatraceError):
    """A specification whose rows stay Python's."""


class NativeRows(NativeModel):
    """The machine code of a model as a judge of rows."""

    def __init__(self, model: Model, *, table: int = _TABLE, nodes: int = _NODES) -> None:
        """Open the machine code of a model that was loaded with `native`.

        Raises:
            NotNative: its rows stay Python's.
        """
        source, native = model.source, model.source.native
        width = len(source.variables)
        of_variable = 1 + CHILD * CHILDREN
        known, children, row = KNOWN * width, 2 * width * of_variable, ROW + width
        words = known + children + (row + ENTRY * width) * MOST_ROWS + 1 + TEXT * TEXTS
        super().__init__(source, table=table, nodes=nodes, words=words)
        assert native is not None, source.module
        self._reading = Reading(source.types)
        if "rows" not in self._roles:
            raise NotNative(self.unlowered.get("rows", "nothing was written for rows"))
        self._arities = {f"action {name}": arity for name, arity in source.actions}
        self._arities["next"] = self._age = 0
        self._numbers = {role: at for at, (role, _) in enumerate(native.functions)}
        self._calls: dict[Call, tuple[int, int]] = {}
        """Number of the role and word of the arguments, of calls that were read."""
        self._of_row = row
        self._names_of_variables = source.variables
        self._clashing = [name in self._reading.clashing for name in source.variables]
        self._known_at = self._room
        children_at = self._known_at + known
        self._rows_at = children_at + children
        entries_at = self._rows_at + row * MOST_ROWS
        memory: Words = np.frombuffer(memoryview(self._memory), dtype=np.int64)
        self._rows = memory[self._rows_at : entries_at].reshape(-1, row)
        texts_at = entries_at + width * ENTRY * MOST_ROWS
        self._entries = memory[entries_at:texts_at].reshape(width, -1, ENTRY)
        self._entries_at = np.arange(width) * ENTRY * MOST_ROWS + entries_at
        self._texts_at, self._read_texts = texts_at, memory[texts_at:]
        self._kept_bytes = 0
        self._kept: list[Texts] = []
        """What has to live as long as texts in it are remembered."""
        self._known_texts = memory[self._known_at : children_at].reshape(-1, KNOWN)
        self._children = np.arange(children_at, self._rows_at, of_variable).reshape(-1, 2)
        self._counted = memory[children_at : self._rows_at : of_variable]
        """How many elements of sets are known."""
        try:
            self._memory[layout.NAMES] = self._word(
                function({name: model_value(name) for name in sorted(source.types.names)})
            )
            self._variables = [self._word(name) for name in source.variables]
            atoms = [self._make["content"](self._word(atom.name)) for atom in self._names]
        except NoWord:
            raise NotNative("a model value has no word") from None
        self._memory[layout.ATOMS] = self._permuted
        for at, number in enumerate(atoms, start=self._permuted):
            self._memory[at] = number ^ _ATOM
        self._keep()
        self.forget_states()

    def forget(self) -> None:
        """Forget all nodes, and so all that was accepted."""
        self._forget()
        self.forget_states()
        self._forget_columns()
        self._calls.clear()
        self._age += _AGE

    def forget_states(self) -> None:
        """Begin with other texts: the last state, and where its parts stood, are forgotten."""
        self._memory[layout.BEFORE] = layout.BAD
        self._forget_texts()

    def _forget_columns(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0
        if self._read_texts[0]:
            self._read_texts[:] = 0

    def _forget_texts(self) -> None:
        self._known_texts[:] = 0
        self._known_texts[:, 0] = self._variables
        self._known_texts[:, 4:6] = self._children
        self._known_texts[:, 6] = self._clashing
        self._known_texts[:, 7] = self._entries_at
        self._known_texts[:, 8] = self._texts_at
        self._counted[:] = 0

    def judge(self, states: States, roles: Words, calls: Sequence[Call]) -> Words:
        """Judge rows (see `RowJudge`)."""
        count = len(roles)
        found = np.zeros((count, 3), np.int64)
        found[:, 1] = -1
        self._forget_texts()
        start = again = 0
        rows = self._rows[:count]
        if self._read_texts[0] >= MOST_TEXTS or self._kept_bytes > _MOST_KEPT:
            self._forget_columns()
        remembered = int(self._read_texts[0])
        while start < count:
            self._place_states(states, rows)
            rows[:, :2] = self._asked(calls)[roles]  # the last two are INITIAL, READ_ONLY
            if again:
                rows[start, 0] = READ_ONLY
            done = self._run(start, count)
            new = slice(start + again, done)
            found[new] = rows[new, 4:ROW]
            found[new, 1] = np.where(rows[new, 5] == layout.BAD, -1, rows[new, 5] + self._age)
            if done == count:
                break
            # Memory is full: once more in an array that is empty, with the state before.
            self.forget()
            again = int(done > start + again)
            start = done - 1 if again else done + 1
            remembered = 0
        if self._read_texts[0] > remembered:
            texts = [column.texts for column in states.columns]
            self._kept += texts
            self._kept_bytes += sum(map(Texts.size, texts))
        return found

    def _place_states(self, states: States, rows: Words) -> None:
        rows[:, 2], rows[:, 3] = states.texts.begins, states.texts.ends
        if tuple(states.variables) != self._names_of_variables:
            rows[:, ROW:] = -1  # they are no states of this specification
            return
        for at, column in enumerate(states.columns):
            texts = column.texts
            entries = self._entries[at, : len(texts.begins)]
            entries[:, 0], entries[:, 1], entries[:, 2] = texts.begins, texts.ends, UNREAD
            rows[:, ROW + at] = column.numbers

    def state(self, number: int) -> RuntimeValue | None:
        """Return the state of a number, as a tuple of its parts; None if it is forgotten."""
        if number < self._age:
            return None
        return self.value(number - self._age)

    def values(self, texts: Texts) -> list[RuntimeValue | None]:
        """Read values, as those of parameters are read; None where Python has to."""
        found: list[RuntimeValue | None] = []
        for begin, end in zip(texts.begins.tolist(), texts.ends.tolist(), strict=True):
            word = self._read(begin, end)
            found.append(None if word == layout.BAD else self.value(word))
        return found

    def _read(self, begin: int, end: int) -> int:
        word = self._make["read_text"](begin, end, 0)
        self._memory[layout.STACK] = self._stack
        if self._memory[layout.FULL]:
            self.forget()
            return layout.BAD
        return word

    def _run(self, start: int, end: int) -> int:
        at, size = self._rows_at, self._of_row
        done = self._roles["rows"](at + size * start, at + size * end, self._known_at)
        return (done - at) // size

    def _asked(self, calls: Sequence[Call]) -> Words:
        """Return role and arguments of each call, then those of `INITIAL` and `READ_ONLY`."""
        known = self._calls
        missing = [call for call in calls if call not in known]
        if len(known) + len(missing) > _MOST_CALLS:
            known.clear()
            missing = list(calls)
        params = Texts.of([params.encode("utf-8", "surrogatepass") for _, params in missing])
        for at, (action, text) in enumerate(missing):
            place = int(params.begins[at]), int(params.ends[at])
            known[action, text] = self._call(action, *place)
        nothing = self._word(())
        found = [known[call] for call in calls]
        return np.array([*found, (0, nothing), (READ_ONLY, nothing)], np.int64)

    def _call(self, action: str | None, begin: int, end: int) -> tuple[int, int]:
        role = "next" if action is None else f"action {action}"
        number = self._numbers.get(role, READ_ONLY)
        clashes = self._reading.has_clashing_parameters(action)
        word = self._make["read_text"](begin, end, int(clashes))
        self._memory[layout.STACK] = self._stack
        if word & 7 != layout.TUP or self._memory[word >> 3] >> 3 != self._arities.get(role):
            number = READ_ONLY
        return number, word
