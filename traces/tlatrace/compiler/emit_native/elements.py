"""Constructs that look at the elements of sets: each of them, in whatever order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

from tlatrace.compiler.emit_native.environment import Environment, Word
from tlatrace.compiler.emit_native.writer import FlatWriter, Unlowered
from tlatrace.compiler.ir.nodes import Apply, Expr, Operand, OperatorRef, Quantified

__all__ = ["Elements"]


class _Expressions(Protocol):
    """See `expressions`."""

    def value(self, node: Operand, env: Environment) -> str: ...

    def condition(self, node: Operand, env: Environment) -> str: ...


class Elements:
    """Writes quantifiers, CHOOSE, sets and functions that are made of the elements of sets."""

    def __init__(self, writer: FlatWriter, expressions: _Expressions) -> None:
        self._w, self._x = writer, expressions

    @contextmanager
    def each(self, among: Expr, env: Environment) -> Iterator[str]:
        """Write a loop over the elements of a set; give the text of an element."""
        w, index, element = self._w, self._w.fresh("i"), self._w.fresh("e")
        operator = among.operator if isinstance(among, Apply) else ""
        if isinstance(among, Apply) and operator == "..":
            low, high = [self._x.value(item, env) for item in among.operands]
            w.fail_if(f"{low} & 7 != INT or {high} & 7 != INT or {high} - {low} > MANY << 3")
            w.emit(f"{index} = {low}")
            with w.block(f"while {index} <= {high}:"):
                w.emit(f"{element} = {index}")
                w.emit(f"{index} += 8")
                yield element
            return
        if isinstance(among, Apply) and operator == "SUBSET":
            collection = w.kept(self._x.value(among.operands[0], env))
            w.fail_if(f"{collection} & 7 != SET")
            w.fail_if(f"size({collection}) > FEW")
            w.emit(f"{index} = 0")
            with w.block(f"while {index} < 1 << size({collection}):"):
                w.emit(f"{element} = subset_of({collection}, {index})")
                w.emit(f"{index} += 1")
                yield element
            return
        if isinstance(among, Apply) and operator in ("functions", "records"):
            with self._combined(among, env) as element:
                yield element
            return
        if isinstance(among, Apply) and operator in ("DOMAIN", "images", "elements"):
            function = self._w.kept(self._x.value(among.operands[0], env))
            w.fail_if(f"kind_of({function}) != TUP")
            count = f"count_of_pairs({function})"
            part = f"{'key_at' if operator == 'DOMAIN' else 'image_at'}({function}, {index})"
        else:
            collection = self._w.kept(self._x.value(among, env))
            w.fail_if(f"{collection} & 7 != SET")
            count, part = f"size({collection})", f"at({collection}, {index})"
        w.emit(f"{index} = 0")
        with w.block(f"while {index} < {count}:"):
            w.emit(f"{element} = {part}")
            w.emit(f"{index} += 1")
            yield element

    @contextmanager
    def _combined(self, among: Apply, env: Environment) -> Iterator[str]:
        """Write a loop over [S -> T], or over [f : S, g : T]; each is known by a number."""
        w, index, element = self._w, self._w.fresh("i"), self._w.fresh("e")
        words = [w.kept(self._x.value(item, env)) for item in among.operands]
        sets = words if among.operator == "functions" else words[1::2]
        for collection in sets:
            w.fail_if(f"{collection} & 7 != SET")
        if among.operator == "functions":
            counted = w.word(f"count_of_functions({words[0]}, {words[1]})")
            count = w.kept(f"{counted} >> 3")
        else:
            count = w.kept("1")
            for collection in sets:
                w.emit(f"{count} = {count} * size({collection})")
                w.fail_if(f"{count} > MANY")
        w.emit(f"{index} = 0")
        with w.block(f"while {index} < {count}:"):
            if among.operator == "functions":
                w.emit(f"{element} = function_of({words[0]}, {words[1]}, {index})")
            else:
                rest, base = w.kept(index), w.base()
                for name, collection in zip(words[::2], sets, strict=True):
                    w.emit(f"push({name})")
                    w.emit(f"push(at({collection}, {rest} % size({collection})))")
                    w.emit(f"{rest} = {rest} // size({collection})")
                w.emit(f"{element} = make_function({base})")
            w.emit(f"{index} += 1")
            yield element

    def built(self, among: Apply, env: Environment) -> str:
        """Return the word of a set that Python leaves unbuilt, with all its elements."""
        base = self._w.base()
        with self.each(among, env) as element:
            self._w.emit(f"push({element})")
        return self._w.word(f"make_set({base})")

    @contextmanager
    def choices(self, node: Quantified, env: Environment) -> Iterator[tuple[Environment, str]]:
        """Write loops over the sets of a quantifier; give what its names are, and what is bound."""
        w, inner = self._w, dict(env)
        keys: list[str] = []
        with ExitStack() as loops:
            for names, is_pattern, among in node.bounds:
                if among is None:
                    raise Unlowered("CHOOSE without a set", node.place)
                element = loops.enter_context(self.each(among, env))
                keys.append(element)
                if not is_pattern:
                    inner[names[0]] = Word(element)
                    continue
                w.fail_if(f"{element} & 7 != TUP")
                w.fail_if(f"size({element}) != {len(names)}")
                for position, name in enumerate(names):
                    inner[name] = Word(self._w.kept(f"at({element}, {position})"))
            yield inner, keys[0] if len(keys) == 1 else " ".join(keys)

    def quantified(self, node: Quantified, env: Environment) -> str:
        w, name = self._w, self._w.fresh("r")
        exists = node.what == "exists"
        w.emit(f"{name} = {int(not exists)}")
        with self.choices(node, env) as (inner, _):
            asked = self._x.condition(node.body, inner)
            with w.block(f"if {asked}:" if exists else f"if not {asked}:"):
                w.emit(f"{name} = {int(exists)}")
        return name

    def collected(self, node: Quantified, env: Environment) -> str:
        w = self._w
        if node.what == "choose":
            return self._chosen(node, env)
        base = self._w.base()
        with self.choices(node, env) as (inner, key):
            if node.what == "filter":
                with w.block(f"if {self._x.condition(node.body, inner)}:"):
                    w.emit(f"push({key})")
            else:
                word = self._w.kept(self._x.value(node.body, inner))
                if node.what == "function":
                    w.emit(f"push({self._key(key.split())})")
                w.emit(f"push({word})")
        return w.word(f"{'make_function' if node.what == 'function' else 'make_set'}({base})")

    def _key(self, parts: list[str]) -> str:
        """Return an argument of a function, a tuple if it takes several."""
        if len(parts) == 1:
            return parts[0]
        base = self._w.base()
        for part in parts:
            self._w.emit(f"push({part})")
        return self._w.word(f"make(TUP, {base})")

    def _chosen(self, node: Quantified, env: Environment) -> str:
        """Return the only element that CHOOSE may choose; of several, only TLC knows which."""
        w, name, count = self._w, self._w.fresh("w"), self._w.fresh("n")
        w.emit(f"{name} = BAD")
        w.emit(f"{count} = 0")
        with (
            self.choices(node, env) as (inner, key),
            w.block(f"if {self._x.condition(node.body, inner)}:"),
        ):
            w.emit(f"{name} = {key}")
            w.emit(f"{count} += 1")
        w.fail_if(f"{count} != 1")
        return name

    def selected(self, node: Apply, env: Environment) -> str:
        w, (sequence, test) = self._w, node.operands
        if not isinstance(test, OperatorRef):
            raise Unlowered("SelectSeq with such an operator", node.place)
        assert not isinstance(sequence, OperatorRef)
        whole = self._w.kept(self._x.value(sequence, env))
        w.fail_if(f"{whole} & 7 != TUP")
        base, index, element = self._w.base(), w.fresh("i"), w.fresh("e")
        w.emit(f"{index} = 0")
        with w.block(f"while {index} < size({whole}):"):
            w.emit(f"{element} = at({whole}, {index})")
            w.emit(f"{index} += 1")
            inner = {**env, test.parameters[0]: Word(element)}
            with w.block(f"if {self._x.condition(test.body, inner)}:"):
                w.emit(f"push({element})")
        return w.word(f"make(TUP, {base})")
