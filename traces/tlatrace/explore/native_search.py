"""Check a model by a search that is machine code, too: as `checking`, but for who searches.

Python says how far to go, shows a way by asking for the steps on it again, and has the last word
where something is not sure (`NotSure`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from tlatrace.compiler.emit_native.searching import asked_text
from tlatrace.explore.checking import ActionCount, CheckedModel, PathState, path_along
from tlatrace.explore.native_space import NODES, TABLE, Asked, NativeSpace
from tlatrace.oracle.model import Model
from tlatrace.oracle.native import Addition
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue
from tlatrace.runtime.words import layout, search_text
from tlatrace.runtime.words import searching as words
from tlatrace.tools.tlc_output import Outcome

__all__ = ["NativeSearch", "check_natively"]

_AT_ONCE: Final = 1000
"""Expanded states."""
_SEEN: Final = 1 << 12
_IMAGES: Final = 1 << 17
_TAKEN: Final = 1 << 12
_LIST: Final = 1 << 23
"""Words for the steps of a state, or for all initial states."""
_MOST_TAKEN: Final = 2 * _LIST
_SAMPLE: Final = 500
"""States, of which somebody may ask why an action was never taken."""
_FUNCTIONS: Final = (("begin", 1), ("search", 3))
_ANY: Final = 1 << 60


class NativeSearch(NativeSpace):
    """A search that has not begun."""

    def __init__(
        self,
        model: Model,
        *,
        permutations: Sequence[Mapping[RuntimeValue, RuntimeValue]] = (),
        view: str | None = None,
        deadlock: bool = True,
        table: int = TABLE,
        nodes: int = NODES,
    ) -> None:
        """Open the machine code of a model that was loaded with `native`, and of a search.

        States that are images of each other under the permutations count once, and so do those
        with the same value of `view`, an expression that the model was loaded with. `deadlock`:
        whether a state without a successor ends the search.

        Raises:
            NotSure: something that the search asks stays Python's, or does not fit.
        """
        native = model.source.native
        assert native is not None, model.module
        room = _room(table, labels=len(native.labels))
        super().__init__(
            model,
            table=table,
            nodes=nodes,
            view=view,
            addition=Addition(
                text=f"{_asked(model, view)}\n{search_text()}",
                functions=_FUNCTIONS,
                words=room,
            ),
        )
        self._q = q = self._room
        states = q + words.SEARCH_WORDS + 2 * len(native.labels)
        images = states + 2 * table
        taken = images + 3 * _IMAGES
        self._listed = taken + 2 * _MOST_TAKEN
        self._memory[layout.LISTED_END] = seen = self._listed + _LIST
        tables = self.tables(permutations)
        for place, word in (
            (words.FOUND_MOST, table),
            (words.STATES, states),
            (words.IMAGES, images),
            (words.IMAGES_MASK, _IMAGES - 1),
            (words.TAKEN, taken),
            (words.TAKEN_MASK, _TAKEN - 1),
            (words.SEEN, seen),
            (words.SEEN_MASK, min(_SEEN, table) - 1),
            (words.SEEN_END, q + room),
            (words.PERMUTATIONS, tables.start),
            (words.PERMUTATIONS_END, tables.stop),
            (words.PERMUTATION_SIZE, tables.step),
            (words.LIST, self._listed),
            (words.BOTTOM, self._stack),
            (words.AFTER, self._after),
            (words.ARGUMENTS, self._arguments),
            (words.DEADLOCK, int(deadlock)),
            (words.VIEWED, int(view is not None)),
            (words.ACTIONS, q + words.SEARCH_WORDS),
        ):
            self._memory[q + place] = word

    def begin(self) -> None:
        """Look at the initial states.

        Raises:
            NotSure: Init, a constraint, or an invariant is not sure.
        """
        if self._added["begin"](self._q) == words.NOT_SURE:
            raise self._not_sure()

    def go_on(self, most: int | None) -> int:
        """Expand some states, and say how it goes on: one of the words of `searching`.

        Raises:
            NotSure: a step, a constraint, or an invariant is not sure.
        """
        answer = self._added["search"](_AT_ONCE, _ANY if most is None else most, self._q)
        if answer == words.NOT_SURE:
            raise self._not_sure()
        return answer

    def _own(self, name: int) -> int:
        return self._memory[self._q + name]

    @property
    def found(self) -> int:
        """How many states there are so far."""
        return self._own(words.FOUND)

    @property
    def expanded(self) -> int:
        """How many of them have been expanded."""
        return self._own(words.EXPANDED)

    @property
    def generated(self) -> int:
        """Initial states and steps, as `explorer.Search` counts them."""
        return self._own(words.GENERATED)

    def actions(self) -> tuple[ActionCount, ...]:
        """Count the steps of each action, and the states that they found."""
        counts: dict[str, tuple[int, int]] = {}
        place = self._own(words.ACTIONS)
        for name, _ in self._labels:  # of an action, too, that Next calls in several ways
            generated, new = counts.get(name, (0, 0))
            counts[name] = generated + self._memory[place], new + self._memory[place + 1]
            place += 2
        return tuple([ActionCount(name, *both) for name, both in counts.items()])

    def sample(self, most: int) -> tuple[ModelState, ...]:
        """Return so many states that were found, or all, from the first to the last."""
        step = max(self.found // most, 1)
        numbers = range(0, self.found, step)[:most]
        places = [self._own(words.STATES) + 2 * number for number in numbers]
        return tuple([self.shown((self._memory[place],)) for place in places])

    @property
    def depth(self) -> int:
        """The number of states on the longest of the shortest ways."""
        return self._own(words.LEVEL) + (self.found > self._own(words.LEVEL_END))

    @property
    def is_broken(self) -> bool:
        """Whether the step to the violating state, or it as an initial one, breaks a property."""
        return self._own(words.BROKEN) == 1

    def violating(self) -> tuple[ModelState, int]:
        """Return the first state that something is wrong with, and the one before it, or -1."""
        return (self._own(words.VIOLATING),), self._own(words.VIOLATING_SOURCE)

    def way_to(self, number: int) -> list[ModelState]:
        """Return a shortest way to a state; none to -1."""
        way: list[ModelState] = []
        while number >= 0:
            place = self._own(words.STATES) + 2 * number
            way.append((self._memory[place],))
            number = self._memory[place + 1]
        return way[::-1]


def check_natively(
    model: Model,
    *,
    permutations: Sequence[Mapping[RuntimeValue, RuntimeValue]] = (),
    view: str | None = None,
    deadlock: bool = True,
    max_states: int | None = None,
    timeout_s: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> CheckedModel:
    """Search as `check_model` does, with the same answers; limits are looked at less often.

    Raises:
        NotSure: machine code is not sure, so nothing is known.
    """
    search = NativeSearch(model, permutations=permutations, view=view, deadlock=deadlock)
    started = clock()
    search.begin()
    answer = words.MORE_TO_DO
    while answer == words.MORE_TO_DO:
        if timeout_s is not None and clock() - started > timeout_s:
            return _ended(search, Outcome.TIMEOUT, why=f"it was not done after {timeout_s:g} s")
        answer = search.go_on(max_states)
        if on_progress is not None:
            on_progress(search.found, search.expanded)
    match answer:
        case words.VIOLATED:
            state, before = search.violating()
            way = [*search.way_to(before), state]
            if search.is_broken:
                names = search.broken(way[-2] if before >= 0 else None, state)
                return _ended(search, Outcome.ACTION_PROPERTY, way, violated=names[0])
            return _ended(search, Outcome.INVARIANT, way, violated=search.violated(state)[0])
        case words.DEADLOCKED:
            return _ended(search, Outcome.DEADLOCK, search.way_to(search.expanded))
        case words.TOO_MANY:
            why = f"there are more than {max_states:,} states"
            return _ended(search, Outcome.TIMEOUT, why=why)
        case _ if search.found == 0:
            why = "there is no initial state within the constraints"
            return _ended(search, Outcome.EVALUATION_ERROR, why=why)
        case _:
            return _ended(search, Outcome.SUCCESS)


def _ended(
    search: NativeSearch,
    outcome: Outcome,
    way: Sequence[ModelState] = (),
    *,
    violated: str | None = None,
    why: str = "",
) -> CheckedModel:
    counts = search.found, search.generated, search.depth
    path = [
        PathState(one.action, tuple(map(search.value, one.params)), search.shown(one.state))
        for one in path_along(search, way)
    ]
    actions = search.actions()
    is_asked = outcome is Outcome.SUCCESS and not all(one.generated for one in actions)
    return CheckedModel(
        outcome=outcome,
        violated=violated,
        distinct=counts[0],
        generated=counts[1],
        depth=counts[2],
        path=tuple(path),
        message=why,
        actions=actions,
        unasked=search.left,
        sample=search.sample(_SAMPLE) if is_asked else (),
    )


def _asked(model: Model, view: str | None) -> str:
    asked = Asked.of(model, view)
    return asked_text(
        asked.native,
        invariants=asked.invariants,
        constraints=asked.constraints,
        action_constraints=asked.action_constraints,
        properties=asked.properties,
        initial_properties=asked.initial_properties,
        view=asked.view,
    )


def _room(table: int, *, labels: int) -> int:
    """Return how many words a search needs where there may be so many nodes.

    What was seen is kept in tables that follow each other, each of twice the size.
    """
    own, seen = words.SEARCH_WORDS + 2 * labels, 2 * 4 * table
    return own + 2 * table + 3 * _IMAGES + 2 * _MOST_TAKEN + _LIST + seen
