"""An array of words for tests: values in, values out; Python or machine code computes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tlatrace.machine_code.assembly import assembly_of
from tlatrace.machine_code.flat import parse
from tlatrace.machine_code.machine import Machine, object_of
from tlatrace.runtime.values import FALSE, TRUE, Atom, Boolean, Fcn, RuntimeValue, function
from tlatrace.runtime.words import MODULES, flat_text, layout

__all__ = ["WordArray", "compiled", "python_array"]

TABLE: Final = 16
SLOTS: Final = 4096
NODES: Final = TABLE + SLOTS
STACK: Final = NODES + 60_000
SIZE: Final = STACK + 8_000


class WordArray:
    """Words of values, and functions over them."""

    def __init__(self, memory: Any, call: Callable[..., int], *, end: int = STACK) -> None:
        self.memory, self.call = memory, call
        self._end = end
        self._names: list[str | Atom] = []
        self.kept: object = None
        self.clear()

    def clear(self) -> None:
        for at in range(NODES):
            self.memory[at] = 0
        for at, word in (
            (layout.TOP, NODES),
            (layout.END, self._end),
            (layout.STACK, STACK),
            (layout.STACK_END, SIZE),
            (layout.TABLE, TABLE),
            (layout.MASK, SLOTS - 1),
            (layout.MOST_NODES, SLOTS // 2),
        ):
            self.memory[at] = word

    def word(self, value: RuntimeValue) -> int:
        match value:
            case Boolean():
                return layout.YES if value is TRUE else layout.NO
            case int():
                return value << 3
            case str() | Atom():
                if value not in self._names:
                    self._names.append(value)
                tag = layout.STR if isinstance(value, str) else layout.ATOM
                return self._names.index(value) << 3 | tag
            case tuple() | frozenset():
                parts = [self.word(part) for part in value]
            case Fcn():
                parts = [self.word(part) for pair in value.items() for part in pair]
            case _:
                raise AssertionError(value)
        if layout.BAD in parts:
            return layout.BAD
        base = self.memory[layout.STACK]
        for part in parts:
            self.call("push", part)
        if isinstance(value, tuple):
            return self.call("make", layout.TUP, base)
        return self.call("make_set" if isinstance(value, frozenset) else "make_function", base)

    def value(self, word: int) -> RuntimeValue:
        tag, rest = word & 7, word >> 3
        if tag == layout.INT:
            return rest
        if tag == layout.BOOL:
            return TRUE if rest else FALSE
        if tag in (layout.STR, layout.ATOM):
            return self._names[rest]
        assert tag != layout.BAD
        assert self.memory[rest] & 7 == tag
        count = self.memory[rest] >> 3
        parts = [self.value(self.memory[rest + 1 + at]) for at in range(count)]
        if tag == layout.TUP:
            return tuple(parts)
        if tag == layout.SET:
            assert len(set(parts)) == len(parts)
            return frozenset(parts)
        return function(dict(zip(parts[::2], parts[1::2], strict=True)))


def python_array() -> WordArray:
    """Let Python run the functions as they are."""
    layout.mem[:] = [0] * SIZE
    known = {name: getattr(module, name) for module in MODULES for name in module.__all__}
    return WordArray(layout.mem, lambda name, *given: int(known[name](*given)))


def compiled(text: str | None = None, *, end: int = STACK) -> WordArray:
    """Let machine code run them, of another text if one is given."""
    module = parse(flat_text() if text is None else text)
    machine = Machine(object_of(assembly_of(module, list(module.functions))), SIZE)
    functions = machine.functions(
        [(name, len(one.parameters)) for name, one in module.functions.items()]
    )
    array = WordArray(machine.memory, lambda name, *given: functions[name](*given), end=end)
    array.kept = machine  # its code is there as long as it is
    return array
