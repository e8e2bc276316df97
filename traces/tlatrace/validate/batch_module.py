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

The names of a trace never get into the text: an action is looked up among the module's operators,
and values are written by `tla_text`. The data module instances its libraries LOCALly, so that
nothing that it needs can clash with a name of the specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.validate.pack import Node, Packer
from tlatrace.validate.spec import PREFIX, SpecUnderTest
from tlatrace.validate.transition import Transition
from tlatrace.values import State, Value

__all__ = ["AT", "BATCH", "VIOLATED", "YES", "BatchItem", "StateCheck", "write_batch"]

BATCH: Final = f"{PREFIX}Batch"
_DATA: Final = f"{PREFIX}Data"
AT: Final = f"{PREFIX}At"
YES: Final = f"{PREFIX}Yes"
VIOLATED: Final = f"{PREFIX}No"

_KIND_INIT, _KIND_STATE, _KIND_NEXT = 1, 2, 3


@dataclass(frozen=True, slots=True)
class StateCheck:
    """A state whose invariants are to be evaluated."""

    state: State


BatchItem = Transition | StateCheck


def write_batch(spec: SpecUnderTest, items: Sequence[BatchItem], folder: Path) -> tuple[Path, Path]:
    """Write the modules and the configuration; return the paths of the root module and of it.

    Every transition's action must be an action of the specification with that many parameters.

    Raises:
        ModelGapError: TLC has no such value.
    """
    writer = _Writer(spec)
    for item in items:
        writer.add(item)
    module, config = folder / f"{BATCH}.tla", folder / f"{BATCH}.cfg"
    (folder / f"{_DATA}.tla").write_text(writer.data(), "utf-8")
    module.write_text(writer.root(), "utf-8")
    config.write_text(writer.config(), "utf-8")
    return module, config


class _Writer:
    """Packs the items, and numbers the actions that occur."""

    def __init__(self, spec: SpecUnderTest) -> None:
        self._spec = spec
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
            kind, before, after = _KIND_NEXT, item.pre, item.post
            if item.action is not None:
                params = item.params
                key = item.action, len(params)
                kind = self._kinds.setdefault(key, _KIND_NEXT + 1 + len(self._kinds))
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

    def _state(self, state: State) -> Node:
        known = self._states.get(id(state))
        if known is None:
            values = [state[name] for name in self._spec.variables]
            node = self._packer.tuple_of([self._packer.intern(value) for value in values])
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
                f'{VIOLATED}(i, k) == PrintT(<<"{VIOLATED}", i, k>>)',
                "====\n",
            ]
        )

    def root(self) -> str:
        spec, i = self._spec, f"{PREFIX}i"
        item = f"{PREFIX}Items[{i}]"
        assigned = [
            f"/\\ {name}@ = {PREFIX}s[{at}]" for at, name in enumerate(spec.variables, start=1)
        ]
        violated = [
            f"/\\ IF {name} THEN TRUE ELSE {VIOLATED}({i}, {at})"
            for at, name in enumerate(spec.invariants, start=1)
        ]
        cases = [f"{PREFIX}k = {_KIND_INIT} -> {_said(spec.init)}"]
        if spec.invariants:
            cases.append(f"{PREFIX}k = {_KIND_STATE} -> {PREFIX}Invariants")
        cases += [f"{PREFIX}k = {kind} -> {self._call(*key)}" for key, kind in self._kinds.items()]
        # A case that no item has must not make TLC evaluate anything.
        cases.append(f"{PREFIX}k = {_KIND_NEXT} -> {_said(spec.next)}")
        indent = "\n" + " " * 6
        return "\n".join(
            [
                f"---- MODULE {BATCH} ----",
                f"EXTENDS {spec.declarations.module}, {_DATA}",
                f"VARIABLE {i}",
                *spec.definitions,
                f"{PREFIX}View == {i}",
                f"{PREFIX}Init ==\n  /\\ {i} \\in {PREFIX}Indexes",
                f"  /\\ LET {PREFIX}s == {item}[2] IN",
                "      " + indent.join([line.replace("@", "") for line in assigned]),
                f"{PREFIX}Invariants ==",
                *([f"  {line}" for line in violated] or ["  TRUE"]),
                f"{PREFIX}Judge ==\n  LET {PREFIX}k == {item}[1]\n      {PREFIX}p == {item}[3] IN",
                "  CASE " + "\n    [] ".join(cases) + "\n    [] OTHER -> TRUE",
                f"{PREFIX}Next ==\n  /\\ {AT}({i})\n  /\\ LET {PREFIX}s == {item}[4] IN",
                "      " + indent.join([line.replace("@", "'") for line in assigned]),
                f"  /\\ {i}' = 0",
                f"  /\\ IF {PREFIX}Judge THEN TRUE ELSE TRUE",
                "  /\\ FALSE",
                "====\n",
            ]
        )

    def _call(self, action: str, arity: int) -> str:
        """Write when a step is one of this action: by its places in Next, or by Next itself."""
        params = [f"{PREFIX}p[{at}]" for at in range(1, arity + 1)]
        names = [f"{PREFIX}a{at}" for at in range(1, arity + 1)]
        call = action + (f"({', '.join(names)})" if names else "")
        if names:  # an argument of a constant's level, as an INSTANCE may demand
            bound = ", ".join(
                [f"{name} \\in {{{param}}}" for name, param in zip(names, params, strict=True)]
            )
            call = f"\\E {bound} : {call}"
        places = self._spec.places.get(action)
        if action == self._spec.next:
            return _said(call)
        if not places:
            return _said(f"({call}) /\\ {self._spec.next}")
        if not arity:
            return _said(call)
        bounds = [
            " /\\ ".join(
                [f"{param} {bound}" for param, bound in zip(params, place.bounds, strict=True)]
            )
            for place in places
        ]
        return _said(" \\/ ".join([f"({bound})" for bound in bounds]), call)

    def config(self) -> str:
        models = self._packer.model_values
        return "\n".join(
            [
                f"INIT {PREFIX}Init",
                f"NEXT {PREFIX}Next",
                f"VIEW {PREFIX}View",
                "CONSTANTS" if self._spec.constants or models else "",
                *[f"  {line}" for line in self._spec.constants],
                *[f"  {constant} = {name}" for constant, name in models.items()],
                "",
            ]
        )


def _said(*conditions: str) -> str:
    """Write: if all conditions hold, say so; the order is kept, each guards the next."""
    text = f"{YES}({PREFIX}i)"
    for condition in reversed(conditions):
        text = f"(IF {condition} THEN {text} ELSE TRUE)"
    return text
