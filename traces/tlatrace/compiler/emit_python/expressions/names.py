"""Local names: what each stands for, and where its value is computed."""

from __future__ import annotations

from tlatrace.compiler.emit_python.expressions.environment import (
    Binding,
    Environment,
    Later,
    Operator,
    PythonFunction,
    Ready,
)
from tlatrace.compiler.emit_python.expressions.interface import ExpressionWriter
from tlatrace.compiler.ir.analysis import (
    free_locals,
    kind_of,
    reads,
    strict,
    uses,
)
from tlatrace.compiler.ir.nodes import (
    Apply,
    Composed,
    Expr,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Variable,
    unsupported,
)

__all__ = ["Names"]


class Names:
    """Binds names to Python names, and says what they stand for."""

    def __init__(self, expressions: ExpressionWriter) -> None:
        self._x = expressions
        self._w = expressions.writer

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

    def state_after(self, node: Composed) -> str:
        """Return the text of the whole state after the step that a composition is asked about.

        Raises:
            SubsetError: nothing has said yet what all variables will be.
        """
        assigned = self._w.function.assigned
        if assigned is None:
            return "t"
        if len(assigned) < node.width:
            raise unsupported(node.place, "a composition that leaves variables without a value")
        return "(" + "".join([f"{assigned[at]}, " for at in range(node.width)]) + ")"

    def local(self, node: Local, env: Environment) -> str:
        w = self._w
        binding = env[node.name]
        match binding:
            case Ready():
                return binding.text
            case Later() if binding.name is None:
                return self._x.values.value(binding.expr, binding.environment)
            case Later():
                assert binding.name is not None
                if not w.is_ready(binding.name):
                    w.emit(f"if {binding.name} is UNSET:")
                    with w.block():
                        text = self._x.values.value(binding.expr, binding.environment)
                        w.emit(f"{binding.name} = {text}")
                    w.note_ready(binding.name)
                return binding.name
            case Operator() | PythonFunction():
                raise unsupported(node.place, "an operator where a value is needed")

    def bind(self, node: Let, env: Environment) -> Environment:
        """Bind the names of a LET; what is sure to be needed is computed here."""
        inner = dict(env)
        for position, (name, expr) in enumerate(node.bindings):
            rest = Let(node.bindings[position + 1 :], node.body)
            inner[name] = self.binding(name, expr, inner, rest)
        return inner

    def binding(self, name: str, expr: Operand, env: Environment, body: Expr) -> Binding:
        w = self._w
        if isinstance(expr, OperatorRef):
            return Operator(expr, dict(env))
        if isinstance(expr, Literal):
            return Ready(w.literal(expr.value), kind_of(expr))
        count = uses(body, name)
        if isinstance(expr, Local):
            known = env[expr.name]
            if not isinstance(known, Later) or known.name is not None or count <= 1:
                return known  # what was to be used once may now be used more often
        if isinstance(expr, Variable) and (
            w.function.assigned is None or not expr.primed or expr.index in w.function.assigned
        ):
            return Ready(self.variable(expr))
        if count <= 1 or self.is_unsettled(expr, env):
            return Later(expr, dict(env), None)
        python = w.fresh(name)
        if strict(body, name):
            w.emit(f"{python} = {self._x.values.value(expr, env)}")
            return Ready(python, self.kind(expr, env))
        w.emit(f"{python} = UNSET")
        return Later(expr, dict(env), python)

    def kind(self, node: Operand, env: Environment) -> str:
        """Name the kind of an expression, also of names whose values are known to have one."""
        if isinstance(node, Local):
            binding = env[node.name]
            if isinstance(binding, Ready):
                return binding.kind
            if isinstance(binding, Later):
                return self.kind(binding.expr, binding.environment)
        return kind_of(node)

    def element_kind(self, among: Expr, env: Environment) -> str:
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
                if isinstance(binding, Later):
                    return self.element_kind(binding.expr, binding.environment)
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
                case Later(expr, environment, None) if self.is_unsettled(expr, environment):
                    return True
                case Operator(ref, environment) if self.is_unsettled(ref, environment):
                    return True
                case _:
                    pass
        return False

    def opened(self, node: Expr, env: Environment) -> tuple[Expr, Environment]:
        """Return the expression that a name stands for, if it is not computed yet."""
        while True:
            if isinstance(node, OperatorCall) and isinstance(env[node.name], Operator):
                node, env = self._x.calls.entered(node, env)
                continue
            binding = env.get(node.name) if isinstance(node, Local) else None
            if not isinstance(binding, Later) or binding.name is not None:
                return node, env
            node, env = binding.expr, binding.environment

    def afresh(self, node: Operand, env: Environment) -> Environment:
        return {name: binding for name, binding in env.items() if uses(node, name)}

    def declare_again(self, env: Environment) -> Environment:
        """In a nested function: what may not be computed yet gets a name of its own."""
        w = self._w
        renewed: dict[str, Binding] = {}
        for name, binding in env.items():
            if isinstance(binding, Later) and binding.name and not w.is_ready(binding.name):
                python = w.fresh(name)
                w.emit(f"{python} = UNSET")
                outer = self.declare_again(self.afresh(binding.expr, binding.environment))
                renewed[name] = Later(binding.expr, outer, python)
            elif isinstance(binding, Later) and binding.name:
                renewed[name] = Ready(binding.name)
            elif isinstance(binding, Later | Operator):
                inner = binding.expr if isinstance(binding, Later) else binding.reference.body
                outer = self.declare_again(self.afresh(inner, binding.environment))
                if isinstance(binding, Later):
                    renewed[name] = Later(binding.expr, outer, None)
                else:
                    renewed[name] = Operator(binding.reference, outer)
            else:
                renewed[name] = binding
        return renewed
