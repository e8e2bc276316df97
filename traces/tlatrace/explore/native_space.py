"""The states of a specification as machine code finds them.

A state is the word of its tuple, alone in a tuple of Python: what a search compares and keeps.
Where a step, or an answer, is not sure, there is no search (`NotSure`): the model makes it then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tlatrace.compiler.model_source import NativeSource
from tlatrace.errors import TlatraceError
from tlatrace.oracle.model import Model
from tlatrace.oracle.native import PERMUTED, Addition, NativeModel
from tlatrace.oracle.states import ModelState, Step
from tlatrace.runtime.values import Atom, RuntimeValue
from tlatrace.runtime.words import layout

__all__ = ["NODES", "TABLE", "Asked", "NativeSpace", "NotSure"]

TABLE: Final = 1 << 24
NODES: Final = 1 << 28
"""Two gigabytes, of which only what is used is there."""

_PARTS: Final = ("initial property", "property", "invariant")
"""What a property may say something of: initial states, steps, all states."""
_TWICE: Final = 2
"""Times that the invariants of a model name what is an INVARIANT and a property, too."""


class NotSure(TlatraceError):
    """Machine code does not know: Python does, or says why there is no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a search asks of a model, which is all but what is `left`; all of it is written."""

    native: NativeSource
    """Without the functions that it does not ask."""
    invariants: tuple[str, ...]
    """Roles, as those that follow."""
    constraints: tuple[str, ...]
    action_constraints: tuple[str, ...]
    properties: tuple[str, ...]
    initial_properties: tuple[str, ...]
    view: str | None
    left: tuple[str, ...]
    """Properties of which something was not written: somebody else has to ask them."""

    @staticmethod
    def of(model: Model, view: str | None = None) -> Asked:
        """Find it in what was written for a model that was loaded with `native`.

        Raises:
            NotSure: something was not written.
        """
        native = model.source.native
        assert native is not None
        roles = [role for role, _ in (*native.functions, *native.unlowered)]
        left = _left(model, frozenset([role for role, _ in native.unlowered]))
        invariants = tuple([f"invariant {name}" for name in model.invariants if name not in left])
        constraints = tuple([role for role in roles if role.startswith("constraint ")])
        actions = tuple([role for role in roles if role.startswith("action constraint ")])
        said = [role for role in roles if role not in {f"{a} {b}" for a in _PARTS for b in left}]
        properties = tuple([role for role in said if role.startswith("property ")])
        initially = tuple([role for role in said if role.startswith("initial property ")])
        views = [] if view is None else [f"expression {view}"]
        needed = frozenset(["steps", "initials", *invariants, *constraints, *actions, *views])
        needed |= {*properties, *initially}
        for role, why in native.unlowered:
            if role in needed:
                raise NotSure(f"{role}: {why}")
        functions = tuple([one for one in native.functions if one[0] in needed])
        return Asked(
            native=replace(native, functions=functions),
            invariants=invariants,
            constraints=constraints,
            action_constraints=actions,
            properties=properties,
            initial_properties=initially,
            view=next(iter(views), None),
            left=left,
        )


def _left(model: Model, unlowered: Collection[str]) -> tuple[str, ...]:
    """Name the properties that are not written; none that is an INVARIANT, too."""
    return tuple(
        [
            name
            for name in model.properties
            if any(f"{part} {name}" in unlowered for part in _PARTS)
            and model.invariants.count(name) < _TWICE
        ]
    )


class NativeSpace(NativeModel):
    """A `StateSpace` for the model that it is made of."""

    def __init__(
        self,
        model: Model,
        *,
        table: int = TABLE,
        nodes: int = NODES,
        view: str | None = None,
        addition: Addition | None = None,
    ) -> None:
        """Open the machine code of a model that was loaded with `native`.

        Raises:
            NotSure: its steps, or its constraints, stay Python's.
        """
        asked = Asked.of(model, view)
        source = replace(model.source, native=asked.native)
        super().__init__(source, table=table, nodes=nodes, addition=addition)
        self._labels = asked.native.labels
        self.left = asked.left
        self._invariants = [
            (role.removeprefix("invariant "), self._function(role)) for role in asked.invariants
        ]
        self._constraints = [self._function(role) for role in asked.constraints]
        self._action_constraints = [self._function(role) for role in asked.action_constraints]
        self._properties = [
            (role.removeprefix("property "), self._function(role)) for role in asked.properties
        ]
        self._initial_properties = [
            (role.removeprefix("initial property "), self._function(role))
            for role in asked.initial_properties
        ]
        self._listing = self._function("steps"), self._function("initials")

    def _function(self, role: str) -> Callable[..., int]:
        found = self._roles.get(role)
        if found is None:
            raise NotSure(f"{role}: {self.unlowered.get(role, 'it was not written')}")
        return found

    # ---- a state space ----

    def initial_states(self) -> Sequence[ModelState]:
        """List the initial states, each once."""
        return list(dict.fromkeys([step.post for step in self._listed_by(self._listing[1], 0)]))

    def successors(self, state: ModelState) -> Sequence[Step]:
        """List every step that Next allows from a state, each once."""
        return list(dict.fromkeys(self._listed_by(self._listing[0], _parts(state))))

    def violated(self, state: ModelState) -> tuple[str, ...]:
        """Name the invariants that are FALSE in a state."""
        at = _parts(state)
        return tuple([name for name, asked in self._invariants if not self._answer(asked, at, at)])

    def broken(self, pre: ModelState | None, post: ModelState) -> tuple[str, ...]:
        """Name the properties that a step breaks, or an initial state where `pre` is None."""
        before, after = _parts(post if pre is None else pre), _parts(post)
        properties = self._initial_properties if pre is None else self._properties
        return tuple([name for name, asked in properties if not self._answer(asked, before, after)])

    def within(self, state: ModelState) -> bool:
        """Tell whether the configuration's constraints have the state explored."""
        at = _parts(state)
        return all(self._answer(asked, at, at) for asked in self._constraints)

    def within_step(self, pre: ModelState, post: ModelState) -> bool:
        """Tell whether the configuration's action constraints have the step explored."""
        return all(
            self._answer(asked, _parts(pre), _parts(post)) for asked in self._action_constraints
        )

    def _answer(self, asked: Callable[..., int], before: int, after: int) -> bool:
        answer = asked(before, after, self._arguments)
        if answer == 2 or self._memory[layout.FULL]:
            raise self._not_sure()
        return answer == 1

    def _not_sure(self) -> NotSure:
        if self._memory[layout.FULL]:
            return NotSure("the states do not fit into memory")
        return NotSure("something has no value, or none that is sure")

    def _listed_by(self, listing: Callable[..., int], before: int) -> Iterator[Step]:
        memory, at = self._memory, self._listed
        memory[layout.LISTED] = at
        memory[layout.STACK] = self._stack
        if listing(before, self._after, self._arguments) != 1 or memory[layout.FULL]:
            raise self._not_sure()
        end = memory[layout.LISTED]
        while at < end:
            name, arity = self._labels[memory[at]]
            params: tuple[RuntimeValue, ...] = tuple(memory[at + 1 : at + 1 + arity])
            at += arity + 2
            yield Step(name, params, (memory[at - 1],))

    # ---- values ----

    def shown(self, state: ModelState) -> ModelState:
        """Return a state as the compiled model has it."""
        (word,) = state
        value = self.value(word)
        assert isinstance(value, tuple)
        return value

    # ---- symmetry ----

    def tables(self, permutations: Sequence[Mapping[RuntimeValue, RuntimeValue]]) -> range:
        """Put each permutation of model values into a table; return where those begin.

        Raises:
            NotSure: there are too many of them.
        """
        names = list(self._names)
        if len(permutations) * len(names) > PERMUTED:
            raise NotSure("there are too many permutations")
        step = max(len(names), 1)
        found = range(self._permuted, self._permuted + step * len(permutations), step)
        for table, permutation in zip(found, permutations, strict=True):
            for at, name in enumerate(names):
                if isinstance(name, Atom):
                    self._memory[table + at] = self._word(permutation.get(name, name))
        return found


def _parts(state: ModelState) -> int:
    """Return where the parts of a state stand."""
    (word,) = state
    assert isinstance(word, int)
    return (word >> 3) + 1
