"""Which values a specification cannot tell apart, so that swapping two of them keeps its meaning.

An expression can tell two strings or two model values apart only by naming one of them, by a
constant whose value is not the same when they are swapped, or by an operator that looks into
strings or knows an order. The compiled text shows all three, so it is asked, not the modules:
what the configuration or the compiler put in is in it, too.

Elements are interchangeable with each other or not at all, so the answer is a list of classes. An
operator that is not listed here as blind ends the matter: nothing is interchangeable then.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from typing import Final

from tlatrace.compiler.model_source import ModelSource
from tlatrace.runtime.values import Atom, Fcn, LazyValue, RuntimeValue, function, to_runtime
from tlatrace.values import from_json

__all__ = ["BLIND", "atoms_in", "interchangeable", "renamed", "split_by"]

_MAX_VALUES: Final = 256
"""Strings and model values that are compared with each other; those of larger sets are left."""

_NAMES: Final = (
    "BOOLEAN FALSE Fcn Filtered Functions INT LazyFunction NAT ONCE Product Records "
    "STRING Sequences Subsets TRUE UNSET Union add append apply arranged "
    "arranged_parts attempt big_union cardinality cell choose concatenate define dict "
    "difference domain_of domain_values each elements_of eq few fold_bag "
    "fold_function fold_function_on fold_left fold_right fold_set frozenset function "
    "function_of function_over has_domain has_fields has_length head images in_domain "
    "in_interval integers_only intersection interval is_finite is_int is_nat "
    "is_sequence is_string largest len length less less_equal make_set map_then_fold "
    "member multiply negate override permutations power put quotient range remainder "
    "remembered said select_sequence sequence set_to_sequence set_to_sorted shares_fields single "
    "smallest sort_sequence stop sub_sequence subset subtract tail truth tuple tuples "
    "type union whole zip"
)
BLIND: Final = frozenset(_NAMES.split())
"""What compiled text calls and what does not look into model values: `f(p(x)) = p(f(x))` for every
permutation p. `choose` is among them because it refuses a choice; `choose_first`, which chooses by
an order, is not. A test asks for each operator to be put here or there."""

_MEASURING: Final = frozenset(["length", "len", "has_length"])
_JOINING: Final = "concatenate"


def interchangeable(source: ModelSource) -> tuple[tuple[RuntimeValue, ...], ...]:
    """Return classes of at least two strings or model values that the specification mixes up."""
    tree = ast.parse(source.python)
    bound: set[str] = {name for name, _ in source.literals}
    used: set[str] = set()
    texts: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.Constant(value=str(text)):
                texts.add(text)
            case _:
                pass
    if not used - bound <= BLIND:
        return ()
    fixed = [_value_of(text) for _, text in (*source.literals, *source.values)]
    found = dict.fromkeys([one for value in fixed for one in atoms_in(value)])
    if _JOINING in used:  # a part of a string that was joined is not renamed
        found = {one: None for one in found if isinstance(one, Atom)}
    groups: dict[object, list[RuntimeValue]] = {}
    for one in sorted(found, key=str):
        if one not in texts:
            length = len(one) if isinstance(one, str) and used & _MEASURING else 0
            groups.setdefault((type(one), length), []).append(one)
    classes = [tuple(group) for group in groups.values() if len(group) <= _MAX_VALUES]
    return split_by(classes, fixed)


def split_by(
    classes: Iterable[tuple[RuntimeValue, ...]], values: Iterable[RuntimeValue]
) -> tuple[tuple[RuntimeValue, ...], ...]:
    """Divide classes so that every swap within one keeps every value; single elements are left out.

    "Swapping a and b keeps all values" is an equivalence, so each is compared with one of a class.
    """
    kept = list(dict.fromkeys(values))
    inside = [frozenset(atoms_in(value)) for value in kept]
    found: list[tuple[RuntimeValue, ...]] = []
    for members in classes:
        parts: dict[tuple[int, ...], list[list[RuntimeValue]]] = {}
        for one in members:
            where = tuple([at for at, atoms in enumerate(inside) if one in atoms])
            for part in parts.setdefault(where, []):
                swap = {one: part[0], part[0]: one}
                if all(renamed(kept[at], swap) == kept[at] for at in where):
                    part.append(one)
                    break
            else:
                parts[where].append([one])
        found += [tuple(part) for some in parts.values() for part in some if len(part) > 1]
    return tuple(found)


def atoms_in(value: RuntimeValue) -> Iterable[RuntimeValue]:
    """Yield the strings and model values in a value, some of them more than once."""
    match value:
        case str() | Atom():
            yield value
        case tuple() | frozenset():
            for part in value:
                yield from atoms_in(part)
        case Fcn():
            for key, image in value.items():
                yield from atoms_in(key)
                yield from atoms_in(image)
        case LazyValue():
            yield from atoms_in(value.whole())
        case _:
            return


def renamed(value: RuntimeValue, names: Mapping[RuntimeValue, RuntimeValue]) -> RuntimeValue:
    """Replace strings and model values everywhere in a value; `names` is a permutation."""
    match value:
        case str() | Atom():
            return names.get(value, value)
        case tuple():
            return tuple([renamed(part, names) for part in value])
        case frozenset():
            return frozenset([renamed(part, names) for part in value])
        case Fcn():
            pairs = value.items()
            return function({renamed(key, names): renamed(image, names) for key, image in pairs})
        case LazyValue():
            return renamed(value.whole(), names)
        case _:
            return value


def _value_of(text: str) -> RuntimeValue:
    return to_runtime(from_json(json.loads(text)))
