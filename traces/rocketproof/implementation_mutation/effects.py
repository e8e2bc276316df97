"""Which calls of a core make effects, and the mutations that drop or swap them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from rocketproof.implementation_mutation.mutation import Kind
from rocketproof.implementation_mutation.source_text import SourceText

__all__ = ["EffectSites", "effect_names", "is_sync"]

_SYNCS: Final = frozenset({"FlushLog", "RequestFlush", "SyncNames"})
_SYNC_CALLS: Final = frozenset({"fsync", "fsync_dir", "flush"})
_ROOT: Final = "Effect"
_ALIAS_ENDS: Final = ("Effect", "_Does")
_RESULT_ENDS: Final = ("Stepped", "Applied", "Done", "replace")


def effect_names(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return the names of classes that are effects: by their base, or by an alias of several."""
    bases: dict[str, set[str]] = {}
    found = {_ROOT, "Then", "After"}
    for tree in trees:
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {_name(base) for base in node.bases}
            elif isinstance(node, ast.AnnAssign) and _name(node.target).endswith(_ALIAS_ENDS):
                found |= set() if node.value is None else set(_union(node.value))
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return frozenset(found)


def _name(node: ast.expr) -> str:
    """Return the last part of a name: `Then` of `Then[Event]`, `append` of `effects.append`."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value) | ast.Call(func=value) | ast.Starred(value=value):
            return _name(value)
        case _:
            return ""


def _union(node: ast.expr) -> Iterator[str]:
    """Yield the names of the classes of an alias such as `A | B[C]`."""
    if isinstance(node, ast.BinOp):
        yield from _union(node.left)
        yield from _union(node.right)
    else:
        yield _name(node)


def is_sync(node: ast.AST) -> bool:
    """Tell whether something makes a write durable: an effect, or a call of a disk."""
    if isinstance(node, ast.Call):
        name = _name(node.func)
        return name in _SYNCS or (isinstance(node.func, ast.Attribute) and name in _SYNC_CALLS)
    return False


class EffectSites:
    """The places of a module where effects are dropped or swapped: each with what comes instead."""

    def __init__(self, text: SourceText, effects: frozenset[str]) -> None:
        """Take the module, and the names of effects."""
        self._text = text
        self._effects = effects

    def makes_effect(self, node: ast.expr) -> bool:
        """Tell whether an expression is an effect, or effects that another step has made."""
        match node:
            case ast.Call(func=func):
                return _name(func) in self._effects
            case ast.Starred(value=value):
                return _speaks_of_effects(value) or self.makes_effect(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self.makes_effect(body) or self.makes_effect(orelse)
            case ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt):
                return self.makes_effect(elt)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return any(map(self.makes_effect, elts))
            case _:
                return False

    def of_sequence(self, node: ast.Tuple | ast.List) -> Iterator[tuple[Kind, ast.expr, str]]:
        """Yield (kind, what is replaced, by what) of effects that are written as a sequence.

        What a step asks for comes behind all that it does (`NodeHost`), wherever it is written.
        """
        if not any(map(self.makes_effect, node.elts)):
            return
        texts = [self._text.of(one) for one in node.elts]
        for at, one in enumerate(node.elts):
            kind = Kind.UNSYNCED_WRITE if is_sync(one) else Kind.DROPPED_EFFECT
            yield kind, node, _written(node, [*texts[:at], *texts[at + 1 :]])
            if at + 1 < len(texts) and _is_follow_up(one) == _is_follow_up(node.elts[at + 1]):
                swapped = [*texts[:at], texts[at + 1], texts[at], *texts[at + 2 :]]
                yield Kind.SWAPPED_EFFECTS, node, _written(node, swapped)

    def of_call(self, node: ast.Call) -> Iterator[tuple[Kind, ast.expr, str]]:
        """Yield (kind, what is replaced, by what) of effects that a call is given as a whole."""
        name = _name(node.func)
        if name in ("tuple", "list") and len(node.args) == 1:
            (only,) = node.args
            if isinstance(only, ast.GeneratorExp | ast.ListComp) and self.makes_effect(only):
                yield Kind.DROPPED_EFFECT, node, "()" if name == "tuple" else "[]"
        if name.endswith(_RESULT_ENDS):
            for given in (*node.args, *(one.value for one in node.keywords)):
                if _speaks_of_effects(given):
                    yield Kind.DROPPED_EFFECT, given, "()"

    def adds(self, node: ast.stmt) -> Kind | None:
        """Return what it is to drop a statement that adds effects to those of a step, or None."""
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=attr)) as call):
                if attr in ("append", "extend") and _speaks_of_effects(target):
                    sync = any(map(is_sync, call.args))
                    return Kind.UNSYNCED_WRITE if sync else Kind.DROPPED_EFFECT
            case ast.AugAssign(target=target) if _speaks_of_effects(target):
                return Kind.DROPPED_EFFECT
            case _:
                pass
        return None


def _is_follow_up(node: ast.expr) -> bool:
    match node:
        case ast.Starred(value=ast.GeneratorExp(elt=made) | ast.ListComp(elt=made)):
            return _is_follow_up(made)
        case _:
            return isinstance(node, ast.Call) and _name(node.func) == "Then"


def _speaks_of_effects(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == "effects"
        case ast.Call(func=ast.Name(id="tuple"), args=[only]):
            return _speaks_of_effects(only)
        case _:
            return False


def _written(node: ast.Tuple | ast.List, parts: list[str]) -> str:
    if isinstance(node, ast.List):
        return f"[{', '.join(parts)}]"
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
