"""Expressions as values: the text of a Python expression, and the statements before it."""

from __future__ import annotations

from typing import Final

from tlatrace.compiler.emit_python.expressions.environment import (
    Environment,
    Ready,
)
from tlatrace.compiler.emit_python.expressions.folding import any_order, takes_any
from tlatrace.compiler.emit_python.expressions.interface import ExpressionWriter
from tlatrace.compiler.emit_python.writer import Function
from tlatrace.compiler.ir.analysis import (
    is_closed,
    kind_of,
    uses,
)
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
    Enabled,
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
    unsupported,
)

__all__ = ["Values"]

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
    "IsPrefix": "is_prefix",
    "ReplaceAllSubSeqs": "replace_all",
    "ReplaceFirstSubSeq": "replace_first",
    "SetToSeq": "set_to_sequence",
    "images": "images",
    "elements": "images",
}
_FOLDS: Final = {
    "FoldBag": ("fold_bag", 0),
    "FoldFunction": ("fold_function", 1),
    "FoldFunctionOnSet": ("fold_function_on", 1),
    "FoldLeft": ("fold_left", None),
    "FoldRight": ("fold_right", None),
    "FoldSet": ("fold_set", 1),
    "MapThenFoldSet": ("map_then_fold", 1),
}
"""Key -> the Python function, and the parameter that takes what has been folded, if it asks."""
_NO_TEXT: Final = "ToString: TLC's text depends on how a value was written, 1..3 or {1, 2, 3}"
_IN_MESSAGES: Final = frozenset(["tuple", "record", "set", "concat"])
_CONSTANTS: Final = {"BOOLEAN": "BOOLEAN", "STRING": "STRING", "Nat": "NAT", "Int": "INT"}
_TESTED: Final = {
    "SelectSeq": "select_sequence",
    "SetToSortSeq": "set_to_sorted",
    "SortSeq": "sort_sequence",
}
_ARITHMETIC: Final = {"+": ("+", "add"), "-": ("-", "subtract")}


class Values:
    """Writes values."""

    def __init__(self, expressions: ExpressionWriter) -> None:
        self._x = expressions
        self._w = expressions.writer
        self._constants: dict[int, tuple[object, str]] = {}
        self._computed: dict[str, str] = {}

    def value(self, node: Expr, env: Environment) -> str:
        """Return the text of a value."""
        w = self._w
        match node:
            case Literal():
                return w.literal(node.value)
            case Variable():
                return self._x.names.variable(node)
            case Local():
                return self._x.names.local(node, env)
            case _ if _worth_a_constant(node) and is_closed(node):
                return self._constant(node)
            case Apply():
                if kind_of(node) == "bool":
                    return f"(TRUE if {self._x.conditions.condition(node, env)} else FALSE)"
                return self.apply(node, env)
            case Call():
                return self._x.calls.call(node, env, as_condition=False)
            case OperatorCall():
                return self._x.calls.operator_call(node, env, as_condition=False)
            case If() if node.taken is not None:
                return self.value(node.taken, env)
            case If() | Case():
                return self._choice(node, env)
            case Let():
                return self.value(node.body, self._x.names.bind(node, env))
            case Enabled() | Composed():
                return f"(TRUE if {self._x.conditions.condition(node, env)} else FALSE)"
            case Quantified():
                return self._x.quantifiers.quantified(node, env)
            case Recursive():
                return self._x.quantifiers.recursive(node, env)
            case Except():
                return self._except(node, env)

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

    def computed_once(self, node: Expr, text: str) -> str:
        """Return the name of what is computed of a constant; the text if it is none."""
        if isinstance(node, Literal) or not (_worth_a_constant(node) and is_closed(node)):
            return text
        known = self._computed.get(text)
        if known is None:
            w = self._w
            known = self._computed[text] = w.fresh("A")
            function = Function()
            with w.begin(function):
                w.emit(f"return {text}")
            w.finish(f"def {known}():", function, f'define("{known}", {known})')
        return known

    def value_inside(self, node: Expr) -> str:
        """Return the text of a closed expression, written out."""
        match node:
            case Apply() if kind_of(node) == "bool":
                return f"(TRUE if {self._x.conditions.condition(node, {})} else FALSE)"
            case Apply():
                return self.apply(node, {})
            case Quantified():
                return self._x.quantifiers.quantified(node, {})
            case Call():
                return self._x.calls.call(node, {}, as_condition=False)
            case Except():
                return self._except(node, {})
            case _:
                raise AssertionError(node)

    def apply(self, node: Apply, env: Environment) -> str:
        operator, operands = node.operator, node.operands
        if operator in _TESTED:
            return self._with_test(node, env)
        if operator in _FOLDS:
            return self._fold(node, env)
        if operator == "apply" and self._x.quantifiers.cells:
            looked, at = operands
            if isinstance(looked, Variable) and isinstance(at, Local):
                return self._x.quantifiers.cells[looked.index, looked.primed, at.name]
        if operator == "apply" and self._x.names.kind(operands[1], env) in ("string", "atom"):
            # No index of a tuple: what is not a function over such keys makes Python stop.
            return f"{self.part(operands[0], env)}[{self.part(operands[1], env)}]"
        if operator == "Print":
            return f"said({self.message(operands[0], env)}, {self.part(operands[1], env)})"
        values = [self.part(item, env) for item in operands]
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
                if "int" in (
                    self._x.names.kind(operands[0], env),
                    self._x.names.kind(operands[1], env),
                ):
                    return f"({values[0]} {symbol} {values[1]})"
                return f"{function}({values[0]}, {values[1]})"
            case "text":
                return f"said({values[0]}, '')"
            case "TLCEval":
                return f"whole({values[0]})"
            case "ToString":
                raise unsupported(node.place, _NO_TEXT)
            case _ if operator in _CONSTANTS:
                return _CONSTANTS[operator]
            case _ if operator in _FUNCTIONS:
                return f"{_FUNCTIONS[operator]}({', '.join(values)})"
            case _:
                raise unsupported(node.place, f"{operator} is not evaluated")

    def message(self, node: Operand, env: Environment) -> str:
        """Return the text of what TLC shows: it has to have a value, and nobody sees which."""
        return self.part(_with_texts(node), env)

    def part(self, node: Operand, env: Environment) -> str:
        if isinstance(node, OperatorRef):
            raise unsupported(node.place, "an operator where a value is needed")
        return self.value(node, env)

    def _with_test(self, node: Apply, env: Environment) -> str:
        sequence, test = node.operands
        assert not isinstance(sequence, OperatorRef)
        text = self.value(sequence, env)
        if node.operator == "SelectSeq" and isinstance(test, OperatorRef):
            element = self._w.fresh("e")
            inner = {**env, test.parameters[0]: Ready(element)}
            with self._w.capture() as lines:
                condition = self._x.conditions.condition(test.body, inner)
            if not lines:
                return f"tuple([{element} for {element} in sequence({text}) if {condition}])"
        name = self._x.calls.python_function(test, env, as_condition=True)
        return f"{_TESTED[node.operator]}({text}, {name})"

    def _fold(self, node: Apply, env: Environment) -> str:
        function, accumulator = _FOLDS[node.operator]
        arguments: list[str] = []
        for item in node.operands:
            if isinstance(item, OperatorRef):
                picks = node.operator == "MapThenFoldSet" and item is node.operands[3]
                any_ = picks and takes_any(item)
                function_text = self._x.calls.python_function
                arguments.append("None" if any_ else function_text(item, env, as_condition=False))
            else:
                arguments.append(self.value(item, env))
        if accumulator is not None:
            arguments.append(str(any_order(node.operands[0], accumulator, env)))
        return f"{function}({', '.join(arguments)})"

    def _choice(self, node: If | Case, env: Environment) -> str:
        w = self._w
        name = w.fresh("c")
        if isinstance(node, If):
            condition = self._x.conditions.condition(node.condition, env)
            with w.capture() as yes_lines:
                yes = self.value(node.yes, env)
            with w.capture() as no_lines:
                no = self.value(node.no, env)
            if not yes_lines and not no_lines:
                return f"({yes} if {condition} else {no})"
            self.either(condition, (yes_lines, yes), (no_lines, no), name)
            return name
        depth = 0
        for guard, value in node.arms:
            w.emit(f"if {self._x.conditions.condition(guard, env)}:")
            with w.block():
                w.emit(f"{name} = {self.value(value, env)}")
            w.emit("else:")
            w.enter()
            depth += 1
        if node.other is None:
            w.emit(f"{name} = stop({f'no arm of CASE holds ({node.place})'!r})")
        else:
            w.emit(f"{name} = {self.value(node.other, env)}")
        for _ in range(depth):
            w.leave()
        return name

    def either(
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
        return f"put({function}, {key}, {self.value(value, {**env, old: Ready(known)})})"


def _with_texts(node: Operand) -> Operand:
    """Let ToString stand in a message: as a part of it, its text decides nothing."""
    if not isinstance(node, Apply):
        return node
    if node.operator == "ToString":
        return Apply("text", node.operands, node.place)
    if node.operator not in _IN_MESSAGES:
        return node
    return Apply(node.operator, tuple([_with_texts(item) for item in node.operands]), node.place)


def _worth_a_constant(node: Expr) -> bool:
    match node:
        case Apply():
            return node.operator not in (
                "and",
                "or",
                "not",
                "=>",
                "=",
                "#",
                "in",
                "notin",
                "unchanged",
            )
        case Quantified() | Except():
            return True
        case Call():
            return not node.definition.recursive
        case _:
            return False
