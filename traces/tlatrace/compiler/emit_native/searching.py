"""What a search asks of a model, as flat Python: calls of the functions that `roles` wrote."""

from __future__ import annotations

from collections.abc import Sequence

from tlatrace.compiler.model_source import NativeSource

__all__ = ["asked_text"]


def asked_text(
    source: NativeSource,
    *,
    invariants: Sequence[str],
    constraints: Sequence[str],
    action_constraints: Sequence[str],
    properties: Sequence[str] = (),
    initial_properties: Sequence[str] = (),
    view: str | None = None,
) -> str:
    """Write the functions of `runtime.words.asked` for a model whose roles are all written.

    The invariants, constraints, properties and the VIEW are given by their roles.
    """
    named = dict(source.functions)
    arities = [
        line
        for number, (_, arity) in enumerate(source.labels)
        for line in (f"if label == {number}:", f"    return {arity}")
        if arity
    ]
    return "\n\n".join(
        [
            _function("asked_initials(s, t, p)", [f"return {named['initials']}(s, t, p)"]),
            _function("asked_steps(s, t, p)", [f"return {named['steps']}(s, t, p)"]),
            _function("asked_arity(label)", [*arities, "return 0"]),
            _function(
                "asked_view(s, p)",
                ["return BAD" if view is None else f"return {named[view]}(s, s, p)"],
            ),
            _function("asked_invariants(s, p)", _all(named, invariants, "s, s, p")),
            _function("asked_properties(s, t, p)", _all(named, properties, "s, t, p")),
            _function("asked_initial_properties(s, p)", _all(named, initial_properties, "s, s, p")),
            _function("asked_constraints(s, p)", _up_to_first(named, constraints, "s, s, p")),
            _function("asked_step(s, t, p)", _up_to_first(named, action_constraints, "s, t, p")),
        ]
    )


def _all(named: dict[str, str], roles: Sequence[str], arguments: str) -> list[str]:
    lines = ["answer = 1"]
    for role in roles:
        lines += [f"q = {named[role]}({arguments})", "if q == 2:", "    return 2"]
        lines += ["if q == 0:", "    answer = 0"]
    return [*lines, "return answer"]


def _up_to_first(named: dict[str, str], roles: Sequence[str], arguments: str) -> list[str]:
    lines = []
    for role in roles:
        lines += [f"q = {named[role]}({arguments})", "if q != 1:", "    return q"]
    return [*lines, "return 1"]


def _function(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"def {head}:", *[f"    {line}" for line in lines], ""])
