"""What a native model can be asked: is this step that action, does this invariant hold?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tlatrace.compiler.emit_native.environment import Word
from tlatrace.compiler.emit_native.expressions import Expressions
from tlatrace.compiler.emit_native.rows import Rows
from tlatrace.compiler.emit_native.steps import Steps
from tlatrace.compiler.emit_native.writer import FlatWriter, Unlowered
from tlatrace.compiler.ir.analysis import reads
from tlatrace.compiler.ir.nodes import Definition, Expr
from tlatrace.compiler.passes.instances import Instances
from tlatrace.runtime.values import Atom, Fcn, RuntimeValue, TypedAtom

__all__ = ["NativeRoles", "NativeText"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeText:
    """The flat Python of a specification."""

    text: str
    functions: tuple[tuple[str, str], ...]
    """(role, function of the words' places: before, after, arguments)."""
    constants: tuple[RuntimeValue, ...]
    """The values whose words stand at `CONSTANTS` and after."""
    labels: tuple[tuple[str, int], ...]
    """What the numbers of labels mean, with how many arguments each has."""
    unlowered: tuple[tuple[str, str], ...]
    """(role, why it stays Python's)."""


class NativeRoles:
    """Writes one question after another; what cannot be written is noted."""

    def __init__(self, variables: int = 0) -> None:
        self._writer = FlatWriter()
        self._expressions = Expressions(self._writer)
        self._steps = Steps(self._writer, self._expressions, variables)
        self._rows = Rows(self._writer, self._expressions, variables)
        self._functions: dict[str, str] = {}
        self._unlowered: dict[str, str] = {}

    def question(self, role: str, formula: Expr, parameters: Iterable[str] = ()) -> None:
        """Write the question whether a formula is TRUE; of a state, it has no primes."""
        w = self._writer
        name = w.fresh("role")
        env = {one: Word(f"mem[p + {at}]") for at, one in enumerate(parameters)}
        try:
            with w.function(name, ("s", "t", "p"), "2"):
                self._expressions.require(formula, env)
                w.emit("return 1")
        except Unlowered as reason:
            self._unlowered[role] = str(reason)
        else:
            self._functions[role] = name

    def steps(self, definition: Definition, initial: Definition) -> None:
        """Write what lists the steps from a state, and the initial states."""
        for role, write, listed in (
            ("steps", self._steps.listing, definition),
            ("initials", self._steps.starting, initial),
        ):
            name = self._writer.fresh("role")
            try:
                write(name, listed)
            except Unlowered as reason:
                self._unlowered[role] = str(reason)
            else:
                self._functions[role] = name

    def rows(self, conjuncts: Iterable[Instances]) -> None:
        """Write what judges the rows of traces, after all roles that a row may have."""
        numbered = enumerate(self._functions.items())
        functions = [(at, name) for at, (role, name) in numbered if _is_of_row(role)]
        try:
            if "initial" in self._unlowered:
                raise Unlowered(f"initial: {self._unlowered['initial']}", None)
            self._functions["rows"] = self._rows.write(functions, conjuncts)
        except Unlowered as reason:
            self._unlowered["rows"] = str(reason)

    def of_state(self, role: str, formula: Expr) -> None:
        """Write a question about one state."""
        if reads(formula).primed:
            self._unlowered[role] = "it speaks of the next state"
        else:
            self.question(role, formula)

    def value(self, role: str, expression: Expr) -> None:
        """Write what an expression is in a state: a word, or BAD."""
        if reads(expression).constant or reads(expression).primed:
            self._unlowered[role] = "it is no expression of a state"
            return
        name = self._writer.fresh("role")
        try:
            with self._writer.function(name, ("s", "t", "p"), "BAD"):
                self._writer.emit(f"return {self._expressions.value(expression, {})}")
        except Unlowered as reason:
            self._unlowered[role] = str(reason)
        else:
            self._functions[role] = name

    def written(self) -> NativeText:
        """Return all that was written."""
        constants = tuple(self._writer.constants)
        functions, unlowered = self._functions, self._unlowered
        if any(map(_has_types, constants)):  # TLC compares such model values with few others
            unlowered |= dict.fromkeys(functions, "model values that have types")
            functions = {}
        return NativeText(
            text=self._writer.text() if functions else "",
            functions=tuple(functions.items()),
            constants=constants,
            labels=tuple([(label.name, label.arity) for label in self._steps.labels]),
            unlowered=tuple(unlowered.items()),
        )


def _is_of_row(role: str) -> bool:
    return role in ("initial", "next") or role.startswith("action ")


def _has_types(value: RuntimeValue) -> bool:
    match value:
        case Atom():
            return isinstance(value, TypedAtom)
        case Fcn():
            return any(_has_types(part) for pair in value.items() for part in pair)
        case tuple() | frozenset():
            return any(map(_has_types, value))
        case _:
            return False
