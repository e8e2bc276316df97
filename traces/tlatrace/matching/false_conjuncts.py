"""Say which conjunct of which action forbids a step, where it stands, and with which values.

For the action that the trace names, and for every other one, the first conjunct that is false; of
the parameters with which Next tries an action, those count that come furthest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.errors import EvaluationError, ModelGapError
from tlatrace.judgement.difference import Change, brief, call_text, difference
from tlatrace.oracle import FalseConjunct, Model, ModelState
from tlatrace.values import Value

__all__ = ["MAX_CHOICES", "ForbiddenAction", "false_conjuncts", "forbidden_action"]

MAX_CHOICES: Final = 500
"""Parameters of an action that are tried in a state."""
_TEXT_LINES: Final = 6
_RELATIONS: Final = {
    "#": "#",
    "unchanged": "=",
    "in": "\\in",
    "notin": "\\notin",
    "subseteq": "\\subseteq",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenAction:
    """An action that a step cannot be, and the first of its conjuncts that is false."""

    action: str
    params: tuple[Value, ...]
    claimed: bool
    """Whether the trace says that the step is this action with these parameters."""
    file: str
    """Name of the `.tla` file."""
    line: int
    column: int
    end_line: int
    text: str
    """The conjunct as it is written."""
    relation: str
    """"=", "<=", "\\in", ...; "" where there are no two sides to show."""
    left: Value | None
    right: Value | None
    operators: tuple[str, ...]
    """The operators of the specification that it is made of."""
    within: tuple[str, ...]
    """The definitions that lead to it, from the action."""

    @property
    def place(self) -> str:
        """Return file:line:column."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def call(self) -> str:
        """Return the action with its parameters."""
        return call_text(self.action, self.params)

    def differences(self) -> tuple[Change, ...]:
        """Return where the two sides of an equation differ; () if it is none."""
        if self.relation != "=" or self.left is None or self.right is None:
            return ()
        name = self.text.split("=")[0].strip(" /\\\n")
        return difference({name: self.right}, {name: self.left})

    def sides(self) -> str:
        """Write the values on both sides; "" if there are none."""
        if self.left is None or self.right is None:
            return ""
        return f"{brief(self.left)} {self.relation} {brief(self.right)}"


def false_conjuncts(
    model: Model,
    folders: Sequence[Path],
    action: str | None,
    params: tuple[Value, ...],
    before: ModelState | None,
    after: ModelState,
) -> tuple[tuple[ForbiddenAction, ...], tuple[str, ...]]:
    """Find what forbids a step: (for the claimed action first, then for each other; notes).

    The model must have been loaded with `conjuncts`; `folders` hold the `.tla` files; `before` None
    asks why Init forbids a state. What cannot be found out becomes a note.
    """
    notes: list[str] = []
    found: list[ForbiddenAction] = []
    named: list[tuple[str, tuple[Value, ...], bool]] = []
    if before is None:
        named = [(model.init, params, True)]
    elif action is not None and action in model.actions:
        named = [(action, params, True)]
    for name, given, claimed in named:
        try:
            adopted = model.adopt_params(name, given)
            false = model.failing_conjunct(name, adopted, before, after)
            if false is not None:
                found.append(forbidden_action(model, folders, name, given, claimed, false))
        except (EvaluationError, ModelGapError) as error:
            notes.append(f"{name}: {error}")
    if before is not None:
        for other in sorted(model.actions):
            if other != action and model.calls(other):
                found += _furthest(model, folders, other, before, after, notes)
    return tuple(found), tuple(notes)


def _furthest(
    model: Model,
    folders: Sequence[Path],
    action: str,
    before: ModelState,
    after: ModelState,
    notes: list[str],
) -> list[ForbiddenAction]:
    try:
        choices = model.choices(action, before)
    except (EvaluationError, ModelGapError) as error:
        notes.append(f"{action}: {error}")
        return []
    if len(choices) > MAX_CHOICES:
        notes.append(f"{action}: only {MAX_CHOICES} of {len(choices)} parameters were tried")
    best: tuple[FalseConjunct, tuple[Value, ...]] | None = None
    for params in choices[:MAX_CHOICES]:
        try:
            false = model.failing_conjunct(action, params, before, after)
        except (EvaluationError, ModelGapError):
            continue  # this choice has no value: TLC would stop at it, too
        if false is not None and (best is None or false.number > best[0].number):
            best = false, tuple([model.show_value(param) for param in params])
    if best is None:
        return []
    return [forbidden_action(model, folders, action, best[1], False, best[0])]


def forbidden_action(
    model: Model,
    folders: Sequence[Path],
    action: str,
    params: tuple[Value, ...],
    claimed: bool,
    false: FalseConjunct,
) -> ForbiddenAction:
    """Show what the model found, with the conjunct as it is written."""
    conjunct = false.conjunct
    place = conjunct.place
    sides = [_shown(model, side) for side in false.sides]
    return ForbiddenAction(
        action=action,
        params=params,
        claimed=claimed,
        file="" if place is None else f"{place.module}.tla",
        line=0 if place is None else place.line,
        column=0 if place is None else place.column,
        end_line=0 if place is None else place.end_line,
        text="" if place is None else _text(folders, false),
        relation=_RELATIONS.get(conjunct.relation, conjunct.relation),
        left=sides[0] if len(sides) == 2 else None,
        right=sides[1] if len(sides) == 2 else None,
        operators=conjunct.operators,
        within=conjunct.within,
    )


def _shown(model: Model, side: object) -> Value | None:
    try:
        return model.show_value(side)  # type: ignore[arg-type]  # a value of the model
    except EvaluationError:
        return None  # an infinite set has nothing to show


def _text(folders: Sequence[Path], false: FalseConjunct) -> str:
    """Cut the conjunct out of its file."""
    place = false.conjunct.place
    assert place is not None
    paths = [folder / f"{place.module}.tla" for folder in folders]
    found = [path for path in paths if path.is_file()]
    if not found:
        return ""
    lines = (
        found[0].read_text("utf-8", errors="replace").split("\n")[place.line - 1 : place.end_line]
    )
    if len(lines) == 1:
        return lines[0][place.column - 1 : place.end_column]
    shown = [lines[0][place.column - 1 :], *[line.strip() for line in lines[1:]]]
    if len(shown) > _TEXT_LINES:
        shown = [*shown[:_TEXT_LINES], "..."]
    return " ".join(shown)
