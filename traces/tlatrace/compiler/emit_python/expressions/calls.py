"""Operators of the specification: written in place, or as Python functions that are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tlatrace.compiler.emit_python.expressions.environment import (
    Binding,
    Environment,
    Later,
    Operator,
    PythonFunction,
    Ready,
    all_ready,
    parameters_of,
)
from tlatrace.compiler.emit_python.expressions.interface import ExpressionWriter
from tlatrace.compiler.emit_python.writer import Function
from tlatrace.compiler.ir.analysis import (
    definition_reads,
    free_locals,
    kind_of,
    size,
    strict,
    weight,
)
from tlatrace.compiler.ir.nodes import (
    Call,
    Composed,
    Definition,
    Enabled,
    Expr,
    If,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Variable,
    unsupported,
)

__all__ = ["Calls"]

_INLINE_SIZE: Final = 8
_REMEMBERED_WEIGHT: Final = 30
"""Nodes, with those of the definitions that are called: below it, to remember is dearer."""


class Calls:
    """Writes calls, and each definition once for each choice of the kinds of its arguments."""

    def __init__(self, expressions: ExpressionWriter) -> None:
        self._x = expressions
        self._w = expressions.writer
        self._functions: dict[tuple[int, tuple[str, ...]], tuple[Definition, str, bool]] = {}
        self.inlining = 0

    def python_function(self, node: Operand, env: Environment, *, as_condition: bool) -> str:
        """Write an operator as a nested Python function; return its name."""
        w = self._w
        assert isinstance(node, OperatorRef)
        if isinstance(node.body, OperatorCall):
            binding = env.get(node.body.name)
            if isinstance(binding, PythonFunction) and not as_condition:
                return binding.text
        name = w.fresh("f")
        parameters = [w.fresh(parameter) for parameter in node.parameters]
        w.emit(f"def {name}({', '.join(parameters)}):")
        inner = {**self._x.names.afresh(node.body, env), **all_ready(node.parameters, parameters)}
        with w.block():
            renewed = self._x.names.declare_again(inner)
            if as_condition:
                w.emit(f"return {self._x.conditions.condition(node.body, renewed)}")
            else:
                w.emit(f"return {self._x.values.value(node.body, renewed)}")
        return name

    def call(self, node: Call, env: Environment, *, as_condition: bool) -> str:
        definition = node.definition
        if self.is_inlined(node, env):
            self.inlining += 1
            if self.inlining > 200:
                raise unsupported(node.place, "operators are nested too deeply")
            try:
                inner = self.bind_arguments(node, env)
                write = self._x.conditions.condition if as_condition else self._x.values.value
                text = write(definition.expression, inner)
                self._w.spend(len(text) // 20)
                return text
            finally:
                self.inlining -= 1
        kinds = tuple([self._x.names.kind(argument, env) for argument in node.arguments])
        name, boolean = self.function_of(definition, env, kinds)
        text = f"{name}({', '.join(self._arguments(node, env))})"
        if as_condition:
            return text if boolean else f"truth({text})"
        return f"(TRUE if {text} else FALSE)" if boolean else text

    def enabled(self, node: Enabled, env: Environment) -> str:
        """Return the text of a Python bool."""
        parameters, arguments = self._passed(node.action, env)
        return f"{self._x.enabled(node.action, parameters)}(s, {arguments})"

    def composed(self, node: Composed, env: Environment) -> str:
        """Return the text of an iterable: the states that a composition of actions leads to."""
        parameters, arguments = self._passed(node, env)
        return f"{self._x.composed(node, parameters)}(s, {arguments})"

    def _passed(self, node: Expr, env: Environment) -> tuple[Sequence[tuple[str, str]], str]:
        """Return the names that an action uses, with their kinds, and the text of their values."""
        parameters: list[tuple[str, str]] = []
        texts: list[str] = []
        for name in sorted(free_locals(node)):
            binding = env[name]
            match binding:
                case Ready():
                    parameters.append((name, binding.kind))
                    texts.append(binding.text)
                case Later():
                    parameters.append((name, "?"))
                    texts.append(self._attempt(Local(name, node.place), env))
                case Operator() | PythonFunction():
                    reason = "a parameter that is an operator, inside ENABLED or a composition"
                    raise unsupported(node.place, reason)
        return parameters, "(" + "".join([f"{text}, " for text in texts]) + ")"

    def is_inlined(self, node: Call, env: Environment) -> bool:
        definition = node.definition
        if definition.recursive:
            return False
        if definition.local or definition.operator_parameters:
            return True
        if size(definition.expression) <= _INLINE_SIZE:
            return True
        if self._is_remembered(definition):
            return any(isinstance(argument, OperatorRef) for argument in node.arguments)
        return any(
            not self._is_total(argument, env) and not strict(definition.expression, parameter)
            for parameter, argument in zip(definition.parameters, node.arguments, strict=True)
        )

    def _is_remembered(self, definition: Definition) -> bool:
        """Tell whether a definition is a function of its arguments that is dear to compute."""
        return (
            bool(definition.parameters)
            and not definition.operator_parameters
            and not definition.free
            and definition_reads(definition).constant
            and weight(definition.expression) >= _REMEMBERED_WEIGHT
        )

    def _is_total(self, node: Operand, env: Environment) -> bool:
        """Tell whether a value is at hand: nothing to compute that could fail."""
        match node:
            case Literal():
                return True
            case Variable():
                assigned = self._w.function.assigned
                return not node.primed or assigned is None or node.index in assigned
            case Local():
                binding = env[node.name]
                if isinstance(binding, Later):
                    return binding.name is not None and self._w.is_ready(binding.name)
                return isinstance(binding, Ready)
            case _:
                return False

    def bind_arguments(self, node: Call, env: Environment) -> Environment:
        """Bind the parameters of a definition to the arguments of a call."""
        self._w.spend(1)
        definition = node.definition
        inner: dict[str, Binding] = {name: env[name] for name in definition.free if name in env}
        for parameter, argument in zip(definition.parameters, node.arguments, strict=True):
            bound = self._x.names.binding(parameter, argument, env, definition.expression)
            inner[parameter] = bound
        return inner

    def _arguments(self, node: Call, env: Environment) -> list[str]:
        """Return the texts of the arguments of a Python function for a definition."""
        definition = node.definition
        found = self._state_arguments(definition)
        for parameter, argument in zip(definition.parameters, node.arguments, strict=True):
            if parameter in definition.operator_parameters:
                found.append(self.python_function(argument, env, as_condition=False))
            elif (
                not definition.recursive
                and not self._is_total(argument, env)
                and not strict(definition.expression, parameter)
            ):
                found.append(self._attempt(argument, env))
            else:
                found.append(self._x.values.part(argument, env))
        return found

    def _attempt(self, node: Operand, env: Environment) -> str:
        """Return the text of an argument that may have no value, if it is not needed."""
        w = self._w
        with w.capture() as lines:
            text = self._x.values.part(node, env)
        if not lines:
            return f"attempt(lambda: {text})"
        name = w.fresh("argument")
        w.emit(f"def {name}():")
        with w.block():
            names = self._x.names
            inner = names.declare_again(names.afresh(node, env))
            w.emit(f"return {self._x.values.part(node, inner)}")
        return f"attempt({name})"

    def _state_arguments(self, definition: Definition) -> list[str]:
        """Return what a definition's function takes of the states, and note that it is used."""
        read = definition_reads(definition)
        function = self._w.function
        found = ["s"] if read.unprimed else []
        if read.primed:
            found.append(self._after(read.primed) if function.assigned is not None else "t")
        return found

    def _after(self, wanted: set[int]) -> str:
        """Return the state after the step as far as it is assigned."""
        assigned = self._w.function.assigned
        assert assigned is not None
        if wanted - assigned.keys():
            return "stop('a primed variable has no value yet')"
        top = max(wanted) + 1
        parts = [assigned.get(index, "UNSET") for index in range(top)]
        return "(" + ", ".join(parts) + ("," if top == 1 else "") + ")"

    def function_of(
        self, definition: Definition, env: Environment, kinds: tuple[str, ...]
    ) -> tuple[str, bool]:
        """Return the Python function of a definition, and whether it returns a Python bool.

        There is one for each choice of the kinds of its arguments.
        """
        if definition.recursive:
            kinds = ("?",) * len(kinds)
        key = (id(definition), kinds)
        known = self._functions.get(key)
        if known is not None:
            return known[1], known[2]
        if definition.local and definition.free:
            return self._local_function(definition, env)
        w = self._w
        name = w.fresh(f"d_{definition.key}")
        boolean = kind_of(definition.expression) == "bool" and not definition.recursive
        self._functions[key] = (definition, name, boolean)
        read = definition_reads(definition)
        parameters = [w.fresh(parameter) for parameter in definition.parameters]
        states = ["s"] * bool(read.unprimed) + ["t"] * bool(read.primed)
        header = ", ".join([*states, *parameters])
        decorator = "@remembered\n" if self._is_remembered(definition) else ""
        inner = parameters_of(definition, parameters, kinds)
        if boolean:

            def answer() -> None:
                self._x.conditions.require(definition.expression, inner, "return False")
                w.emit("return True")

            w.answer(name, header, answer, decorator)
            return name, boolean
        function = Function()
        with w.begin(function):
            self.give_back(definition.expression, inner)
        w.finish(f"{decorator}def {name}({header}):", function)
        return name, boolean

    def give_back(self, node: Expr, env: Environment) -> None:
        """Write statements that return a value."""
        w = self._w
        match node:
            case If():
                w.emit(f"if {self._x.conditions.condition(node.condition, env)}:")
                with w.block():
                    self.give_back(node.yes, env)
                self.give_back(node.no, env)
            case Let():
                self.give_back(node.body, self._x.names.bind(node, env))
            case _:
                w.emit(f"return {self._x.values.value(node, env)}")

    def _local_function(self, definition: Definition, env: Environment) -> tuple[str, bool]:
        """Write a recursive operator of a LET as a nested function, here and for here."""
        w = self._w
        name = w.fresh(f"d_{definition.key}")
        parameters = [w.fresh(parameter) for parameter in definition.parameters]
        read = definition_reads(definition)
        key = (id(definition), ("?",) * len(parameters))
        self._functions[key] = (definition, name, False)
        names = ["s"] * bool(read.unprimed) + ["t"] * bool(read.primed)
        outer = {key: env[key] for key in definition.free if key in env}
        w.emit(f"def {name}({', '.join([*names, *parameters])}):")
        with w.block():
            inner = {**self._x.names.declare_again(outer), **parameters_of(definition, parameters)}
            self.give_back(definition.expression, inner)
        del self._functions[key]
        return name, False

    def operator_call(self, node: OperatorCall, env: Environment, *, as_condition: bool) -> str:
        binding = env[node.name]
        if isinstance(binding, PythonFunction):
            arguments = ", ".join([self._x.values.part(item, env) for item in node.arguments])
            text = f"{binding.text}({arguments})"
            return f"truth({text})" if as_condition else text
        body, inner = self.entered(node, env)
        return (
            self._x.conditions.condition(body, inner)
            if as_condition
            else self._x.values.value(body, inner)
        )

    def entered(self, node: OperatorCall, env: Environment) -> tuple[Expr, Environment]:
        """Enter an operator that is known: its body, and what its parameters are."""
        binding = env[node.name]
        if not isinstance(binding, Operator):
            raise unsupported(node.place, "a value where an operator is needed")
        reference = binding.reference
        inner = dict(binding.environment)
        for name, argument in zip(reference.parameters, node.arguments, strict=True):
            inner[name] = self._x.names.binding(name, argument, env, reference.body)
        return reference.body, inner
