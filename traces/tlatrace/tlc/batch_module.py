r"""The generated module by which TLC judges a batch of steps and states.

    ---- MODULE Rp__Batch ----
    EXTENDS EpochTruncation, Rp__Data              \* Rp__Data holds Rp__Items, packed
    VARIABLE Rp__i
    Rp__Init == /\ Rp__i \in Rp__Indexes
                /\ LET Rp__s == Rp__Items[Rp__i][2] IN ctl = Rp__s[1] /\ ...
    Rp__Next == /\ Rp__At(Rp__i)                   \* prints <<"Rp__At", 17>>
                /\ LET Rp__s == Rp__Items[Rp__i][4] IN ctl' = Rp__s[1] /\ ...
                /\ Rp__i' = 0
                /\ Rp__Judge                       \* prints <<"Rp__Yes", 17>> if it is allowed
                /\ FALSE

An item is <<kind, state before, parameters, state after>>. All variables have both values before an
action is evaluated, so TLC evaluates it as a predicate, and `IF` keeps it from enumerating. FALSE
at the end: no successor is ever stored. The view is the item's number: no state is fingerprinted.

An action that is woven into Next (see `declarations`) is asked by walking through Next as TLC does.
The configuration puts `Rp__W7` in its place, which does the same, and assigns a variable that is
asked at the end of each way through Next:

    Rp__W7(Rp__a1) == Rp__Original!Crash(Rp__a1) /\ Rp__Note(7, <<Rp__a1>>)
    Rp__Way7 == /\ ctl' = Rp__s[1] /\ ...
                /\ Rp__Side2 \/ Rp__Side5         \* disjuncts of Next that call Crash; or Next
                /\ Rp__WasNoted                   \* the step is one of Crash if ENABLED Rp__Way7

A *careful* batch looks at an item while TLC writes a state down for `-dump`: what has no value is
written as it stands then, and TLC goes on. `Rp__Done` says that the item has a value.

The names of a trace never get into the text: an action is looked up among the module's operators,
and values are written by `tla_text`. The data module instances its libraries LOCALly, so that
nothing that it needs can clash with a name of the specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.judgement.specification import PREFIX, SpecUnderTest
from tlatrace.judgement.transition import Transition
from tlatrace.tlc.pack import Node, Packer
from tlatrace.values import State, Value, canonical_state

__all__ = [
    "AT",
    "BATCH",
    "DONE",
    "OPEN",
    "VIOLATED",
    "YES",
    "BatchItem",
    "StateCheck",
    "write_batch",
]

BATCH: Final = f"{PREFIX}Batch"
_DATA: Final = f"{PREFIX}Data"
AT: Final = f"{PREFIX}At"
YES: Final = f"{PREFIX}Yes"
VIOLATED: Final = f"{PREFIX}No"

DONE: Final = f"{PREFIX}Done"
OPEN: Final = f"{PREFIX}Open"
"""Said of a step that Next allows, where TLC cannot tell whether it is one of the action."""

_KIND_INIT, _KIND_STATE, _KIND_NEXT, _KIND_SAME, _KIND_CHANGED = 1, 2, 3, 4, 5
"""A step of Next; one of [Next]_v that changes nothing; one of [Next]_v that changes something."""
_FIRST_ACTION: Final = 6
_REGISTER: Final = 7919


@dataclass(frozen=True, slots=True)
class StateCheck:
    """A state whose invariants are to be evaluated."""

    state: State


BatchItem = Transition | StateCheck


def write_batch(
    spec: SpecUnderTest, items: Sequence[BatchItem], folder: Path, *, careful: bool = False
) -> tuple[Path, Path]:
    """Write the modules and the configuration; return the paths of the root module and of it.

    A careful batch needs TLC's option `-dump`, and survives items that have no value.
    Every transition's action must be an action of the specification with that many parameters.

    Raises:
        ModelGapError: TLC has no such value.
    """
    writer = _Writer(spec, careful)
    for item in items:
        writer.add(item)
    module, config = folder / f"{BATCH}.tla", folder / f"{BATCH}.cfg"
    (folder / f"{_DATA}.tla").write_text(writer.data(), "utf-8")
    module.write_text(writer.root(), "utf-8")
    config.write_text(writer.config(), "utf-8")
    return module, config


class _Writer:
    """Packs the items, and numbers the actions that occur."""

    def __init__(self, spec: SpecUnderTest, careful: bool) -> None:
        self._spec = spec
        self._careful = careful
        self._packer = Packer(PREFIX)
        self._kinds: dict[tuple[str, int], int] = {}
        self._states: dict[int, tuple[State, Node]] = {}  # by id; holds the state, so ids stay

    def add(self, item: BatchItem) -> None:
        params: tuple[Value, ...] = ()
        if isinstance(item, StateCheck):
            kind, before, after = _KIND_STATE, item.state, item.state
        elif item.pre is None:
            kind, before, after = _KIND_INIT, item.post, item.post
        else:
            kind, before, after = self._kind_of_step(item.pre, item.post), item.pre, item.post
            if item.action is not None:
                params = item.params
                key = item.action, len(params)
                kind = self._kinds.setdefault(key, _FIRST_ACTION + len(self._kinds))
        pack = self._packer
        node = pack.tuple_of(
            [
                pack.intern(kind),
                self._state(before),
                pack.tuple_of([pack.intern(param) for param in params]),
                self._state(after),
            ]
        )
        pack.add(node)

    def _kind_of_step(self, before: State, after: State) -> int:
        """Return the kind of a step that names no action."""
        box = self._spec.box
        if box is None:
            return _KIND_NEXT
        if canonical_state(before) == canonical_state(after):
            return _KIND_SAME
        return _KIND_NEXT if box.is_whole else _KIND_CHANGED

    def _state(self, state: State) -> Node:
        known = self._states.get(id(state))
        if known is None:
            node = self._packer.tuple_of(
                [self._packer.intern_known(state[name]) for name in self._spec.variables]
            )
            known = self._states[id(state)] = (state, node)
        return known[1]

    def data(self) -> str:
        items = f"{PREFIX}Items"
        text = self._packer.text(items)
        constants = ", ".join(self._packer.model_values)
        return "\n".join(
            [
                f"---- MODULE {_DATA} ----",
                *[f"LOCAL INSTANCE {name}" for name in ("Integers", "Sequences", "TLC")],
                f"CONSTANTS {constants}" if constants else "",
                text,
                f"{PREFIX}Indexes == 1..Len({items})",
                f'{AT}(i) == PrintT(<<"{AT}", i>>)',
                f'{YES}(i) == PrintT(<<"{YES}", i>>)',
                f'{OPEN}(i) == PrintT(<<"{OPEN}", i>>)',
                f'{DONE}(i) == PrintT(<<"{DONE}", i>>)',
                f'{VIOLATED}(i, k) == PrintT(<<"{VIOLATED}", i, k>>)',
                f"{PREFIX}Set(v) == TLCSet({_REGISTER}, v)",
                f"{PREFIX}IsSet == TLCGet({_REGISTER}) = 1",
                f"{PREFIX}IsNew(i) == i > 0",
                f"{PREFIX}Seen(i) == -i",
                "====\n",
            ]
        )

    def root(self) -> str:
        spec, i = self._spec, f"{PREFIX}i"
        woven = self._woven()
        marks = [f"{PREFIX}m"] * bool(woven) + [f"{PREFIX}z"] * self._careful
        return "\n".join(
            [
                f"---- MODULE {BATCH} ----",
                f"EXTENDS {spec.declarations.module}, {_DATA}",
                f"VARIABLES {', '.join([i, *marks])}",
                *spec.definitions,
                *self._box(),
                f"{PREFIX}View == {i}",
                f"{PREFIX}Init ==\n  /\\ {i} \\in {PREFIX}Indexes",
                *[f"  /\\ {mark} = 0" for mark in marks],
                *[f"  /\\ {line}" for line in self._assigned("", 2)],
                *self._sides(woven),
                *self._along(woven),
                *self._judge(),
                f"{PREFIX}Step ==",
                *[f"  /\\ {line}" for line in self._assigned("'", 4)],
                f"  /\\ IF {PREFIX}Judge THEN TRUE ELSE TRUE",
                *(self._careful_next(marks) if self._careful else self._next()),
                "====\n",
            ]
        )

    def _assigned(self, prime: str, position: int) -> list[str]:
        """Write that each variable has the value of a state of the item."""
        state = f"{PREFIX}Items[{PREFIX}i][{position}]"
        variables = enumerate(self._spec.variables, start=1)
        return [f"{name}{prime} = {state}[{at}]" for at, name in variables]

    def _next(self) -> list[str]:
        i = f"{PREFIX}i"
        return [
            f"{PREFIX}Next ==\n  /\\ {AT}({i})",
            f"  /\\ {PREFIX}Step",
            f"  /\\ {i}' = 0",
            "  /\\ FALSE",
        ]

    def _careful_next(self, marks: Sequence[str]) -> list[str]:
        i = f"{PREFIX}i"
        seen = f"{AT}({i}) /\\ ENABLED {PREFIX}Step /\\ {DONE}({i})"
        same = [*self._spec.variables, *[mark for mark in marks if mark != f"{PREFIX}z"]]
        return [
            f"{PREFIX}Next ==\n  /\\ {PREFIX}IsNew({i})",
            f"  /\\ {i}' = {PREFIX}Seen({i})",
            f"  /\\ UNCHANGED <<{', '.join(same)}>>",
            f"  /\\ {PREFIX}z' = {{{PREFIX}e \\in SUBSET {{}} : {seen}}}",
        ]

    def _box(self) -> list[str]:
        box = self._spec.box
        return [] if box is None or box.text is None else [f"{PREFIX}v ==", *box.text]

    def _judge(self) -> list[str]:
        spec, i, kind = self._spec, f"{PREFIX}i", f"{PREFIX}k"
        violated = [
            f"/\\ IF {name} THEN TRUE ELSE {VIOLATED}({i}, {at})"
            for at, name in enumerate(spec.invariants, start=1)
        ]
        cases = [f"{kind} = {_KIND_INIT} -> {_said(spec.init)}"]
        if spec.invariants:
            cases.append(f"{kind} = {_KIND_STATE} -> {PREFIX}Invariants")
        cases += [f"{kind} = {number} -> {self._call(*key)}" for key, number in self._kinds.items()]
        if spec.box is not None:
            is_known = spec.box.text is not None
            same = f"UNCHANGED {PREFIX}v \\/ {spec.next}" if is_known else "TRUE"
            changed = f"{spec.next} \\/ UNCHANGED {PREFIX}v"
            cases.append(f"{kind} = {_KIND_SAME} -> {_said(same)}")
            cases.append(
                f"{kind} = {_KIND_CHANGED} -> "
                + (_said(changed) if is_known else _said(spec.next, otherwise=f"{OPEN}({i})"))
            )
        # A case that no item has must not make TLC evaluate anything.
        cases.append(f"{kind} = {_KIND_NEXT} -> {_said(spec.next)}")
        return [
            f"{PREFIX}Invariants ==",
            *([f"  {line}" for line in violated] or ["  TRUE"]),
            f"{PREFIX}Judge ==\n  LET {kind} == {PREFIX}Items[{i}][1]",
            f"      {PREFIX}p == {PREFIX}Items[{i}][3] IN",
            "  CASE " + "\n    [] ".join(cases) + "\n    [] OTHER -> TRUE",
        ]

    def _woven(self) -> dict[tuple[str, int], int]:
        """Return the actions of the items that only a walk through Next finds, and their kinds."""
        spec = self._spec
        return {
            key: kind
            for key, kind in self._kinds.items()
            if key[0] in spec.woven and (key[1] or not spec.places.get(key[0]))
        }

    def _along(self, woven: Mapping[tuple[str, int], int]) -> list[str]:
        """Write what stands in the place of woven actions, and the walk through Next."""
        if not woven:
            return []
        item, mark = f"{PREFIX}Items[{PREFIX}i]", f"{PREFIX}m'"
        lines = [
            f"{PREFIX}Original == INSTANCE {self._spec.declarations.module}",
            f"{PREFIX}Note({PREFIX}k, {PREFIX}p) == IF {item}[1] = {PREFIX}k",
            f"  THEN (IF {PREFIX}p = {item}[3] THEN {mark} = 1 ELSE TRUE) ELSE TRUE",
        ]
        for (action, arity), kind in woven.items():
            names = [f"{PREFIX}a{at}" for at in range(1, arity + 1)]
            given = f"({', '.join(names)})" if names else ""
            operator = self._spec.declarations.operators[action]
            body = operator.call(self._original(action), names)
            note = f"{PREFIX}Note({kind}, <<{', '.join(names)}>>)"
            lines.append(f"{PREFIX}W{kind}{given} == {body} /\\ {note}")
        lines += [
            f"{PREFIX}WasNoted ==",
            f"  /\\ {PREFIX}Set(1)",
            f"  /\\ (({mark} = 0 /\\ {PREFIX}Set(0)) \\/ TRUE)  \\* 0 if nothing has set it",
            f"  /\\ {PREFIX}IsSet",
        ]
        for (action, _), kind in woven.items():
            sides = [f"{PREFIX}Side{number}" for number in self._sides_of(action)]
            lines += [
                f"{PREFIX}Way{kind} ==",
                *[f"  /\\ {line}" for line in self._assigned("'", 4)],
                "  /\\ (" + " \\/ ".join(sides or [self._spec.next]) + ")",
                f"  /\\ {PREFIX}WasNoted",
            ]
        return lines

    def _sides(self, woven: Mapping[tuple[str, int], int]) -> list[str]:
        """Write the disjuncts of Next in which woven actions are called."""
        numbers = {number for action, _ in woven for number in self._sides_of(action)}
        lines: list[str] = []
        for number in sorted(numbers):
            lines += [f"{PREFIX}Side{number} ==", *self._spec.sides[number].text]
        return lines

    def _sides_of(self, action: str) -> list[int]:
        """Number the disjuncts of Next that TLC has to walk through for an action."""
        has_places = bool(self._spec.places.get(action))
        return [
            number
            for number, side in enumerate(self._spec.sides)
            if action in (side.woven if has_places else side.calls)
        ]

    def _original(self, action: str) -> str:
        """Name an action that has another in its place, as the configuration of the user has it."""
        others = [self._instead(line, action) for line in self._spec.constants]
        return next((o for o in others if o is not None), f"{PREFIX}Original!{action}")

    def _instead(self, line: str, action: str) -> str | None:
        """Return what a line of the configuration puts in the place of an action."""
        match line.split():
            case [name, "<-", other] if name == action:
                return other
            case [name, "<-", "[", module, "]", other] if name == action:
                operator = self._spec.declarations.operators[action]
                return other if operator.module == module else None
            case _:
                return None

    def _call(self, action: str, arity: int) -> str:
        """Write when a step is one of this action: by its places in Next, or by Next itself."""
        params = [f"{PREFIX}p[{at}]" for at in range(1, arity + 1)]
        names = [f"{PREFIX}a{at}" for at in range(1, arity + 1)]
        is_woven = (action, arity) in self._woven()
        operator = self._spec.declarations.operators[action]
        call = operator.call(self._original(action) if is_woven else action, names)
        if names:  # an argument of a constant's level, as an INSTANCE may demand
            bound = ", ".join(
                [f"{name} \\in {{{param}}}" for name, param in zip(names, params, strict=True)]
            )
            call = f"\\E {bound} : {call}"
        places = self._spec.places.get(action)
        if action == self._spec.next:
            return _said(call)
        kind = self._kinds[action, arity]
        is_open = action.split("!")[-1] in self._spec.foreign
        by_next = f"({call}) /\\ {self._spec.next}"
        way = _said(by_next, mark=OPEN) if is_open else "TRUE"
        if is_woven:
            way = _said(f"ENABLED {PREFIX}Way{kind}", otherwise=way)
        if is_woven and not places:
            return way
        if not places:
            return _said(by_next, mark=OPEN if is_open else YES)
        if not arity:
            return _said(call)
        bounds = [
            " /\\ ".join(
                [f"{param} {bound}" for param, bound in zip(params, place.bounds, strict=True)]
            )
            for place in places
        ]
        return _said(" \\/ ".join([f"({bound})" for bound in bounds]), call, otherwise=way)

    def config(self) -> str:
        models, woven = self._packer.model_values, self._woven()
        instead = {action: f"{PREFIX}W{kind}" for (action, _), kind in woven.items()}
        constants = [
            _aimed(line, instead)
            for line in self._spec.constants
            if not any(self._instead(line, action) for action in instead)
        ]
        return "\n".join(
            [
                f"INIT {PREFIX}Init",
                f"NEXT {PREFIX}Next",
                f"VIEW {PREFIX}View",
                "CONSTANTS" if constants or models or instead else "",
                *[f"  {line}" for line in constants],
                *[f"  {action} <- {name}" for action, name in instead.items()],
                *[f"  {constant} = {name}" for constant, name in models.items()],
                "",
            ]
        )


def _aimed(line: str, instead: Mapping[str, str]) -> str:
    """Write `name <- A` of a configuration with what stands in the place of A: TLC asks for it."""
    tokens = line.split()
    if "<-" not in tokens or tokens[-1] not in instead:
        return line
    return " ".join([*tokens[:-1], instead[tokens[-1]]])


def _said(*conditions: str, mark: str = YES, otherwise: str = "TRUE") -> str:
    """Write: if all conditions hold, say so; the order is kept, each guards the next."""
    text = f"{mark}({PREFIX}i)"
    for condition in reversed(conditions):
        text = f"(IF {condition} THEN {text} ELSE {otherwise})"
    return text
