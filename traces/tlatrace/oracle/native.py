"""A specification as machine code: it says what is surely allowed, and of the rest nothing.

Values of the compiled model become words, once each; a question is answered True only where the
compiled Python would say the same. False says nothing: ask Python.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from inspect import getsource
from typing import Final

from tlatrace.compiler.cache import keep_code, recall_code
from tlatrace.compiler.emit_native.writer import CONSTANTS
from tlatrace.compiler.model_source import ModelSource, NativeSource
from tlatrace.machine_code import assembly, flat, machine
from tlatrace.machine_code.assembly import assembly_of
from tlatrace.machine_code.flat import parse
from tlatrace.machine_code.machine import Machine, machine_name, object_of
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import TRUE, Atom, Boolean, Fcn, RuntimeValue, TypedAtom, to_runtime
from tlatrace.runtime.words import flat_text, layout
from tlatrace.values import from_json

__all__ = ["PERMUTED", "NativeModel", "code_of"]

_MAKERS: Final = (
    ("push", 1),
    ("make", 2),
    ("make_set", 1),
    ("make_function", 1),
    ("permuted", 2),
)
_TABLE: Final = 1 << 17
_NODES: Final = 1 << 21
_STACK: Final = 1 << 18
_PARAMETERS: Final = 64
PERMUTED: Final = 1 << 16
"""Words for tables of permutations."""
_LISTED: Final = 1 << 20
_DEEPEST: Final = 100


def code_of(source: NativeSource) -> bytes:
    """Return the machine code of a specification, from the cache if it is there."""
    runtime = flat_text()
    compiler = [getsource(module) for module in (flat, assembly, machine)]
    parts = [machine_name(), *compiler, runtime, source.text]
    digest = sha256("\0".join(parts).encode()).hexdigest()
    code = recall_code(digest)
    if code is None:
        exported = [name for _, name in source.functions] + [name for name, _ in _MAKERS]
        code = object_of(assembly_of(parse(runtime, source.text), exported))
        keep_code(digest, code)
    return code


class _NoWord(Exception):
    """A value that has no word."""


class NativeModel:
    """The machine code of a model, ready to be asked."""

    def __init__(self, source: ModelSource, *, table: int = _TABLE, nodes: int = 0) -> None:
        """Open what the compiler wrote for a model that was loaded with `native`.

        `table` is how many places there are for nodes, `nodes` how many words they have together.
        """
        native = source.native
        assert native is not None, source.module
        self.unlowered = dict(native.unlowered)
        """Role -> why it is Python's."""
        width = len(source.variables)
        self._before = CONSTANTS + len(native.constants)
        self._after = self._before + width
        self._arguments = self._after + width
        names = self._arguments + _PARAMETERS
        places = names + PERMUTED
        start = places + table
        stack = start + (nodes or _NODES)
        listed = stack + _STACK
        opened = Machine(code_of(native), listed + _LISTED)
        self._machine = opened  # its code is there as long as it is
        self._memory = opened.memory
        for place, word in (
            (layout.TOP, start),
            (layout.END, stack),
            (layout.STACK, stack),
            (layout.STACK_END, stack + _STACK),
            (layout.TABLE, places),
            (layout.MASK, table - 1),
            (layout.MOST_NODES, table // 4 * 3),
            (layout.LISTED, listed),
            (layout.LISTED_END, listed + _LISTED),
        ):
            self._memory[place] = word
        self._stack, self._listed, self._permuted = stack, listed, names
        self._make = opened.functions(_MAKERS)
        self._roles: dict[str, Callable[..., int]] = {
            role: opened.function(name, 3) for role, name in native.functions
        }
        self._names: dict[str | Atom, int] = {}
        self._known: dict[RuntimeValue, int] = {}
        self._depths: dict[int, int] = {}
        """Word of a value with parts -> how deep it is nested: comparing goes as deep."""
        try:
            for at, text in enumerate(native.constants, start=CONSTANTS):
                self._memory[at] = self._word(to_runtime(from_json(json.loads(text))))
        except _NoWord:
            why = "a constant has no word"
            self.unlowered |= dict.fromkeys(self._roles, why)
            self._roles = {}
        self._fixed, self._fixed_depths = dict(self._known), dict(self._depths)
        self._start = ctypes.string_at(self._memory, 8 * self._memory[layout.TOP])

    @property
    def roles(self) -> frozenset[str]:
        """What can be asked."""
        return frozenset(self._roles)

    def surely(
        self,
        role: str,
        pre: ModelState | None,
        post: ModelState,
        params: Sequence[RuntimeValue] = (),
    ) -> bool:
        """Tell whether a role is surely TRUE: of a step, or of the state `post` alone."""
        function = self._roles.get(role)
        if function is None or len(params) > _PARAMETERS:
            return False
        for _ in range(2):  # once more in an array that is empty
            try:
                self._place(self._after, post)
                self._place(self._before, post if pre is None else pre)
                self._place(self._arguments, params)
                answer = function(self._before, self._after, self._arguments)
            except _NoWord:
                answer = 2
            self._memory[layout.STACK] = self._stack
            if not self._memory[layout.FULL]:
                return answer == 1
            self._forget()
        return False

    def _forget(self) -> None:
        """Begin again with the constants only."""
        ctypes.memmove(self._memory, self._start, len(self._start))
        self._known = dict(self._fixed)
        self._depths = dict(self._fixed_depths)

    def _place(self, start: int, values: Sequence[RuntimeValue]) -> None:
        for at, value in enumerate(values, start=start):
            self._memory[at] = self._word(value)

    def _word(self, value: RuntimeValue) -> int:
        match value:
            case Boolean():
                return layout.YES if value is TRUE else layout.NO
            case int():
                if abs(value) >= layout.LARGEST:
                    raise _NoWord
                return value << 3
            case TypedAtom():
                raise _NoWord
            case str() | Atom():
                number = self._names.setdefault(value, len(self._names))
                return number << 3 | (layout.STR if isinstance(value, str) else layout.ATOM)
            case _:
                known = self._known.get(value)
                if known is None:
                    known = self._built(value)
                    if known == layout.BAD:
                        raise _NoWord
                    self._known[value] = known
                return known

    def _built(self, value: RuntimeValue) -> int:
        match value:
            case tuple() | frozenset():
                parts = [self._word(part) for part in value]
            case Fcn():
                parts = [self._word(part) for pair in value.items() for part in pair]
            case _:
                raise _NoWord
        depth = 1 + max([self._depths.get(part, 0) for part in parts], default=0)
        if depth > _DEEPEST:
            raise _NoWord
        base = self._memory[layout.STACK]
        for part in parts:
            self._make["push"](part)
        match value:
            case tuple():
                made = self._make["make"](layout.TUP, base)
            case frozenset():
                made = self._make["make_set"](base)
            case _:
                made = self._make["make_function"](base)
        self._depths[made] = depth
        return made
