"""The rows of a trace as flat Python: which steps are surely right, invariants included?

A row is `ROW` words: the number of a role (the first ones of `NativeText.functions`; 0 is the
initial state), the tuple of its arguments, where its text begins and ends; the answer, the state,
and a number that says which step it is (0: none) are written behind them. Then it has a word for
each variable: where its text begins at less than 0, its state is what these numbers say (see
`runtime.words.columns`). A role that is less than 0 has the state read only.

What was found TRUE is remembered as a FACT: a state in which all invariants are TRUE, alone; the
role, the arguments and both states of a step; less than 0, a group of instances of invariants (see
`passes.instances`) with all that they read. Groups that read nothing new are not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tlatrace.compiler.emit_native.environment import Word
from tlatrace.compiler.emit_native.expressions import Expressions
from tlatrace.compiler.emit_native.writer import FlatWriter
from tlatrace.compiler.passes.instances import Cell, Instances
from tlatrace.runtime.values import RuntimeValue

__all__ = ["ROW", "Rows"]

ROW: Final = 7
"""Words of a row: role, arguments, begin and end of its text; answer, state, number.

Behind them is one for each variable."""

_TEXT: Final = """
def judge_rows(row, end, names):
    base = mem[STACK]
    before = mem[BEFORE]
    while row < end:
        mem[STACK] = base
        if mem[row + 2] < 0:
            after = read_columns(row + {row}, names, {width})
        else:
            after = read_state(mem[row + 2], mem[row + 3], names, {width})
        answer = 0
        if after != BAD and mem[row] >= 0:
            answer = judge_step(mem[row], mem[row + 1], before, after)
        if mem[FULL]:
            return row
        number = 0
        if after != BAD and mem[row] >= 0:
            number = content_of_step(mem[row], mem[row + 1], before, after)
        mem[row + 4] = answer
        mem[row + 5] = after
        mem[row + 6] = number
        before = after
        row += {row} + {width}
    mem[STACK] = base
    mem[BEFORE] = before
    return row

def judge_step(role, arguments, before, after):
    base = mem[STACK]
    s = 0
    if role == 0:
        before = BAD
    elif before == BAD:
        return 0
    else:
        s = (before >> 3) + 1
    push_step(role, arguments, before, after)
    if known(base):
        return 2
    t = (after >> 3) + 1
    if ask_role(role, s, t, (arguments >> 3) + 1) != 1:
        return 0
    mem[STACK] = base
    push(after)
    if not known(base):
        if s != 0:
            push(before)
            if not known(base):
                s = 0
        if hold_all(s, t) != 1:
            return 0
        mem[STACK] = base
        push(after)
        make(FACT, base)
    push_step(role, arguments, before, after)
    make(FACT, base)
    return 1

def content_of_step(role, arguments, before, after):
    number = mixed(role, content(arguments))
    if role != 0:
        if before == BAD:
            return 0
        number = mixed(number, content(before))
    return mixed(number, content(after)) | 1

def push_step(role, arguments, before, after):
    push(role)
    push(arguments)
    push(before)
    push(after)
    return 0
"""


class Rows:
    """Writes `judge_rows`: it returns the first row that does not fit into memory, or the end."""

    def __init__(self, writer: FlatWriter, expressions: Expressions, width: int) -> None:
        self._w, self._x, self._width = writer, expressions, width

    def write(self, functions: Sequence[tuple[int, str]], conjuncts: Iterable[Instances]) -> str:
        """Write it for roles by their numbers, and the conjuncts of invariants.

        Raises:
            Unlowered: an invariant cannot be written.
        """
        self._sound(conjuncts)
        w = self._w
        with w.function("ask_role", ("role", "s", "t", "p"), "2"):
            for number, name in functions:
                with w.block(f"if role == {number}:"):
                    w.emit(f"return {name}({'t' if number == 0 else 's'}, t, p)")
            w.fail()
        w.add(_TEXT.format(width=self._width, row=ROW))
        return "judge_rows"

    def _sound(self, conjuncts: Iterable[Instances]) -> None:
        w = self._w
        groups: dict[frozenset[Cell], list[tuple[str, tuple[RuntimeValue, ...]]]] = {}
        for found in conjuncts:
            name = self._instance(found)
            for values, cells in found.choices:
                groups.setdefault(cells, []).append((name, values))
        with w.function("hold_all", ("s", "t"), "2"):
            for number, (cells, asked) in enumerate(groups.items()):
                self._group(number, sorted(cells, key=repr), asked)
            w.emit("return 1")

    def _instance(self, found: Instances) -> str:
        w, name = self._w, self._w.fresh("instance")
        env = {local: Word(f"mem[p + {at}]") for at, (local, _) in enumerate(found.names)}
        with w.function(name, ("s", "t", "p"), "2"):
            self._x.require(found.formula, env)
            w.emit("return 1")
        return name

    def _group(
        self, number: int, cells: list[Cell], asked: list[tuple[str, tuple[RuntimeValue, ...]]]
    ) -> None:
        """Write what asks the instances that read the same cells."""
        w = self._w
        after = [self._cell("t", cell) for cell in cells]
        before = [self._cell("s", cell) for cell in cells]
        differ = [f"{one} != {other}" for one, other in zip(before, after, strict=True)]
        with w.block(f"if {' or '.join(['s == 0', *differ])}:"):
            base = w.base()
            words = [str(-1 - number), *[w.kept(text) for text in after]]
            for word in words:
                w.emit(f"push({word})")
            with w.block(f"if not known({base}):"):
                for name, values in asked:
                    arguments = f"({w.constant(values)} >> 3) + 1"
                    w.fail_if(f"{name}(t, t, {arguments}) != 1")
                w.emit(f"mem[STACK] = {base}")
                for word in words:
                    w.emit(f"push({word})")
                w.emit(f"make(FACT, {base})")

    def _cell(self, state: str, cell: Cell) -> str:
        at, argument = cell
        whole = f"mem[{state} + {at}]"
        return whole if argument is None else f"apply({whole}, {self._w.constant(argument)})"
