r"""Random specifications whose steps tell themselves which action was called, with what.

    Push(a1, a2) == /\ a1 # x /\ x' = (x + a1) % 4 /\ ...
                    /\ last' = <<"Push", a1, a2>> /\ via' = <<>>

TLC's list of the states that may follow a state then says which calls Next allows, and nobody needs
to find actions in the text of Next. Each action writes its own name and arguments:

| role     | writes    | is called                                            |
|----------|-----------|------------------------------------------------------|
| plain    | last, via | anywhere                                             |
| instance | last, via | anywhere; it is an action of an INSTANCE             |
| inner    | last      | by outer ones, and beside `via' = <<>>`              |
| outer    | via       | anywhere; calls an inner one                         |

So a step whose `last` is `<<"Push", 1, 2>>` was made by a call of `Push(1, 2)`, and by nothing
else. A machine has several next-state relations (`relations`), and `Free`, which calls every action
with all arguments of `vocabulary.DOMAINS`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal, TypeAlias

from tlatrace.selfcheck.random_steps.shapes import Shape, smaller, written
from tlatrace.selfcheck.random_steps.vocabulary import (
    CONSTANTS,
    DEFINITIONS,
    DOMAINS,
    Kind,
    Vocabulary,
)
from tlatrace.values import ModelValue, State, Value, tla_set

__all__ = ["Action", "Machine", "Operator", "Relation", "calls_told", "draw_actions", "draw_states"]

_Role: TypeAlias = Literal["plain", "instance", "inner", "outer"]

_NAMES: Final = ("Push", "Pull", "Elect", "Vote", "Zap", "Send")
_INNER_NAMES: Final = ("Write", "Mark")
_OUTER_NAMES: Final = ("Commit", "Relay")
_VARIABLES: Final = ("x", "y", "s", "o", "last", "via")


@dataclass(frozen=True, slots=True)
class Action:
    """An action that writes down its own calls."""

    name: str
    kinds: tuple[Kind, ...]
    role: _Role
    text: str
    """Its definition; "" where an INSTANCE has it."""

    def call(self, arguments: Sequence[str]) -> str:
        r"""Write a call.

        The first argument of an INSTANCE with parameters is the INSTANCE's own. It must be
        constant, which what `\E` binds always is.
        """
        instance, _, action = self.name.partition("!")
        if self.role == "instance" and len(self.kinds) > 1:
            first, second = arguments
            return f"(\\E j_ \\in {{{first}}} : {instance}(j_)!{action}({second}))"
        return self.name + (f"({', '.join(arguments)})" if arguments else "")


_COUNTER: Final = r"""---- MODULE Counter ----
EXTENDS Integers, Sequences
CONSTANTS name, owner, width
VARIABLES v, w, left, right, called, through
Bump(i) ==
  /\ v' = (v + i) % width /\ w' = v
  /\ called' = <<name>> \o owner \o <<i>> /\ through' = <<>>
  /\ UNCHANGED <<left, right>>
====
I == INSTANCE Counter WITH name <- "I!Bump", owner <- <<>>, width <- 3,
  v <- x, w <- y, left <- s, right <- o, called <- last, through <- via
J(k) == INSTANCE Counter WITH name <- "J!Bump", owner <- <<k>>, width <- (IF k > 0 THEN k ELSE 2),
  v <- y, w <- x, left <- o, right <- s, called <- last, through <- via"""
_INSTANCES: Final = (
    Action("I!Bump", ("number",), "instance", _COUNTER),
    Action("J!Bump", ("number", "number"), "instance", _COUNTER),
)


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that calls actions and writes nothing down itself."""

    name: str
    parameters: tuple[str, ...]
    """As they are declared: `p1`, or `A1(_)`."""
    body: Shape

    @property
    def text(self) -> str:
        """The definition."""
        declared = f"({', '.join(self.parameters)})" if self.parameters else ""
        return _definition(self.name + declared, self.body)


@dataclass(frozen=True, slots=True)
class Relation:
    """A next-state relation with the operators that only it uses; each calls earlier ones only."""

    name: str
    body: Shape
    operators: tuple[Operator, ...] = ()

    def renamed(self, name: str) -> Relation:
        """Return the relation under another name, which its operators' names begin with."""
        names = {
            operator.name: operator.name.replace(self.name, name, 1) for operator in self.operators
        }
        operators = [
            replace(operator, name=names[operator.name], body=operator.body.with_names(names))
            for operator in self.operators
        ]
        return Relation(name, self.body.with_names(names), tuple(operators))

    def smaller(self) -> Iterator[Relation]:
        """Yield relations that say less, each by one change."""
        for body in smaller(self.body):
            yield replace(self, body=body)._pruned()
        for at, operator in enumerate(self.operators):
            for body in smaller(operator.body):
                changed = replace(operator, body=body)
                operators = (*self.operators[:at], changed, *self.operators[at + 1 :])
                yield replace(self, operators=operators)._pruned()
            if not operator.parameters:  # written where it is called
                inlined = replace(self, body=_inlined(self.body, operator))
                yield inlined._pruned()

    def _pruned(self) -> Relation:
        """Leave out the operators that nothing calls."""
        kept: list[Operator] = []
        used = _words("\n".join(written(self.body)))
        for operator in reversed(self.operators):
            if operator.name in used:
                kept.insert(0, operator)
                used |= _words(operator.text)
        return replace(self, operators=tuple(kept))

    @property
    def text(self) -> str:
        """The definitions."""
        lines = [operator.text for operator in self.operators]
        return "\n".join([*lines, _definition(self.name, self.body)])


@dataclass(frozen=True, slots=True)
class Machine:
    """A specification with several next-state relations."""

    name: str
    actions: tuple[Action, ...]
    relations: tuple[Relation, ...]
    init: str = "x = 0 /\\ y = 0 /\\ s = {} /\\ o = Leader /\\ last = <<>> /\\ via = <<>>"

    def only(self, relation: Relation, init: str) -> Machine:
        """Return the machine with one relation, what it uses, and another initial state."""
        text = relation.text
        used = [action for action in self.actions if action.name.split("!")[0] in _words(text)]
        inner = [a for a in self.actions if any(a.name in _words(u.text) for u in used)]
        actions = tuple([action for action in self.actions if action in used or action in inner])
        return replace(self, actions=actions, relations=(relation,), init=init)

    @property
    def module(self) -> str:
        """The text of the module."""
        free = [_free(action, self.actions) for action in self.actions]
        return "\n".join(
            [
                f"---- MODULE {self.name} ----",
                "EXTENDS Integers, Sequences, FiniteSets",
                "CONSTANTS " + ", ".join([line.split()[0] for line in CONSTANTS]) + ", n1, n2, n3",
                f"VARIABLES {', '.join(_VARIABLES)}",
                *DEFINITIONS,
                *[action.text for action in self.actions],
                f"Init == {self.init}",
                *[relation.text for relation in self.relations],
                "Free ==",
                *[f"  \\/ {line}" for line in free],
                "====\n",
            ]
        )

    def config(self, relation: str) -> str:
        """Return the configuration that has a relation for its Next."""
        lines = [f"  {line}" for line in (*CONSTANTS, "n1 = n1", "n2 = n2", "n3 = n3")]
        return "\n".join(["INIT Init", f"NEXT {relation}", "CONSTANTS", *lines, ""])


def draw_actions(draw: random.Random) -> tuple[Action, ...]:
    """Draw the actions of a machine: some plain ones, sometimes an inner and an outer one."""
    names = draw.sample(_NAMES, draw.randint(2, 4))
    found = [_action(draw, name, "plain") for name in names]
    if draw.random() < 0.4:
        found.append(draw.choice(_INSTANCES))
    if draw.random() < 0.6:
        inner = _action(draw, draw.choice(_INNER_NAMES), "inner")
        found.append(inner)
        found.append(_outer(draw, draw.choice(_OUTER_NAMES), inner))
    return tuple(found)


def draw_states(draw: random.Random, count: int) -> list[State]:
    """Draw states of a machine that has not taken a step."""
    drawn: list[State] = [
        {
            "x": x,
            "y": y,
            "s": tla_set([number for number in (1, 2, 3) if draw.random() < 0.5]),
            "o": ModelValue(draw.choice(("n1", "n2", "n3"))),
            "last": (),
            "via": (),
        }
        for x, y in product(range(4), repeat=2)
    ]
    return draw.sample(drawn, min(count, len(drawn)))


def _inlined(shape: Shape, operator: Operator) -> Shape:
    """Put the body of an operator without parameters where it is called."""
    if shape.kind == "leaf" and shape.texts == (operator.name,):
        return operator.body
    return replace(shape, parts=tuple([_inlined(part, operator) for part in shape.parts]))


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def _definition(head: str, body: Shape) -> str:
    return "\n".join([f"{head} ==", *[f"  {line}" for line in written(body)]])


def _action(draw: random.Random, name: str, role: _Role) -> Action:
    kinds = tuple([Vocabulary(draw, {}).kind() for _ in range(draw.choice((0, 1, 1, 1, 2, 2)))])
    names = [f"a{at}" for at in range(1, len(kinds) + 1)]
    vocabulary = Vocabulary(draw, dict(zip(names, kinds, strict=True)))
    conjuncts = [vocabulary.condition()] if draw.random() < 0.4 else []
    conjuncts += _effects(draw, vocabulary)
    called = ", ".join([f'"{name}"', *names])
    conjuncts.append(f"last' = <<{called}>>")
    if role == "plain":
        conjuncts.append("via' = <<>>")
    if draw.random() < 0.3:
        conjuncts.append(vocabulary.condition(primed=True))
    head = name + (f"({', '.join(names)})" if names else "")
    if draw.random() < 0.5:
        text = f"{head} == " + " /\\ ".join([f"({conjunct})" for conjunct in conjuncts])
    else:
        text = "\n".join([f"{head} ==", *[f"  /\\ {conjunct}" for conjunct in conjuncts]])
    return Action(name, kinds, role, text)


def _effects(draw: random.Random, vocabulary: Vocabulary) -> list[str]:
    """Draw what happens to each variable."""
    number = vocabulary.expression("number")
    changes = {
        "x": (
            f"x' = (x + {number}) % 4",
            f"x' = ({number}) % 4",
            f"x' \\in {{x, {number}}}",
            f"IF {vocabulary.condition()} THEN x' = y ELSE x' = {number}",
            f"\\E c_ \\in {{0, {number}}} : x' = c_",
        ),
        "y": (f"y' = ({number} + y) % 4", "y' = x", f"\\/ y' = 0 \\/ y' = {number}"),
        "s": (f"s' = s \\cup {{{number}}}", f"s' = s \\ {{{number}}}", "s' = {x, y}"),
        "o": (f"o' = {vocabulary.expression('node')}", "o' \\in Others(o)"),
    }
    kept = [name for name in changes if draw.random() < 0.4]
    found = [f"({draw.choice(changes[name])})" for name in changes if name not in kept]
    if kept:
        found.append(
            f"UNCHANGED <<{', '.join(kept)}>>" if len(kept) > 1 else f"{kept[0]}' = {kept[0]}"
        )
    return found


def _outer(draw: random.Random, name: str, inner: Action) -> Action:
    kinds = tuple([Vocabulary(draw, {}).kind() for _ in range(draw.choice((0, 1, 1, 2)))])
    names = [f"a{at}" for at in range(1, len(kinds) + 1)]
    vocabulary = Vocabulary(draw, dict(zip(names, kinds, strict=True)))
    arguments = [vocabulary.expression(kind) for kind in inner.kinds]
    called = ", ".join([f'"{name}"', *names])
    parts = [inner.call(arguments), f"via' = <<{called}>>"]
    if inner.kinds and draw.random() < 0.4:
        kind = inner.kinds[0]
        parts[0] = f"\\E b_ \\in {vocabulary.set(kind)} : {inner.call(['b_', *arguments[1:]])}"
    if draw.random() < 0.4:
        parts.insert(0, vocabulary.condition())
    if draw.random() < 0.3:
        parts.append(vocabulary.condition(primed=True))
    head = name + (f"({', '.join(names)})" if names else "")
    text = f"{head} == " + " /\\ ".join([f"({part})" for part in parts])
    return Action(name, kinds, "outer", text)


def _free(action: Action, actions: Sequence[Action]) -> str:
    """Write every call of an action; an inner one also as if outer ones had called it."""
    names = [f"f{at}_" for at in range(1, len(action.kinds) + 1)]
    bounds = [
        f"{name} \\in {{{', '.join([text for _, text in DOMAINS[kind]])}}}"
        for name, kind in zip(names, action.kinds, strict=True)
    ]
    quantified = f"\\E {', '.join(bounds)} : " if bounds else ""
    call = action.call(names)
    if action.role == "inner":
        tags = ["<<>>", *[_tag(outer) for outer in actions if outer.role == "outer"]]
        call = f"({call} /\\ via' \\in {{{', '.join(tags)}}})"
    return quantified + call


def _tag(action: Action) -> str:
    arguments = [DOMAINS[kind][1][1] for kind in action.kinds]
    return "<<" + ", ".join([f'"{action.name}"', *arguments]) + ">>"


def calls_told(state: State) -> list[tuple[str, tuple[Value, ...]]]:
    """Return the calls, (action, arguments), that a state after a step tells of."""
    calls = [state[name] for name in ("last", "via")]
    return [(str(call[0]), call[1:]) for call in calls if isinstance(call, tuple) and call]
