r"""Why it is enough to look at the steps of some members of a set.

Let the members of a set be model values that the text does not tell apart: it names none of them,
but for the set as a whole, and chooses none. Then a step stays one when members change places
everywhere, and invariants stay true. So if `\E m, n \in Member : A(m, n)` breaks an invariant for
some m and n, it does for the first member as both, or for the first and the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tlatrace.compiler.ir.nodes import Call, Definition, Literal, Operand, Quantified, children
from tlatrace.errors import SubsetError
from tlatrace.runtime.values import Fcn, RuntimeValue

__all__ = ["check_symmetric", "patterns"]


def patterns(members: int, names: int) -> Iterator[tuple[int, ...]]:
    """Yield which members so many names may stand for, counted in the order that they come in."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(names):
        found = [
            (*one, member)
            for one in found
            for member in range(min(max(one, default=-1) + 2, members))
        ]
    yield from found


def check_symmetric(
    members: frozenset[RuntimeValue], definitions: Iterable[Definition], module: str
) -> None:
    """Make sure that no text tells members apart.

    Raises:
        SubsetError: it may.
    """
    waiting: list[Operand] = [one.expression for one in definitions]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call) and id(node.definition) not in seen:
            seen.add(id(node.definition))
            waiting.append(node.definition.expression)
        if isinstance(node, Quantified) and node.what == "choose":
            raise SubsetError(module, "CHOOSE may tell the members of a set apart")
        if isinstance(node, Literal) and not _treats_alike(node.value, members):
            raise SubsetError(module, f"{node.value} tells the members of a set apart")
        waiting += children(node)


def _treats_alike(value: RuntimeValue, members: frozenset[RuntimeValue]) -> bool:
    """Tell whether a value has no member in it, or is the set of all."""
    match value:
        case frozenset():
            return value == members or all(_treats_alike(one, members) for one in value)
        case tuple():
            return all(_treats_alike(one, members) for one in value)
        case Fcn():
            parts = (*value, *value.values())
            return all(_treats_alike(one, members) for one in parts)
        case _:
            return value not in members
