r"""Write expressions as Python: as values, as conditions, and as requirements.

`value` and `condition` return the text of a Python expression and write the statements that it
needs before it. `require` writes statements that go on if a boolean expression is TRUE and leave,
by the given statement, if it is not. What TLA+ evaluates only sometimes (the right of /\, a branch,
LET, an argument) is written into the branch that needs it: a name that LET defines is computed at
most once, where it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tlatrace.errors import SubsetError
from tlatrace.model.analysis import (
    definition_reads,
    is_closed,
    kind_of,
    reads,
    size,
    state_cells,
    strict,
    uses,
    weight,
)
from tlatrace.model.domain import FALSE, TRUE
from tlatrace.model.membership import expand_member
from tlatrace.model.reader import free_locals
from tlatrace.model.tree import (
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
    Recursive,
    Variable,
)
from tlatrace.model.writer import Function, Writer

__all__ = ["Environment", "Expressions", "Parameters", "ready"]

_INLINE_SIZE: Final = 8
_REMEMBERED_BODY: Final = 15
_REMEMBERED_WEIGHT: Final = 30
"""Nodes, with those of the definitions that are called: below it, to remember is dearer."""

_FUNCTIONS: Final = {
    "cap": "intersection",
    "setminus": "difference",
    "UNION": "big_union",
    "product": "Product",
    "functions": "Functions",
    "SUBSET": "Subsets",
    "Seq": "Sequences",
    "DOMAIN": "domain_of",
    "apply": "apply",
    "*": "multiply",
    "^": "power",
    "%": "remainder",
    "div": "quotient",
    "negate": "negate",
    "Len": "length",
    "concat": "concatenate",
    "Append": "append",
    "Head": "head",
    "Tail": "tail",
    "SubSeq": "sub_sequence",
    "Cardinality": "cardinality",
    ":>": "single",
    "@@": "override",
    "Permutations": "permutations",
    "ToString": "to_string",
    "images": "images",
}
_CONDITIONS: Final = {
    "subseteq": "subset",
    "IsFiniteSet": "is_finite",
    "is_nat": "is_nat",
    "is_int": "is_int",
    "is_string": "is_string",
    "is_sequence": "is_sequence",
    "has_domain": "has_domain",
    "has_length": "has_length",
    "in_interval": "in_interval",
    "in_domain": "in_domain",
}
_CONSTANTS: Final = {"BOOLEAN": "BOOLEAN", "STRING": "STRING", "Nat": "NAT", "Int": "INT"}
_ARITHMETIC: Final = {"+": ("+", "add"), "-": ("-", "subtract")}
_ORDER: Final = {"<": ("<", "less"), "<=": ("<=", "less_equal")}
_MIRRORED: Final = {">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class _Ready:
    text: str
    kind: str = "?"
    """The kind of the value where it is known: it makes the text simpler."""


@dataclass(frozen=True, slots=True)
class _Later:
    """A value that is computed where it is needed; `name` holds it, None if it is used once."""

    expr: Expr
    environment: Environment
    name: str | None


@dataclass(frozen=True, slots=True)
class _Operator:
    reference: OperatorRef
    environment: Environment


@dataclass(frozen=True, slots=True)
class _Callable:
    """A Python function: an operator that was passed to a recursive one."""

    text: str


Binding: TypeAlias = "_Ready | _Later | _Operator | _Callable"
Environment: TypeAlias = Mapping[str, "Binding"]


Parameters: TypeAlias = Sequence[tuple[str, str]]
"""(name of the local, kind of its values) of each."""


class Expressions:
    """Writes the expressions of one specification; each definition once."""

    def __init__(self, writer: Writer) -> None:
        self._w = writer
        self._functions: dict[tuple[int, tuple[str, ...]], tuple[Definition, str, bool]] = {}
        self._constants: dict[int, tuple[object, str]] = {}
        self._inlining = 0
        self._cells: Mapping[tuple[int, bool, str], str] = {}
        """(variable, prime, bound name) -> the parameter that has variable[bound name]."""

    # ---- values ----

    def value(self, node: Expr, env: Environment) -> str:
        """Return the text of a value."""
        w = self._w
        match node:
            case Literal():
                return w.literal(node.value)
            case Variable():
                return self.variable(node)
            case Local():
                return self._local(node, env)
            case _ if _worth_a_constant(node) and is_closed(node):
                return self._constant(node)
            case Apply():
                if kind_of(node) == "bool":
                    return f"(TRUE if {self.condition(node, env)} else FALSE)"
                return self._apply(node, env)
            case Call():
                return self._call(node, env, as_condition=False)
            case OperatorCall():
                return self._operator_call(node, env, as_condition=False)
            case If() | Case():
                return self._choice(node, env)
            case Let():
                return self.value(node.body, self.bind(node, env))
            case Quantified():
                return self._quantified(node, env)
            case Recursive():
                return self._recursive(node, env)
            case Except():
                return self._except(node, env)

    def variable(self, node: Variable) -> str:
        """Return the name of a variable."""
        function = self._w.function
        if not node.primed:
            function.unprimed.add(node.index)
            return f"s{node.index}"
        if function.assigned is None:
            function.primed.add(node.index)
            return f"t{node.index}"
        known = function.assigned.get(node.index)
        if known is None:
            return f"stop({node.name + chr(39) + ' has no value yet'!r})"
        return known

    def _local(self, node: Local, env: Environment) -> str:
        w = self._w
        binding = env[node.name]
        match binding:
            case _Ready():
                return binding.text
            case _Later() if binding.name is None:
                return self.value(binding.expr, binding.environment)
            case _Later():
                assert binding.name is not None
                if not w.is_ready(binding.name):
                    w.emit(f"if {binding.name} is UNSET:")
                    with w.block():
                        text = self.value(binding.expr, binding.environment)
                        w.emit(f"{binding.name} = {text}")
                    w.note_ready(binding.name)
                return binding.name
            case _Operator() | _Callable():
                raise SubsetError(str(node.place), "an operator where a value is needed")

    def bind(self, node: Let, env: Environment) -> Environment:
        """Bind the names of a LET; what is sure to be needed is computed here."""
        inner = dict(env)
        for position, (name, expr) in enumerate(node.bindings):
            rest = Let(node.bindings[position + 1 :], node.body)
            inner[name] = self._binding(name, expr, inner, rest)
        return inner

    def _binding(self, name: str, expr: Operand, env: Environment, body: Expr) -> Binding:
        w = self._w
        if isinstance(expr, OperatorRef):
            return _Operator(expr, dict(env))
        if isinstance(expr, Literal):
            return _Ready(w.literal(expr.value), kind_of(expr))
        count = uses(body, name)
        if isinstance(expr, Local):
            known = env[expr.name]
            if not isinstance(known, _Later) or known.name is not None or count <= 1:
                return known  # what was to be used once may now be used more often
        if isinstance(expr, Variable) and (
            w.function.assigned is None or not expr.primed or expr.index in w.function.assigned
        ):
            return _Ready(self.variable(expr))
        if count <= 1 or self.is_unsettled(expr, env):
            return _Later(expr, dict(env), None)
        python = w.fresh(name)
        if strict(body, name):
            w.emit(f"{python} = {self.value(expr, env)}")
            return _Ready(python, self._kind(expr, env))
        w.emit(f"{python} = UNSET")
        return _Later(expr, dict(env), python)

    def _kind(self, node: Operand, env: Environment) -> str:
        """Name the kind of an expression, also of names whose values are known to have one."""
        if isinstance(node, Local):
            binding = env[node.name]
            if isinstance(binding, _Ready):
                return binding.kind
            if isinstance(binding, _Later):
                return self._kind(binding.expr, binding.environment)
        return kind_of(node)

    def _element_kind(self, among: Expr, env: Environment) -> str:
        """Name the kind of the elements of a set where all have one."""
        match among:
            case Literal() if isinstance(among.value, frozenset):
                kinds = {kind_of(Literal(element)) for element in among.value}
                return kinds.pop() if len(kinds) == 1 else "?"
            case Apply() if among.operator in ("..", "Nat", "Int"):
                return "int"
            case Apply() if among.operator == "STRING":
                return "string"
            case Local():
                binding = env[among.name]
                if isinstance(binding, _Later):
                    return self._element_kind(binding.expr, binding.environment)
                return "?"
            case _:
                return "?"

    def is_unsettled(self, node: Operand, env: Environment) -> bool:
        """Tell whether a value depends on what an action has still to assign."""
        assigned = self._w.function.assigned
        if assigned is None:
            return False
        if reads(node).primed - assigned.keys():
            return True
        for name in free_locals(node):
            match env.get(name):
                case _Later(expr, environment, None) if self.is_unsettled(expr, environment):
                    return True
                case _Operator(ref, environment) if self.is_unsettled(ref, environment):
                    return True
                case _:
                    pass
        return False

    def opened(self, node: Expr, env: Environment) -> tuple[Expr, Environment]:
        """Return the expression that a name stands for, if it is not computed yet."""
        while True:
            if isinstance(node, OperatorCall) and isinstance(env[node.name], _Operator):
                node, env = self._entered(node, env)
                continue
            binding = env.get(node.name) if isinstance(node, Local) else None
            if not isinstance(binding, _Later) or binding.name is not None:
                return node, env
            node, env = binding.expr, binding.environment

    def _constant(self, node: Expr) -> str:
        key = node.definition if isinstance(node, Call) and not node.arguments else node
        known = self._constants.get(id(key))
        if known is not None:
            return known[1]
        w = self._w
        name = w.fresh("K")
        function = Function()
        with w.begin(function):
            w.emit(f"return {self.value_inside(node)}")
        w.finish(f"def {name}():", function, f'define("{name}", {name})')
        self._constants[id(key)] = (key, name)
        return name

    def value_inside(self, node: Expr) -> str:
        """Return the text of a closed expression, written out."""
        match node:
            case Apply() if kind_of(node) == "bool":
                return f"(TRUE if {self.condition(node, {})} else FALSE)"
            case Apply():
                return self._apply(node, {})
            case Quantified():
                return self._quantified(node, {})
            case Call():
                return self._call(node, {}, as_condition=False)
            case Except():
                return self._except(node, {})
            case _:
                raise AssertionError(node)

    def _apply(self, node: Apply, env: Environment) -> str:
        operator, operands = node.operator, node.operands
        if operator in ("SelectSeq", "SortSeq"):
            return self._with_test(node, env)
        if operator == "apply" and self._cells:
            looked, at = operands
            if isinstance(looked, Variable) and isinstance(at, Local):
                return self._cells[looked.index, looked.primed, at.name]
        if operator == "apply" and self._kind(operands[1], env) in ("string", "atom"):
            # No index of a tuple: what is not a function over such keys makes Python stop.
            return f"{self._part(operands[0], env)}[{self._part(operands[1], env)}]"
        values = [self._part(item, env) for item in operands]
        match operator:
            case "set":
                if not values:
                    return self._w.literal(frozenset())
                inside = ", ".join(values) + ("," if len(values) == 1 else "")
                return f"frozenset(({inside}))" if len(values) == 1 else f"make_set(({inside}))"
            case "tuple":
                return "(" + ", ".join(values) + ("," if len(values) == 1 else "") + ")"
            case "record":
                pairs = zip(values[0::2], values[1::2], strict=True)
                return "Fcn({" + ", ".join([f"{name}: {value}" for name, value in pairs]) + "})"
            case "records":
                pairs = zip(values[0::2], values[1::2], strict=True)
                return "Records({" + ", ".join([f"{name}: {value}" for name, value in pairs]) + "})"
            case "select":
                return f"{values[0]}[{values[1]}]"
            case "..":
                return f"frozenset(interval({values[0]}, {values[1]}))"
            case "cup":
                return f"union({values[0]}, {values[1]})"
            case "+" | "-":
                symbol, function = _ARITHMETIC[operator]
                if "int" in (self._kind(operands[0], env), self._kind(operands[1], env)):
                    return f"({values[0]} {symbol} {values[1]})"
                return f"{function}({values[0]}, {values[1]})"
            case "TLCEval":
                return f"whole({values[0]})"
            case "Print":
                return values[1]
            case _ if operator in _CONSTANTS:
                return _CONSTANTS[operator]
            case _ if operator in _FUNCTIONS:
                return f"{_FUNCTIONS[operator]}({', '.join(values)})"
            case _:
                raise SubsetError(str(node.place), f"{operator} is not evaluated")

    def _part(self, node: Operand, env: Environment) -> str:
        if isinstance(node, OperatorRef):
            raise SubsetError(str(node.place), "an operator where a value is needed")
        return self.value(node, env)

    def _with_test(self, node: Apply, env: Environment) -> str:
        sequence, test = node.operands
        assert not isinstance(sequence, OperatorRef)
        text = self.value(sequence, env)
        if node.operator == "SelectSeq" and isinstance(test, OperatorRef):
            element = self._w.fresh("e")
            inner = {**env, test.parameters[0]: _Ready(element)}
            with self._w.capture() as lines:
                condition = self.condition(test.body, inner)
            if not lines:
                return f"tuple([{element} for {element} in sequence({text}) if {condition}])"
        name = self._python_function(test, env, as_condition=True)
        function = "select_sequence" if node.operator == "SelectSeq" else "sort_sequence"
        return f"{function}({text}, {name})"

    def _python_function(self, node: Operand, env: Environment, *, as_condition: bool) -> str:
        """Write an operator as a nested Python function; return its name."""
        w = self._w
        assert isinstance(node, OperatorRef)
        if isinstance(node.body, OperatorCall):
            binding = env.get(node.body.name)
            if isinstance(binding, _Callable) and not as_condition:
                return binding.text
        name = w.fresh("f")
        parameters = [w.fresh(parameter) for parameter in node.parameters]
        w.emit(f"def {name}({', '.join(parameters)}):")
        inner = {**self._afresh(node.body, env), **_all_ready(node.parameters, parameters)}
        with w.block():
            renewed = self._declare_again(inner)
            if as_condition:
                self.require(node.body, renewed, "return False")
                w.emit("return True")
            else:
                w.emit(f"return {self.value(node.body, renewed)}")
        return name

    def _afresh(self, node: Operand, env: Environment) -> Environment:
        return {name: binding for name, binding in env.items() if uses(node, name)}

    def _declare_again(self, env: Environment) -> Environment:
        """In a nested function: what may not be computed yet gets a name of its own."""
        w = self._w
        renewed: dict[str, Binding] = {}
        for name, binding in env.items():
            if isinstance(binding, _Later) and binding.name and not w.is_ready(binding.name):
                python = w.fresh(name)
                w.emit(f"{python} = UNSET")
                outer = self._declare_again(self._afresh(binding.expr, binding.environment))
                renewed[name] = _Later(binding.expr, outer, python)
            elif isinstance(binding, _Later) and binding.name:
                renewed[name] = _Ready(binding.name)
            elif isinstance(binding, _Later | _Operator):
                inner = binding.expr if isinstance(binding, _Later) else binding.reference.body
                outer = self._declare_again(self._afresh(inner, binding.environment))
                if isinstance(binding, _Later):
                    renewed[name] = _Later(binding.expr, outer, None)
                else:
                    renewed[name] = _Operator(binding.reference, outer)
            else:
                renewed[name] = binding
        return renewed

    # ---- definitions ----

    def _call(self, node: Call, env: Environment, *, as_condition: bool) -> str:
        definition = node.definition
        if self._is_inlined(node, env):
            self._inlining += 1
            if self._inlining > 200:
                raise SubsetError(str(node.place), "operators are nested too deeply")
            try:
                inner = self.bind_arguments(node, env)
                if as_condition:
                    return self.condition(definition.expression, inner)
                return self.value(definition.expression, inner)
            finally:
                self._inlining -= 1
        kinds = tuple([self._kind(argument, env) for argument in node.arguments])
        name, boolean = self.function_of(definition, env, kinds)
        text = f"{name}({', '.join(self._arguments(node, env))})"
        if as_condition:
            return text if boolean else f"truth({text})"
        return f"(TRUE if {text} else FALSE)" if boolean else text

    def _is_inlined(self, node: Call, env: Environment) -> bool:
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
                if isinstance(binding, _Later):
                    return binding.name is not None and self._w.is_ready(binding.name)
                return isinstance(binding, _Ready)
            case _:
                return False

    def bind_arguments(self, node: Call, env: Environment) -> Environment:
        """Bind the parameters of a definition to the arguments of a call."""
        definition = node.definition
        inner: dict[str, Binding] = {name: env[name] for name in definition.free if name in env}
        for parameter, argument in zip(definition.parameters, node.arguments, strict=True):
            bound = self._binding(parameter, argument, env, definition.expression)
            inner[parameter] = bound
        return inner

    def _arguments(self, node: Call, env: Environment) -> list[str]:
        """Return the texts of the arguments of a Python function for a definition."""
        definition = node.definition
        found = self._state_arguments(definition)
        for parameter, argument in zip(definition.parameters, node.arguments, strict=True):
            if parameter in definition.operator_parameters:
                found.append(self._python_function(argument, env, as_condition=False))
            elif (
                not definition.recursive
                and not self._is_total(argument, env)
                and not strict(definition.expression, parameter)
            ):
                found.append(self._attempt(argument, env))
            else:
                found.append(self._part(argument, env))
        return found

    def _attempt(self, node: Operand, env: Environment) -> str:
        """Return the text of an argument that may have no value, if it is not needed."""
        w = self._w
        with w.capture() as lines:
            text = self._part(node, env)
        if not lines:
            return f"attempt(lambda: {text})"
        name = w.fresh("argument")
        w.emit(f"def {name}():")
        with w.block():
            w.emit(f"return {self._part(node, self._declare_again(self._afresh(node, env)))}")
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
        function = Function()
        with w.begin(function):
            self._function_body(definition, _parameters(definition, parameters, kinds), boolean)
        decorator = "@remembered\n" if self._is_remembered(definition) else ""
        w.finish(f"{decorator}def {name}({', '.join([*states, *parameters])}):", function)
        return name, boolean

    def _function_body(self, definition: Definition, env: Environment, boolean: bool) -> None:
        w = self._w
        if boolean:
            self.require(definition.expression, env, "return False")
            w.emit("return True")
        else:
            self.give_back(definition.expression, env)

    def give_back(self, node: Expr, env: Environment) -> None:
        """Write statements that return a value."""
        w = self._w
        match node:
            case If():
                w.emit(f"if {self.condition(node.condition, env)}:")
                with w.block():
                    self.give_back(node.yes, env)
                self.give_back(node.no, env)
            case Let():
                self.give_back(node.body, self.bind(node, env))
            case _:
                w.emit(f"return {self.value(node, env)}")

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
            inner = {**self._declare_again(outer), **_parameters(definition, parameters)}
            self.give_back(definition.expression, inner)
        del self._functions[key]
        return name, False

    def _operator_call(self, node: OperatorCall, env: Environment, *, as_condition: bool) -> str:
        binding = env[node.name]
        if isinstance(binding, _Callable):
            arguments = ", ".join([self._part(item, env) for item in node.arguments])
            text = f"{binding.text}({arguments})"
            return f"truth({text})" if as_condition else text
        body, inner = self._entered(node, env)
        return self.condition(body, inner) if as_condition else self.value(body, inner)

    def _entered(self, node: OperatorCall, env: Environment) -> tuple[Expr, Environment]:
        """Enter an operator that is known: its body, and what its parameters are."""
        binding = env[node.name]
        if not isinstance(binding, _Operator):
            raise SubsetError(str(node.place), "a value where an operator is needed")
        reference = binding.reference
        inner = dict(binding.environment)
        for name, argument in zip(reference.parameters, node.arguments, strict=True):
            inner[name] = self._binding(name, argument, env, reference.body)
        return reference.body, inner

    # ---- constructs ----

    def _choice(self, node: If | Case, env: Environment) -> str:
        w = self._w
        name = w.fresh("c")
        if isinstance(node, If):
            condition = self.condition(node.condition, env)
            with w.capture() as yes_lines:
                yes = self.value(node.yes, env)
            with w.capture() as no_lines:
                no = self.value(node.no, env)
            if not yes_lines and not no_lines:
                return f"({yes} if {condition} else {no})"
            self._either(condition, (yes_lines, yes), (no_lines, no), name)
            return name
        depth = 0
        for guard, value in node.arms:
            w.emit(f"if {self.condition(guard, env)}:")
            with w.block():
                w.emit(f"{name} = {self.value(value, env)}")
            w.emit("else:")
            self._enter()
            depth += 1
        if node.other is None:
            w.emit(f"{name} = stop({f'no arm of CASE holds ({node.place})'!r})")
        else:
            w.emit(f"{name} = {self.value(node.other, env)}")
        for _ in range(depth):
            self._leave()
        return name

    def _either(
        self,
        condition: str,
        yes: tuple[list[tuple[int, str]], str],
        no: tuple[list[tuple[int, str]], str],
        name: str,
    ) -> None:
        """Write IF as a statement, from captured lines and the text of each branch."""
        w = self._w
        for head, (lines, text) in ((f"if {condition}:", yes), ("else:", no)):
            w.emit(head)
            w.replay(lines, deeper=1)
            with w.block():
                w.emit(f"{name} = {text}")

    def _enter(self) -> None:
        self._w.function.depth += 1
        self._w.function.ready.append(set())

    def _leave(self) -> None:
        self._w.function.ready.pop()
        self._w.function.depth -= 1

    def iterable(self, node: Expr, env: Environment) -> str:
        """Return the text of a Python iterable over the elements of a set."""
        match node:
            case Apply() if node.operator == "..":
                low, high = [self._part(item, env) for item in node.operands]
                return f"interval({low}, {high})"
            case Apply() if node.operator == "DOMAIN":
                return f"domain_values({self._part(node.operands[0], env)})"
            case Apply() if node.operator == "images":
                return f"images({self._part(node.operands[0], env)})"
            case Literal() if isinstance(node.value, frozenset):
                return self._w.literal(node.value)
            case _:
                text = self.value(node, env)
                return text if kind_of(node) == "set" else f"elements_of({text})"

    def loops(
        self, node: Quantified | Recursive, env: Environment
    ) -> tuple[list[tuple[str, str]], Environment]:
        """Bind the names of a quantifier; return (target, iterable) of each loop.

        Only for bounds whose sets do not need the names of other bounds, which TLA+ assures.
        """
        w = self._w
        inner = dict(env)
        loops: list[tuple[str, str]] = []
        for names, pattern, among in node.bounds:
            assert among is not None
            pythons = [w.fresh(name) for name in names]
            text = self.iterable(among, env)
            element = "?" if pattern else self._element_kind(among, env)
            inner.update(_all_ready(names, pythons, element))
            target = f"({', '.join(pythons)},)" if pattern else pythons[0]
            loops.append((target, text))
        return loops, inner

    def _comprehension(
        self, node: Quantified, env: Environment, item: Callable[[Environment], str]
    ) -> str:
        """Return the text of a list: one item for each choice of the bounds."""
        w = self._w
        if any(among is None for _, _, among in node.bounds):
            return f"stop({f'CHOOSE without a set has no value ({node.place})'!r})"
        loops, inner = self.loops(node, env)
        if len(loops) > 1:
            loops = [(target, w.atom(text, "set")) for target, text in loops]
        with w.capture() as lines:
            text = item(inner)
        heads = " ".join([f"for {target} in {among}" for target, among in loops])
        if not lines:
            return f"[{text} {heads}]"
        result = w.fresh("list")
        w.emit(f"{result} = []")
        for target, among in loops:
            w.emit(f"for {target} in {among}:")
            self._enter()
        w.replay(lines, deeper=len(loops))
        w.emit(f"{result}.append({text})")
        for _ in loops:
            self._leave()
        return result

    def _filtered(self, node: Quantified, env: Environment) -> str:
        """Return the text of a list: the elements for which the body is TRUE."""
        w = self._w
        if any(among is None for _, _, among in node.bounds):
            return f"stop({f'CHOOSE without a set has no value ({node.place})'!r})"
        ((names, pattern, among),) = node.bounds
        assert among is not None
        text = self.iterable(among, env)
        element = w.fresh("e")
        pythons = [w.fresh(name) for name in names] if pattern else [element]
        kind = "?" if pattern else self._element_kind(among, env)
        inner = {**env, **_all_ready(names, pythons, kind)}
        with w.capture() as lines:
            condition = self.condition(node.body, inner)
        if not lines and not pattern:
            return f"[{element} for {element} in {text} if {condition}]"
        result = w.fresh("list")
        w.emit(f"{result} = []")
        w.emit(f"for {element} in {text}:")
        with w.block():
            if pattern:
                w.emit(f"({', '.join(pythons)},) = {element}")
            w.replay(lines, deeper=1)
            w.emit(f"if {condition}: {result}.append({element})")
        return result

    def _quantified(self, node: Quantified, env: Environment) -> str:
        w = self._w
        match node.what:
            case "exists" | "forall":
                return f"(TRUE if {self.condition(node, env)} else FALSE)"
            case "map":
                found = self._comprehension(node, env, lambda inner: self.value(node.body, inner))
                return f"make_set({found})"
            case "filter":
                return f"frozenset({self._filtered(node, env)})"
            case "choose":
                extreme = _extreme(node)
                if extreme is not None:
                    among = node.bounds[0][2]
                    assert among is not None
                    return f"{extreme}({self.value(among, env)})"
                function = "choose_first" if node.choose_any else "choose"
                return f"{function}({self._filtered(node, env)}, {f'CHOOSE ({node.place})'!r})"
            case "function":
                return self._function(node, env)
            case _:
                raise AssertionError(node.what, w)

    def _function(self, node: Quantified, env: Environment) -> str:
        w = self._w
        if len(node.bounds) == 1 and _may_be_infinite(node.bounds[0][2]):
            return self._rule(node, env, None)
        if len(node.bounds) == 1 and not node.bounds[0][1]:
            ((names, _, among),) = node.bounds
            assert among is not None
            domain = w.atom(self.iterable(among, env), "domain")
            inner = {**env, names[0]: _Ready(w.fresh(names[0]), self._element_kind(among, env))}
            target = inner[names[0]]
            assert isinstance(target, _Ready)
            with w.capture() as lines:
                text = self.value(node.body, inner)
            if not lines:
                return f"function_over({domain}, [{text} for {target.text} in {domain}])"
            result = w.fresh("list")
            w.emit(f"{result} = []")
            w.emit(f"for {target.text} in {domain}:")
            w.replay(lines, deeper=1)
            with w.block():
                w.emit(f"{result}.append({text})")
            return f"function_over({domain}, {result})"
        keys: list[str] = []

        def pair(inner: Environment) -> str:
            keys[:] = [_ready_text(inner[name]) for names, _, _ in node.bounds for name in names]
            return f"({_tuple(keys)}, {self.value(node.body, inner)})"

        return f"function_of(dict({self._comprehension(node, env, pair)}))"

    def _rule(self, node: Quantified | Recursive, env: Environment, own: str | None) -> str:
        """Return a function that computes its values when it is applied."""
        w = self._w
        ((names, pattern, among),) = node.bounds
        assert among is not None
        domain = self.value(among, env)
        rule, argument, itself = w.fresh("rule"), w.fresh("x"), w.fresh("self")
        w.emit(f"def {rule}({itself}, {argument}):")
        with w.block():
            inner = dict(self._declare_again(self._afresh(node.body, env)))
            if pattern:
                pythons = [w.fresh(name) for name in names]
                w.emit(f"({', '.join(pythons)},) = {argument}")
                inner.update(_all_ready(names, pythons))
            else:
                inner[names[0]] = _Ready(argument)
            if own is not None:
                inner[own] = _Ready(itself)
            w.emit(f"return {self.value(node.body, inner)}")
        return f"LazyFunction({domain}, {rule})"

    def _recursive(self, node: Recursive, env: Environment) -> str:
        if len(node.bounds) == 1:
            return self._rule(node, env, node.name)
        names = tuple([name for part, _, _ in node.bounds for name in part])
        factors = tuple([among for _, _, among in node.bounds if among is not None])
        flat = all(not pattern for _, pattern, _ in node.bounds)
        if not flat:
            raise SubsetError(str(node.place), "a recursive function over tuples of tuples")
        among = Apply("product", factors, node.place)
        return self._rule(
            Recursive(node.name, ((names, True, among),), node.body, node.place), env, node.name
        )

    def _except(self, node: Except, env: Environment) -> str:
        w = self._w
        function = self.value(node.function, env)
        for update in node.updates:
            function = w.atom(function, "f")
            function = self._updated(function, update.path, update.old, update.value, env)
        return function

    def _updated(
        self, function: str, path: tuple[Expr, ...], old: str, value: Expr, env: Environment
    ) -> str:
        w = self._w
        key = self.value(path[0], env)
        if len(path) > 1:
            key = w.atom(key, "k")
            inner = w.fresh("f")
            w.emit(f"{inner} = apply({function}, {key})")
            return f"put({function}, {key}, {self._updated(inner, path[1:], old, value, env)})"
        if not uses(value, old):
            return f"put({function}, {key}, {self.value(value, env)})"
        key = w.atom(key, "k")
        known = w.fresh("at")
        w.emit(f"{known} = apply({function}, {key})")
        return f"put({function}, {key}, {self.value(value, {**env, old: _Ready(known)})})"

    # ---- conditions ----

    def condition(self, node: Expr, env: Environment) -> str:
        """Return the text of a Python bool."""
        w = self._w
        match node:
            case Literal() if node.value is TRUE or node.value is FALSE:
                return str(node.value is TRUE)
            case Apply() if node.operator in ("and", "or"):
                return self._junction(node, env)
            case Apply():
                return self._apply_condition(node, env)
            case Call():
                return self._call(node, env, as_condition=True)
            case OperatorCall():
                return self._operator_call(node, env, as_condition=True)
            case Let():
                return self.condition(node.body, self.bind(node, env))
            case Quantified() if node.what in ("exists", "forall"):
                result = w.fresh("q")
                self._loop_to(node, env, result)
                return result
            case If():
                return self._if_condition(node, env)
            case Local():
                binding = env[node.name]
                if isinstance(binding, _Later) and binding.name is None:
                    return self.condition(binding.expr, binding.environment)
                return f"truth({self._local(node, env)})"
            case _:
                return f"truth({self.value(node, env)})"

    def _if_condition(self, node: If, env: Environment) -> str:
        w = self._w
        test = self.condition(node.condition, env)
        with w.capture() as yes_lines:
            yes = self.condition(node.yes, env)
        with w.capture() as no_lines:
            no = self.condition(node.no, env)
        if not yes_lines and not no_lines:
            return f"({yes} if {test} else {no})"
        result = w.fresh("q")
        self._either(test, (yes_lines, yes), (no_lines, no), result)
        return result

    def _junction(self, node: Apply, env: Environment) -> str:
        w = self._w
        items = [item for item in node.operands if not isinstance(item, OperatorRef)]
        found: list[tuple[list[tuple[int, str]], str]] = []
        for item in items:
            with w.capture() as lines:
                text = self.condition(item, env)
            if not found:  # the first is evaluated in any case
                w.replay(lines)
                lines = []
            found.append((lines, text))
        if not any(lines for lines, _ in found):
            return "(" + f" {node.operator} ".join([text for _, text in found]) + ")"
        result = w.fresh("q")
        w.emit(f"{result} = {node.operator == 'or'}")
        w.emit("for _ in ONCE:")
        for lines, text in found:
            w.replay(lines, deeper=1)
            with w.block():
                w.emit(f"if {'not ' if node.operator == 'and' else ''}{text}: break")
        with w.block():
            w.emit(f"{result} = {node.operator == 'and'}")
        return result

    def _apply_condition(self, node: Apply, env: Environment) -> str:
        operator = node.operator
        operands = [item for item in node.operands if not isinstance(item, OperatorRef)]
        match operator:
            case "=":
                return self._equal(operands[0], operands[1], env)
            case "#":
                return f"not {self._equal(operands[0], operands[1], env)}"
            case "not":
                return f"(not {self.condition(operands[0], env)})"
            case "=>":
                left = Apply("not", (operands[0],), node.place)
                return self._junction(Apply("or", (left, operands[1]), node.place), env)
            case "<=>":
                left_text = self.condition(operands[0], env)
                return f"({left_text} is {self.condition(operands[1], env)})"
            case "in":
                return self._member(operands[0], operands[1], env, node)
            case "notin":
                return f"(not {self._member(operands[0], operands[1], env, node)})"
            case "<" | "<=" | ">" | ">=":
                return self._ordered(operator, operands, env)
            case "Assert":
                held = self.condition(operands[0], env)
                return f"({held} or stop({f'Assert is violated ({node.place})'!r}))"
            case "PrintT":
                return "True"
            case "has_fields":
                names = ", ".join([self.value(item, env) for item in operands[1:]])
                return f"has_fields({self.value(operands[0], env)}, ({names},))"
            case "subseteq":
                return self._subset(operands[0], operands[1], env)
            case _ if operator in _CONDITIONS:
                texts = [self.value(item, env) for item in operands]
                return f"{_CONDITIONS[operator]}({', '.join(texts)})"
            case _:
                return f"truth({self._apply(node, env)})"

    def _ordered(self, operator: str, operands: list[Expr], env: Environment) -> str:
        if operator in _MIRRORED:
            operator, operands = _MIRRORED[operator], operands[::-1]
        symbol, function = _ORDER[operator]
        left, right = [self.value(item, env) for item in operands]
        if "int" in (self._kind(operands[0], env), self._kind(operands[1], env)):
            return f"({left} {symbol} {right})"
        return f"{function}({left}, {right})"

    def _equal(self, left: Expr, right: Expr, env: Environment) -> str:
        if isinstance(left, Variable) and isinstance(right, Variable):
            one, other = self.variable(left), self.variable(right)
            return f"({one} is {other} or eq({one}, {other}))"  # most are unchanged
        kinds = (self._kind(left, env), self._kind(right, env))
        if kinds == ("bool", "bool"):
            return f"({self.condition(left, env)} is {self.condition(right, env)})"
        texts = self.value(left, env), self.value(right, env)
        if kinds[0] == kinds[1] and kinds[0] in ("int", "string"):
            return f"({texts[0]} == {texts[1]})"
        return f"eq({texts[0]}, {texts[1]})"

    def _member(self, item: Expr, among: Expr, env: Environment, node: Apply) -> str:
        if isinstance(among, Literal):
            return f"member({self.value(item, env)}, {self._w.literal(among.value)})"
        if isinstance(item, Local | Literal | Variable):
            expanded = expand_member(item, among, self._w.fresh)
            if expanded is not None:
                return self.condition(expanded, env)
        else:
            probe = Local("probe")
            if expand_member(probe, among, lambda stem: stem) is not None:
                name = self._w.fresh("item")
                inner = {**env, name: _Ready(self._w.atom(self.value(item, env)))}
                expanded = expand_member(Local(name, node.place), among, self._w.fresh)
                assert expanded is not None
                return self.condition(expanded, inner)
        return f"member({self.value(item, env)}, {self.value(among, env)})"

    def _subset(self, left: Expr, right: Expr, env: Environment) -> str:
        name = self._w.fresh("element")
        inside = expand_member(Local(name, left.place), right, self._w.fresh)
        if inside is None or isinstance(right, Literal):
            return f"subset({self.value(left, env)}, {self.value(right, env)})"
        every = Quantified("forall", (((name,), False, left),), inside, left.place)
        return self.condition(every, env)

    def _loop_to(self, node: Quantified, env: Environment, result: str) -> None:
        """Write loops that leave TRUE or FALSE of a quantifier in a Python name."""
        w = self._w
        exists = node.what == "exists"
        w.emit(f"{result} = {not exists}")
        loops, inner = self.loops(node, env)
        if len(loops) > 1:
            loops = [(target, w.atom(text, "set")) for target, text in loops]
        for target, among in loops:
            w.emit(f"for {target} in {among}:")
            self._enter()
        if exists:
            self._require_body(node.body, inner, "continue")
            w.emit(f"{result} = True")
            w.emit("break")
        else:
            self._require_body(node.body, inner, f"{result} = False; break")
        for position in range(len(loops)):
            self._leave()
            if position < len(loops) - 1:
                w.emit(f"if {result if exists else 'not ' + result}: break")

    # ---- bodies of quantifiers that are remembered ----

    def _require_body(self, body: Expr, env: Environment, otherwise: str) -> None:
        """Require the body of a quantifier, perhaps by a function that remembers its answers."""
        w = self._w
        text = self._remembered(body, env)
        start = len(w.function.lines)
        if text is None:
            self.require(body, env, otherwise)
        else:
            w.emit(f"if not {text}: {otherwise}")
        if len(w.function.lines) == start:
            w.emit("pass")

    def _remembered(self, body: Expr, env: Environment) -> str | None:
        r"""Return a call that stands for a body such as P(log[a], log[b]); None if it is none.

        A body that looks at the state only through `variable[bound name]` has the same answer
        while those parts are the same, and from step to step most of them are.
        """
        w = self._w
        if self._cells or w.function.assigned is not None or weight(body) < _REMEMBERED_BODY:
            return None
        cells = state_cells(body)
        bindings = {name: env.get(name) for name in sorted(free_locals(body))}
        if cells is None or not all(isinstance(item, _Ready) for item in bindings.values()):
            return None
        arguments = [item.text for item in bindings.values() if isinstance(item, _Ready)]
        inner: dict[str, Binding] = {}
        parameters: list[str] = []
        for name, binding in bindings.items():
            assert isinstance(binding, _Ready)
            parameters.append(w.fresh(name))
            inner[name] = _Ready(parameters[-1], binding.kind)
        taken: dict[tuple[int, bool, str], str] = {}
        for variable, local in cells:
            parameters.append(w.fresh("cell"))
            taken[variable.index, variable.primed, local.name] = parameters[-1]
            arguments.append(f"cell({self.variable(variable)}, {self._local(local, env)})")
        name = w.fresh("body")
        function = Function()
        self._cells = taken
        with w.begin(function):
            self.require(body, inner, "return False")
            w.emit("return True")
        self._cells = {}
        w.finish(f"@remembered\ndef {name}({', '.join(parameters)}):", function)
        return f"{name}({', '.join(arguments)})"

    # ---- requirements ----

    def require(self, node: Expr, env: Environment, otherwise: str) -> None:
        """Write statements that go on if the expression is TRUE, and else do `otherwise`."""
        w = self._w
        match node:
            case Literal() if node.value is TRUE:
                return
            case Apply() if node.operator == "and":
                for item in node.operands:
                    assert not isinstance(item, OperatorRef)
                    self.require(item, env, otherwise)
            case Let():
                self.require(node.body, self.bind(node, env), otherwise)
            case If():
                w.emit(f"if {self.condition(node.condition, env)}:")
                with w.block():
                    self.require(node.yes, env, otherwise)
                w.emit("else:")
                with w.block():
                    self.require(node.no, env, otherwise)
            case Case():
                self._require_case(node, env, otherwise)
            case Call() if self._is_inlined(node, env) and self._inlining < 100:
                self._inlining += 1
                inner = self.bind_arguments(node, env)
                self.require(node.definition.expression, inner, otherwise)
                self._inlining -= 1
            case Quantified() if node.what == "forall" and otherwise.startswith("return"):
                loops, inner = self.loops(node, env)
                if len(loops) > 1:
                    loops = [(target, w.atom(text, "set")) for target, text in loops]
                for target, among in loops:
                    w.emit(f"for {target} in {among}:")
                    self._enter()
                self._require_body(node.body, inner, otherwise)
                for _ in loops:
                    self._leave()
            case _:
                text = self.condition(node, env)
                if text == "True":
                    return
                w.emit(f"if {text[4:]}:" if text.startswith("not ") else f"if not {text}:")
                w.function.depth += 1
                w.emit(otherwise)
                w.function.depth -= 1

    def _require_case(self, node: Case, env: Environment, otherwise: str) -> None:
        w = self._w
        depth = 0
        for guard, value in node.arms:
            w.emit(f"if {self.condition(guard, env)}:")
            with w.block():
                self.require(value, env, otherwise)
            w.emit("else:")
            self._enter()
            depth += 1
        start = len(w.function.lines)
        if node.other is None:
            w.emit(f"stop({f'no arm of CASE holds ({node.place})'!r})")
        else:
            self.require(node.other, env, otherwise)
        if len(w.function.lines) == start:
            w.emit("pass")
        for _ in range(depth):
            self._leave()


def _worth_a_constant(node: Expr) -> bool:
    match node:
        case Apply():
            return node.operator not in ("and", "or", "not", "=>", "=", "#", "in", "notin")
        case Quantified() | Except():
            return True
        case Call():
            return not node.definition.recursive
        case _:
            return False


def _may_be_infinite(node: Expr | None) -> bool:
    match node:
        case Apply():
            return node.operator in ("Nat", "Int", "STRING", "Seq", "functions", "SUBSET")
        case _:
            return False


def _all_ready(names: tuple[str, ...], pythons: list[str], kind: str = "?") -> dict[str, Binding]:
    return {name: _Ready(python, kind) for name, python in zip(names, pythons, strict=True)}


def _parameters(
    definition: Definition, pythons: list[str], kinds: tuple[str, ...] = ()
) -> dict[str, Binding]:
    kinds = kinds or ("?",) * len(pythons)
    return {
        name: _Callable(python) if name in definition.operator_parameters else _Ready(python, kind)
        for name, python, kind in zip(definition.parameters, pythons, kinds, strict=True)
    }


def _extreme(node: Quantified) -> str | None:
    r"""Recognise CHOOSE x \in S : \A y \in S : y <= x, and its mirror images."""
    ((names, pattern, among),) = node.bounds
    every = node.body
    if pattern or not isinstance(among, Local) or not isinstance(every, Quantified):
        return None
    if every.what != "forall" or len(every.bounds) != 1:
        return None
    ((others, other_pattern, other_among),) = every.bounds
    if other_pattern or not isinstance(other_among, Local) or other_among.name != among.name:
        return None
    order = every.body
    if not isinstance(order, Apply) or order.operator not in ("<=", ">="):
        return None
    sides = [item.name if isinstance(item, Local) else "" for item in order.operands]
    if sides == [others[0], names[0]]:
        return "largest" if order.operator == "<=" else "smallest"
    if sides == [names[0], others[0]]:
        return "smallest" if order.operator == "<=" else "largest"
    return None


def _ready_text(binding: Binding) -> str:
    assert isinstance(binding, _Ready)
    return binding.text


def _tuple(texts: list[str]) -> str:
    return "(" + ", ".join(texts) + ("," if len(texts) == 1 else "") + ")"


def ready(parameters: Parameters, pythons: list[str]) -> Environment:
    """Return the environment in which each parameter is a Python name."""
    return {
        name: _Ready(python, kind) for (name, kind), python in zip(parameters, pythons, strict=True)
    }
