r"""Tell from the text of an operator that a fold with it does not depend on the order.

An operator op(x, acc) is understood when each of its results is acc itself or one of these, with h
anything that does not look at acc, and the same one throughout:

* h + acc, acc - h, h * acc, h \cup acc,
* IF h < acc THEN h ELSE acc, and the other ways to write the larger or the smaller one,
* [acc EXCEPT ![h] = ...] where the new value is one of these of @.

Then any two elements may change places: op(x, op(y, acc)) = op(y, op(x, acc)). Where an element has
no value, no order has one. What is short-circuited (/\ and \/) or compared on the way (\cap and \)
is not among them: whether it fails can depend on the order.
"""

from __future__ import annotations

from typing import Final

from tlatrace.compiler.emit_python.expressions.environment import Environment, Operator
from tlatrace.compiler.ir.analysis import free_locals
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
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
)
from tlatrace.runtime.values import TRUE

__all__ = ["any_order", "takes_any"]

_COMMUTATIVE: Final = {"+": "+", "*": "*", "cup": "cup"}
_COMPARED: Final = frozenset(["<", ">", "<=", ">="])
_SAME: Final = ""
_MAX_DEPTH: Final = 40


def any_order(operator: Operand, accumulator: int, env: Environment) -> bool:
    """Tell whether any order of a fold has the same value, if it has one.

    `accumulator` is the position of the parameter that takes what has been folded.
    """
    if not isinstance(operator, OperatorRef):
        return False
    return _change(operator.body, operator.parameters[accumulator], env, _MAX_DEPTH) is not None


def takes_any(operator: Operand) -> bool:
    r"""Tell whether an operator is `LAMBDA S : CHOOSE x \in S : TRUE`, in these words."""
    if not isinstance(operator, OperatorRef) or not isinstance(operator.body, Quantified):
        return False
    body = operator.body
    return (
        body.what == "choose"
        and isinstance(body.body, Literal)
        and body.body.value is TRUE
        and len(body.bounds) == 1
        and isinstance(body.bounds[0][2], Local)
        and body.bounds[0][2].name == operator.parameters[0]
    )


def _change(node: Operand, acc: str, env: Environment, depth: int) -> str | None:
    """Name what is done to a local: nothing, or the operation; None if it is not understood."""
    if depth == 0:
        return None
    match node:
        case Local():
            return _SAME if node.name == acc else None
        case Apply():
            return _applied(node, acc, env, depth)
        case If() if not _mentions(node.condition, acc):
            return _both([node.yes, node.no], acc, env, depth)
        case If():
            return _larger_or_smaller(node, acc)
        case Case() if not any(_mentions(guard, acc) for guard, _ in node.arms):
            results = [value for _, value in node.arms]
            if node.other is not None:
                results.append(node.other)
            return _both(results, acc, env, depth)
        case Let() if not any(_mentions(value, acc) for _, value in node.bindings):
            return _change(node.body, acc, env, depth - 1)
        case Except():
            return _updated(node, acc, env, depth)
        case Call() if not node.definition.recursive and acc not in node.definition.free:
            inner: Environment = {
                **env,
                **{
                    name: Operator(argument, env)
                    for name, argument in zip(
                        node.definition.parameters, node.arguments, strict=True
                    )
                    if isinstance(argument, OperatorRef)
                },
            }
            body, parameters = node.definition.expression, node.definition.parameters
            return _entered(body, parameters, node.arguments, acc, inner, depth)
        case OperatorCall():
            binding = env.get(node.name)
            if not isinstance(binding, Operator):
                return None
            reference = binding.reference
            return _entered(
                reference.body,
                reference.parameters,
                node.arguments,
                acc,
                binding.environment,
                depth,
            )
        case _:
            return None


def _entered(
    body: Expr,
    parameters: tuple[str, ...],
    arguments: tuple[Operand, ...],
    acc: str,
    env: Environment,
    depth: int,
) -> str | None:
    """Follow the local into the one parameter that takes it."""
    takers = [
        name for name, item in zip(parameters, arguments, strict=True) if _mentions(item, acc)
    ]
    if len(takers) != 1:
        return None
    argument = arguments[parameters.index(takers[0])]
    if not isinstance(argument, Local):
        return None
    return _change(body, takers[0], env, depth - 1)


def _applied(node: Apply, acc: str, env: Environment, depth: int) -> str | None:
    if len(node.operands) != 2:
        return None
    left, right = node.operands
    if node.operator == "-":
        return _one("+", left, right, acc, env, depth)
    operation = _COMMUTATIVE.get(node.operator)
    if operation is None:
        return None
    found = _one(operation, left, right, acc, env, depth)
    return found if found is not None else _one(operation, right, left, acc, env, depth)


def _one(
    operation: str, changed: Operand, other: Operand, acc: str, env: Environment, depth: int
) -> str | None:
    if _mentions(other, acc):
        return None
    inner = _change(changed, acc, env, depth - 1)
    return operation if inner in (_SAME, operation) else None


def _both(results: list[Expr], acc: str, env: Environment, depth: int) -> str | None:
    found = {_change(result, acc, env, depth - 1) for result in results}
    if None in found:
        return None
    found.discard(_SAME)
    if not found:
        return _SAME
    return found.pop() if len(found) == 1 else None


def _larger_or_smaller(node: If, acc: str) -> str | None:
    """Understand IF x < acc THEN x ELSE acc: the same two names three times."""
    test = node.condition
    if not isinstance(test, Apply) or test.operator not in _COMPARED:
        return None
    names = [item.name for item in (*test.operands, node.yes, node.no) if isinstance(item, Local)]
    if len(names) != 4 or acc not in names[:2] or names[0] == names[1]:
        return None
    if set(names[:2]) != set(names[2:]):
        return None
    return "larger" if (test.operator in (">", ">=")) == (names[0] == names[2]) else "smaller"


def _updated(node: Except, acc: str, env: Environment, depth: int) -> str | None:
    if len(node.updates) != 1 or _change(node.function, acc, env, depth - 1) != _SAME:
        return None
    update = node.updates[0]
    if _mentions(update.value, acc) or any(_mentions(key, acc) for key in update.path):
        return None
    inner = _change(update.value, update.old, env, depth - 1)
    return None if inner is None else f"at {len(update.path)} {inner}"


def _mentions(node: Operand, name: str) -> bool:
    return name in free_locals(node)
