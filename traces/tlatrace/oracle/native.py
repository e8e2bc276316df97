"""A specification as machine code: it says what is surely allowed, and of the rest nothing.

Values of the compiled model become words, once each; a question is answered True only where the
compiled Python would say the same. False says nothing: ask Python.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from inspect import getsource
from typing import Final

from tlatrace.compiler.cache import keep_code, model_key, recall, recall_code
from tlatrace.compiler.emit_native.writer import CONSTANTS
from tlatrace.compiler.model_source import ModelSource, NativeSource
from tlatrace.machine_code import assembly, flat, machine
from tlatrace.machine_code.assembly import assembly_of
from tlatrace.machine_code.flat import parse
from tlatrace.machine_code.machine import Machine, machine_name, object_of
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import (
    FALSE,
    TRUE,
    Atom,
    Boolean,
    Fcn,
    RuntimeValue,
    TypedAtom,
    function,
    to_runtime,
)
from tlatrace.runtime.words import flat_text, layout
from tlatrace.runtime.words.layout import PACKED
from tlatrace.values import from_json

__all__ = ["PERMUTED", "Addition", "NativeModel", "NoWord", "code_of", "is_kept"]

_MAKERS: Final = (
    ("push", 1),
    ("make", 2),
    ("make_set", 1),
    ("make_function", 1),
    ("permuted", 2),
    ("read_text", 3),
    ("content", 1),
)
_TABLE: Final = 1 << 17
_NODES: Final = 1 << 21
_STACK: Final = 1 << 18
_PARAMETERS: Final = 64
PERMUTED: Final = 1 << 16
"""Words for tables of permutations."""
_LISTED: Final = 1 << 20
_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is compiled beside the functions of a model, and may call them."""

    text: str
    """Flat Python."""
    functions: tuple[tuple[str, int], ...]
    """Those that the host calls, with how many words they take."""
    words: int
    """How much room there is for it, at the end of the array."""


def code_of(source: NativeSource, addition: Addition | None = None) -> bytes:
    """Return the machine code of a specification, from the cache if it is there."""
    key = _key(source, addition)
    code = recall_code(key)
    if code is None:
        text = assembly_of(parse(*_texts(source, addition)), _exported(source, addition))
        code = object_of(text)
        keep_code(key, code)
    return code


def is_kept(fingerprint: str) -> bool:
    """Tell whether the cache has the machine code of a model."""
    source = recall(model_key(fingerprint, "native"))
    return source is not None and bool(source.native and recall_code(_key(source.native)))


def _key(source: NativeSource, addition: Addition | None = None) -> str:
    compiler = [getsource(module) for module in (flat, assembly, machine)]
    exported = " ".join(_exported(source, addition))  # of one text, other functions may be asked
    parts = [machine_name(), *compiler, *_texts(source, addition), exported]
    return sha256("\0".join(parts).encode()).hexdigest()


def _exported(source: NativeSource, addition: Addition | None) -> list[str]:
    added = () if addition is None else addition.functions
    return [name for _, name in source.functions] + [name for name, _ in (*_MAKERS, *added)]


def _texts(source: NativeSource, addition: Addition | None) -> list[str]:
    return [flat_text(), source.text] + ([] if addition is None else [addition.text])


class NoWord(Exception):
    """A value that has no word."""


class NativeModel:
    """The machine code of a model, ready to be asked."""

    def __init__(
        self,
        source: ModelSource,
        *,
        table: int = _TABLE,
        nodes: int = 0,
        addition: Addition | None = None,
        words: int = 0,
    ) -> None:
        """Open what the compiler wrote for a model that was loaded with `native`.

        `table` is how many places there are for nodes, `nodes` how many words they have together,
        `words` how many there are for whoever opens it, at the end of the array.
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
        self._room = listed + _LISTED
        more = 0 if addition is None else addition.words
        opened = Machine(code_of(native, addition), self._room + more + words)
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
        self._added = {} if addition is None else opened.functions(addition.functions)
        self._names: dict[Atom, int] = {}
        self._known: dict[RuntimeValue, int] = {}
        self._depths: dict[int, int] = {}
        """Word of a value with parts -> how deep it is nested: comparing goes as deep."""
        try:
            for at, text in enumerate(native.constants, start=CONSTANTS):
                self._memory[at] = self._word(to_runtime(from_json(json.loads(text))))
        except NoWord:
            why = "a constant has no word"
            self.unlowered |= dict.fromkeys(self._roles, why)
            self._roles = {}
        self._keep()

    def value(self, word: RuntimeValue) -> RuntimeValue:
        """Return the value of a word."""
        assert isinstance(word, int)
        tag, rest = word & 7, word >> 3
        match tag:
            case layout.INT:
                return rest
            case layout.BOOL:
                return TRUE if rest else FALSE
            case layout.ATOM:
                return list(self._names)[rest]
            case layout.STR:
                return self._string_at(rest)
            case _:
                count = self._memory[rest] >> 3
                words = self._memory[rest + 1 : rest + 1 + count]
                parts = [self.value(part) for part in words]
        if tag == layout.TUP:
            return tuple(parts)
        if tag == layout.SET:
            return frozenset(parts)
        return function(dict(zip(parts[::2], parts[1::2], strict=True)))

    def _string_at(self, node: int) -> str:
        count = self._memory[node] >> 3
        length, *packed = self._memory[node + 1 : node + 1 + count]
        raw = b"".join([word.to_bytes(PACKED, "little") for word in packed])
        return raw[:length].decode("utf-8", "surrogatepass")

    def _keep(self) -> None:
        """Keep what there is now as what an empty array has."""
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
            except NoWord:
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
                    raise NoWord
                return value << 3
            case TypedAtom():
                raise NoWord
            case Atom():
                return self._names.setdefault(value, len(self._names)) << 3 | layout.ATOM
            case _:
                known = self._known.get(value)
                if known is None:
                    known = self._built(value)
                    if known == layout.BAD:
                        raise NoWord
                    self._known[value] = known
                return known

    def _built(self, value: RuntimeValue) -> int:
        match value:
            case str():
                return self._string(value)
            case tuple() | frozenset():
                parts = [self._word(part) for part in value]
            case Fcn():
                parts = [self._word(part) for pair in value.items() for part in pair]
            case _:
                raise NoWord
        depth = 1 + max([self._depths.get(part, 0) for part in parts], default=0)
        if depth > _DEEPEST:
            raise NoWord
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

    def _string(self, value: str) -> int:
        raw = value.encode("utf-8", "surrogatepass")
        base = self._memory[layout.STACK]
        self._make["push"](len(raw))
        for at in range(0, len(raw), PACKED):
            self._make["push"](int.from_bytes(raw[at : at + PACKED], "little"))
        return self._make["make"](layout.STR, base)
