"""Expressions as flat Python: words, and answers to conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final

from tlatrace.compiler.emit_native.elements import Elements
from tlatrace.compiler.emit_native.environment import Binding, Environment, Later, Operator, Word
from tlatrace.compiler.emit_native.recursion import guarded
from tlatrace.compiler.emit_native.writer import FlatWriter, Unlowered
from tlatrace.compiler.ir.analysis import free_locals, kind_of, size, strict
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Definition,
    Except,
    Expr,
    If,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Quantified,
    Variable,
)
from tlatrace.compiler.passes.membership import expand_member, expand_settled, settle
from tlatrace.runtime.values import FALSE, TRUE, Boolean

__all__ = ["Expressions"]

_LARGEST: Final = 2**31
"""Numbers that stand in the text; larger ones are constants like others."""
_DEEPEST: Final = 60
_SMALL: Final = 8

_WORDS: Final = {
    "apply": "apply",
    "select": "apply",
    "..": "make_interval",
    "cup": "union",
    "cap": "intersection",
    "setminus": "difference",
    "UNION": "big_union",
    "DOMAIN": "domain",
    "Cardinality": "cardinality",
    "Len": "length",
    "Append": "append",
    "concat": "concat",
    "Head": "head",
    "Tail": "tail",
    "SubSeq": "sub_sequence",
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "div": "quotient",
    "%": "remainder",
    "negate": "negate",
    ":>": "single",
    "@@": "override",
}
_ANSWERS: Final = {
    "is_nat": "is_nat",
    "is_int": "is_int",
    "is_string": "is_string",
    "is_sequence": "is_sequence",
    "has_domain": "has_domain",
    "has_length": "has_length",
    "in_interval": "in_interval",
    "in_domain": "in_domain",
    "=": "eq",
    "unchanged": "eq",
    "<": "less",
    "<=": "less_equal",
}
_MIRRORED: Final = {">": "<", ">=": "<="}


class Expressions:
    """Writes the expressions of one specification."""

    def __init__(self, writer: FlatWriter) -> None:
        self._w = writer
        self._functions: dict[tuple[int, bool], tuple[Definition, str | Unlowered]] = {}
        self.elements = Elements(writer, self)
        self._depth = 0

    # ---- words ----

    def value(self, node: Operand, env: Environment) -> str:
        """Return the text of a word that is not BAD; it may be used more than once.

        Raises:
            Unlowered: it cannot be written.
        """
        match node:
            case Literal(value=Boolean() as known):
                return "YES" if known is TRUE else "NO"
            case Literal(value=int() as number) if abs(number) < _LARGEST:
                return str(number << 3)
            case Literal(value=known):
                return self._w.constant(known)
            case Variable():
                return f"mem[{'t' if node.primed else 's'} + {node.index}]"
            case Local():
                return self._local(node, env)
            case Apply() if kind_of(node) == "bool":
                return self._boolean(node, env)
            case Apply():
                return self._apply(node, env)
            case Call():
                return self._call(node, env, as_condition=False)
            case OperatorCall():
                return self.value(*self.entered(node, env))
            case If() if node.taken is not None:
                return self.value(node.taken, env)
            case If() | Case():
                return self._choice(node, env)
            case Let():
                return self.value(node.body, self.bound(node, env))
            case Quantified(what="exists" | "forall"):
                return self._boolean(node, env)
            case Quantified():
                return self.elements.collected(node, env)
            case Except():
                return self._except(node, env)
            case _:
                raise Unlowered(type(node).__name__, node.place)

    def _boolean(self, node: Expr, env: Environment) -> str:
        return f"({self.condition(node, env)} << 3 | BOOL)"

    def _local(self, node: Local, env: Environment) -> str:
        match env.get(node.name):
            case Word(text, is_sure):
                if not is_sure:
                    self._w.fail_if(f"{text} == BAD")
                return text
            case Later(expr, environment):
                return self.value(expr, environment)
            case _:
                raise Unlowered(f"the name {node.name}", node.place)

    def _values(self, nodes: Sequence[Operand], env: Environment) -> list[str]:
        """Return words that stay what they are while others are computed."""
        return [self.value(node, env) for node in nodes]

    def _apply(self, node: Apply, env: Environment) -> str:
        operator, operands = node.operator, node.operands
        if operator in _WORDS:
            return self._w.word(f"{_WORDS[operator]}({', '.join(self._values(operands, env))})")
        match operator:
            case "set" | "tuple":
                return self._made(operands, env, "make_set({})" if operator == "set" else "")
            case "record":
                return self._made(operands, env, "make_function({})")
            case "product" if len(operands) == 2:
                left, right = self._values(operands, env)
                return self._w.word(f"product_of({left}, {right})")
            case "BOOLEAN":
                return self._w.constant(frozenset([FALSE, TRUE]))
            case "SUBSET" | "functions" | "records":
                return self.elements.built(node, env)
            case "SelectSeq":
                return self.elements.selected(node, env)
            case "TLCEval":
                return self.value(operands[0], env)
            case _:
                raise Unlowered(f"the operator {operator}", node.place)

    def _made(self, operands: Sequence[Operand], env: Environment, how: str) -> str:
        """Return what is made of words that are put on the stack."""
        words = self._values(operands, env)
        base = self._w.base()
        for word in words:
            self._w.emit(f"push({word})")
        return self._w.word(how.format(base) if how else f"make(TUP, {base})")

    def _choice(self, node: If | Case, env: Environment) -> str:
        w, name = self._w, self._w.fresh("c")
        self._arms(node, env, lambda value: w.emit(f"{name} = {self.value(value, env)}"))
        return name

    def _arms(self, node: If | Case, env: Environment, write: Callable[[Expr], None]) -> None:
        """Write each branch where it is taken; where none is there is no value."""
        w = self._w
        arms = [(node.condition, node.yes)] if isinstance(node, If) else list(node.arms)
        other = node.no if isinstance(node, If) else node.other
        with ExitStack() as blocks:
            for guard, value in arms:
                test = self.condition(guard, env)
                with w.block(f"if {test}:"):
                    write(value)
                blocks.enter_context(w.block("else:"))
            if other is None:
                w.fail()
            else:
                write(other)

    def _except(self, node: Except, env: Environment) -> str:
        function = self.value(node.function, env)
        for update in node.updates:
            function = self._updated(function, update.path, update.old, update.value, env)
        return function

    def _updated(
        self, function: str, path: tuple[Expr, ...], old: str, value: Expr, env: Environment
    ) -> str:
        w, key = self._w, self.value(path[0], env)
        if len(path) > 1:
            inner = w.word(f"apply({function}, {key})")
            image = self._updated(inner, path[1:], old, value, env)
        else:
            at = Word(w.kept(f"apply({function}, {key})"), is_sure=False)
            image = self.value(value, {**env, old: at})
        return w.word(f"put({function}, {key}, {image})")

    # ---- names ----

    def bound(self, node: Let, env: Environment) -> Environment:
        """Return what names are inside of a LET."""
        inner = dict(env)
        for name, value in node.bindings:
            inner[name] = self.argument(value, inner, is_needed=strict(node.body, name))
        return inner

    def argument(self, node: Operand, env: Environment, *, is_needed: bool) -> Binding:
        """Return what a name stands for; what may not be needed may have no value."""
        match node:
            case OperatorRef():
                passed = env.get(node.body.name) if isinstance(node.body, OperatorCall) else None
                return passed if isinstance(passed, Operator) else Operator(node, env)
            case Local() if isinstance(known := env.get(node.name), Word | Later | Operator):
                if is_needed and isinstance(known, Word) and not known.is_sure:
                    return Word(self.value(node, env))
                return known
            case Literal() | Variable():
                return Word(self.value(node, env))
            case _ if is_needed:
                return Word(self._w.kept(self.value(node, env)))
            case _:
                return self._attempted(node, env)

    def _attempted(self, node: Expr, env: Environment) -> Binding:
        """Compute a word by a function of its own, which may have none."""
        w, name = self._w, self._w.fresh("attempt")
        words: dict[str, Word] = {}
        for local in sorted(free_locals(node)):
            binding = env.get(local)
            if not isinstance(binding, Word):
                return Later(node, env)
            words[local] = binding
        parameters = [w.fresh("p") for _ in words]
        pairs = zip(words.items(), parameters, strict=True)
        inner = {local: Word(parameter, word.is_sure) for (local, word), parameter in pairs}
        try:
            with w.function(name, ("s", "t", *parameters), "BAD"):
                w.emit(f"return {self.value(node, inner)}")
        except Unlowered:
            return Later(node, env)  # it is refused where it is needed, if it is
        texts = "".join([f", {word.text}" for word in words.values()])
        base, found = w.base(), w.kept(f"{name}(s, t{texts})")
        w.emit(f"mem[STACK] = {base}")  # where it has no word, parts of one may be left there
        return Word(found, is_sure=False)

    def entered(self, node: OperatorCall, env: Environment) -> tuple[Expr, Environment]:
        """Return the body of an operator that was passed, and what its names are."""
        operator = env.get(node.name)
        if not isinstance(operator, Operator):
            raise Unlowered(f"the operator {node.name}", node.place)
        reference = operator.reference
        arguments = {
            name: self.argument(argument, env, is_needed=strict(reference.body, name))
            for name, argument in zip(reference.parameters, node.arguments, strict=True)
        }
        return reference.body, {**operator.environment, **arguments}

    # ---- definitions ----

    def _call(self, node: Call, env: Environment, *, as_condition: bool) -> str:
        definition = node.definition
        arguments = {
            name: self.argument(argument, env, is_needed=_is_needed(definition, name))
            for name, argument in zip(definition.parameters, node.arguments, strict=True)
        }
        texts = [word.text for word in arguments.values() if isinstance(word, Word)]
        if definition.recursive and (len(texts) < len(arguments) or definition.free):
            raise Unlowered(f"the recursive {definition.name}", node.place)
        if not definition.recursive and (len(texts) < len(arguments) or _is_inlined(definition)):
            outer = {name: env[name] for name in sorted(definition.free) if name in env}
            inner: Environment = {**outer, **arguments}
            self._depth += 1
            try:
                if self._depth > _DEEPEST:
                    raise Unlowered(f"{definition.name}, nested too deeply", node.place)
                write = self.condition if as_condition else self.value
                return write(definition.expression, inner)
            finally:
                self._depth -= 1
        is_question = kind_of(definition.expression) == "bool" and not definition.recursive
        name = self._function_of(definition, is_question=is_question)
        text = f"{name}({', '.join(['s', 't', *texts])})"
        if not is_question:
            word = self._w.word(text)
            return self._w.answer(f"truth({word})") if as_condition else word
        answer = self._w.answer(text)
        return answer if as_condition else f"({answer} << 3 | BOOL)"

    def _function_of(self, definition: Definition, *, is_question: bool) -> str:
        key = (id(definition), is_question)
        known = self._functions.get(key)
        if known is None:
            name = self._w.fresh("question" if is_question else "value")
            write = self._repeated if definition.recursive else self._written
            known = self._functions[key] = definition, write(definition, name, is_question)
        if isinstance(known[1], Unlowered):
            raise known[1]
        return known[1]

    def _written(self, definition: Definition, name: str, is_question: bool) -> str | Unlowered:
        w = self._w
        parameters = [w.fresh("p") for _ in definition.parameters]
        words = [
            Word(parameter, is_sure=_is_needed(definition, name))
            for name, parameter in zip(definition.parameters, parameters, strict=True)
        ]
        env = dict(zip(definition.parameters, words, strict=True))
        depth, self._depth = self._depth, 0
        try:
            with w.function(name, ("s", "t", *parameters), "2" if is_question else "BAD"):
                if is_question:
                    self.require(definition.expression, env)
                    w.emit("return 1")
                else:
                    w.emit(f"return {self.value(definition.expression, env)}")
        except Unlowered as reason:
            return reason
        finally:
            self._depth = depth
        return name

    def _repeated(self, definition: Definition, name: str, is_question: bool) -> str | Unlowered:
        """Write a recursive operator; where it cannot be, those that it calls may call it."""
        self._functions[id(definition), is_question] = definition, name
        written = self._written(definition, self._w.fresh("body"), is_question)
        parameters = [self._w.fresh("p") for _ in definition.parameters]
        self._w.add(guarded(name, written if isinstance(written, str) else None, parameters))
        return name if isinstance(written, str) else written

    # ---- conditions ----

    def require(self, node: Expr, env: Environment) -> None:
        """Write, in a question, that it is answered by 0 unless a condition is TRUE."""
        match node:
            case Apply(operator="and"):
                for item in node.operands:
                    assert not isinstance(item, OperatorRef)
                    self.require(item, env)
            case Let():
                self.require(node.body, self.bound(node, env))
            case If() if node.taken is None:
                self._arms(node, env, lambda branch: self.require(branch, env))
            case _:
                with self._w.block(f"if not {self.condition(node, env)}:"):
                    self._w.emit("return 0")

    def condition(self, node: Operand, env: Environment) -> str:
        """Return the text of 1 or 0; it may be used more than once.

        Raises:
            Unlowered: it cannot be written.
        """
        match node:
            case Literal(value=Boolean() as known):
                return str(int(known is TRUE))
            case Apply(operator="and" | "or" | "=>"):
                return self._junction(node, env)
            case Apply() if kind_of(node) == "bool" or node.operator in _ANSWERS:
                return self._question(node, env)
            case Call():
                return self._call(node, env, as_condition=True)
            case OperatorCall():
                return self.condition(*self.entered(node, env))
            case If() if node.taken is not None:
                return self.condition(node.taken, env)
            case If() | Case():
                w, name = self._w, self._w.fresh("c")
                self._arms(node, env, lambda one: w.emit(f"{name} = {self.condition(one, env)}"))
                return name
            case Let():
                return self.condition(node.body, self.bound(node, env))
            case Quantified(what="exists" | "forall"):
                return self.elements.quantified(node, env)
            case Local() if isinstance(later := env.get(node.name), Later):
                return self.condition(later.expr, later.environment)
            case _:
                return self._w.answer(f"truth({self.value(node, env)})")

    def _junction(self, node: Apply, env: Environment) -> str:
        """Write and, or, =>: what stands on the right is asked where the left does not decide."""
        w, name = self._w, self._w.fresh("j")
        is_and = node.operator == "and"
        with ExitStack() as blocks:
            for position, item in enumerate(node.operands):
                asked = self.condition(item, env)
                if node.operator == "=>" and position == 0:
                    asked = f"(1 - {asked})"
                w.emit(f"{name} = {asked}")
                if position < len(node.operands) - 1:
                    blocks.enter_context(w.block(f"if {name} == {int(is_and)}:"))
        return name

    def _question(self, node: Apply, env: Environment) -> str:
        w, operator, operands = self._w, node.operator, node.operands
        if operator in _MIRRORED:
            operator, operands = _MIRRORED[operator], operands[::-1]
        match operator:
            case "not":
                return f"(1 - {self.condition(operands[0], env)})"
            case "#":
                return f"(1 - {self.condition(Apply('=', operands, node.place), env)})"
            case "<=>":
                left, right = [self.condition(item, env) for item in operands]
                return f"({left} == {right})"
            case "in":
                return self._member(node, env)
            case "notin":
                return f"(1 - {self._member(Apply('in', operands, node.place), env)})"
            case "subseteq":
                return self._subset(node, env)
            case "evaluated":
                self._values(operands, env)
                return "1"
            case "every":
                answers = [self.condition(item, env) for item in operands]
                return "(" + " & ".join(answers) + ")"
            case "has_fields" | "shares_fields":
                item, *names = self._values(operands, env)
                base = self._w.base()
                for name in names:
                    w.emit(f"push({name})")
                return w.answer(f"{operator}({item}, {base})")
            case "in_lazy" | "unknown":
                w.fail()
                return "0"
            case "IsFiniteSet":
                w.fail_if(f"{self.value(operands[0], env)} & 7 != SET")
                return "1"
            case "PrintT" if isinstance(operands[0], Literal):
                return "1"
            case _ if operator in _ANSWERS:
                words = self._values(operands[:: -1 if operator == "unchanged" else 1], env)
                return w.answer(f"{_ANSWERS[operator]}({', '.join(words)})")
            case _:
                raise Unlowered(f"the operator {operator}", node.place)

    def _member(self, node: Apply, env: Environment) -> str:
        item, among = node.operands
        assert not isinstance(item, OperatorRef)
        assert not isinstance(among, OperatorRef)
        inner, fresh = dict(env), self._w.fresh
        if not isinstance(item, Local | Literal | Variable):
            name = fresh("item")
            inner[name] = Word(self.value(item, env))
            item = Local(name, node.place)
        expanded = None if isinstance(among, Literal) else expand_member(item, among, fresh)
        if expanded is not None:
            return self.condition(expanded, inner)
        word = self.value(item, inner)
        return self._w.answer(f"member({word}, {self.value(among, env)})")

    def _subset(self, node: Apply, env: Environment) -> str:
        left, right = node.operands
        assert not isinstance(left, OperatorRef)
        assert not isinstance(right, OperatorRef)
        name = self._w.fresh("element")
        settled = settle(right, self._w.fresh)
        inside = expand_settled(Local(name, left.place), settled.among, self._w.fresh)
        if inside is None or isinstance(right, Literal):
            words = self._values((left, right), env)
            return self._w.answer(f"subset({', '.join(words)})")
        every = Quantified("forall", (((name,), False, left),), inside, left.place)
        return self.condition(settled.around(every), env)


def _is_needed(definition: Definition, parameter: str) -> bool:
    """Tell whether an argument must have a value: in Python all of a recursive operator must."""
    return definition.recursive or strict(definition.expression, parameter)


def _is_inlined(definition: Definition) -> bool:
    if definition.local or definition.free or definition.operator_parameters:
        return True
    return size(definition.expression) <= _SMALL
