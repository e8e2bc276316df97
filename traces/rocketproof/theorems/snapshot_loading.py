r"""Theorem SnapshotLoading: what is loaded, and replayed behind it, is the fold of the log.

In words: whatever entries are applied, wherever snapshots are saved, deleted and installed,
wherever the log is cut, and whichever snapshot a start loads, the state is that of all entries up
to the one that was applied last, and the next one is in the log.

TLC says so of four entries; here indexes are arbitrary integers, and so is the number of snapshots:
they are functions of the index. The formulas are written by hand, beside the TLA+ text:

    Fold(n)                            `fold`, of which `unfolded` says what one entry adds
    s \in snaps, s.idx, s.state        `State.has(idx)`, `State.content(idx)`: whole files
    lastSnap                           `State.best`

States are tables, and the theorem looks at one key of them, any: `touches(i)` says that entry i is
about that key, `value(i)` what it writes there, ABSENT if it removes it. Every step treats all keys
alike, so what holds for any key holds for the table.

An invariant about all snapshots is looked at for one index, any; a step may use it for that index
and for the snapshot that it loads or cuts at.

Not shown: that a file on the disk has what was written to it (the steps of a save, power cuts):
TLC does that, and the tests of the implementation. Logs of leaders that do not last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import z3

from tlatrace.proofs import Claim, Induction, Lemma

__all__ = [
    "NAME",
    "RIGHT",
    "VARIANTS",
    "Rules",
    "State",
    "Step",
    "Variant",
    "any_state",
    "false_variant",
    "history",
    "steps_from",
    "theorem",
]

NAME: Final = "SnapshotLoading"

Number: TypeAlias = z3.ArithRef

_ABSENT: Final = 0
_SMALL: Final = 4

_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "SnapExact": "The state is the fold of the entries up to the one that was applied last.",
    "FilesExact": "So is every snapshot, up to its index.",
    "PrefixCovered": "Where the log is cut, there is a snapshot that stands for what is gone.",
    "LoadContiguous": "The next entry is in the log, or will be the next one there.",
    "Numbers": "Indexes are natural numbers; no snapshot is ahead of the state.",
}

_fold: Final = z3.Function("fold", z3.IntSort(), z3.IntSort())
_touches: Final = z3.Function("touches", z3.IntSort(), z3.BoolSort())
_value: Final = z3.Function("value", z3.IntSort(), z3.IntSort())
_stays: Final = z3.Function("stays", z3.IntSort(), z3.BoolSort())


def history(touches: Callable[[int], bool], value: Callable[[int], int], size: int) -> z3.BoolRef:
    """Say what the first entries of a history do to the key."""
    entries = [z3.And(_touches(i) == touches(i), _value(i) == value(i)) for i in range(1, size + 1)]
    return z3.And(*entries, *[unfolded(z3.IntVal(i)) for i in range(size + 1)])


def unfolded(index: Number) -> z3.BoolRef:
    """Say what an entry adds to the fold of those before it."""
    after = z3.If(_touches(index), _value(index), _fold(index - 1))
    return _fold(index) == z3.If(index == 0, z3.IntVal(_ABSENT), after)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A node, as z3 terms."""

    begin: Number
    end: Number
    applied: Number
    sm: Number
    """What it has at the key."""
    best: Number
    """The last snapshot that was read back; 0: there is none."""
    has: Callable[[Number], z3.BoolRef]
    content: Callable[[Number], Number]

    def invariants(self, index: Number) -> dict[str, z3.BoolRef]:
        """Say what holds; of all snapshots the one of this index is looked at."""
        return {
            "SnapExact": self.sm == _fold(self.applied),
            "FilesExact": z3.Implies(
                self.has(index), z3.And(index >= 1, self.content(index) == _fold(index))
            ),
            "PrefixCovered": z3.And(
                z3.Implies(self.begin > 1, z3.And(self.best > 0, self.begin <= self.best + 1)),
                z3.Implies(self.best > 0, self.has(self.best)),
            ),
            "LoadContiguous": z3.And(self.begin <= self.applied + 1, self.applied <= self.end),
            "Numbers": z3.And(
                self.begin >= 1, self.best >= 0, self.best <= self.applied, self.applied >= 0
            ),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of the specification that a bug replaces."""

    loaded: Callable[[Number, Number], Number] = lambda _old, new: new
    """Spec: SnapshotLoading!Loaded"""
    continues: Callable[[State, Number], z3.BoolRef] = lambda s, x: s.begin <= x + 1
    """Spec: SnapshotLoading!Continues"""
    may_cut: Callable[[State, Number], z3.BoolRef] = lambda s, x: z3.And(s.has(x), x <= s.best)
    """Spec: SnapshotLoading!CutTo"""
    saved_at: Callable[[State], Number] = lambda s: s.applied
    """Spec: SnapshotLoading!SnapIndex"""


RIGHT: Final = Rules()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A theorem that is false: the protocol with a bug."""

    name: str
    """That of the mutant."""
    description: str
    rules: Rules


VARIANTS: Final = (
    Variant(
        name="B53",
        description="a snapshot is added to the state that is there",
        rules=Rules(loaded=lambda old, new: z3.If(new == _ABSENT, old, new)),
    ),
    Variant(
        name="B57",
        description="a snapshot is loaded although the log does not go on behind it",
        rules=Rules(continues=lambda _s, _x: z3.BoolVal(True)),
    ),
    Variant(
        name="B68",
        description="the log is cut without a snapshot",
        rules=Rules(may_cut=lambda s, x: x <= s.applied),
    ),
    Variant(
        name="SnapAtApplied",
        description="a snapshot has the index of the last entry in the log, not of the last "
        "one applied",
        rules=Rules(saved_at=lambda s: s.end),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action: when it is possible, and what the node is after it."""

    name: str
    possible: z3.BoolRef
    post: State


def theorem() -> Induction:
    """State the theorem."""
    return _induction(
        NAME,
        "Whatever is saved, cut, loaded and installed, the state is the fold of the log, for "
        "logs and snapshots of any number.",
        RIGHT,
    )


def false_variant(variant: Variant) -> Induction:
    """State the theorem of a protocol with a bug."""
    return _induction(f"{NAME} with {variant.name}", variant.description, variant.rules)


def _induction(name: str, statement: str, rules: Rules) -> Induction:
    before, x, index = any_state(), z3.Int("x"), z3.Int("index")
    lemmas = [_lemma(None, Step(name="Init", possible=_fold(0) == _ABSENT, post=_initial()), x)]
    for step in steps_from(before, x, rules):
        premises = [
            *before.invariants(index).values(),
            *before.invariants(x).values(),
            *before.invariants(before.applied).values(),
            *[unfolded(at) for at in (z3.IntVal(0), before.applied + 1)],
        ]
        lemmas.append(_lemma(before, step, index, *premises))
    return Induction(
        name=name,
        statement=statement,
        lemmas=tuple(lemmas),
        not_shown="The steps of a save and power cuts between them; logs of leaders that do not "
        "last; liveness: TLC checks those in small models.",
    )


def any_state() -> State:
    has = z3.Function("has", z3.IntSort(), z3.BoolSort())
    content = z3.Function("content", z3.IntSort(), z3.IntSort())
    begin, end, applied, sm, best = z3.Ints("begin end applied sm best")
    return State(begin=begin, end=end, applied=applied, sm=sm, best=best, has=has, content=content)


def _initial() -> State:
    zero = z3.IntVal(0)
    return State(
        begin=z3.IntVal(1),
        end=zero,
        applied=zero,
        sm=z3.IntVal(_ABSENT),
        best=zero,
        has=lambda _: z3.BoolVal(False),
        content=lambda _: z3.IntVal(_ABSENT),
    )


def steps_from(s: State, x: Number, rules: Rules = RIGHT) -> tuple[Step, ...]:
    """Give all steps from a state; x is the parameter of a step that has one.

    A save and an install have two each: the file is there, then it counts, or is loaded. `_stays`
    says which files are not lost by a power cut, a deletion or damage.
    """
    next_value = z3.If(_touches(s.applied + 1), _value(s.applied + 1), s.sm)
    saved = rules.saved_at(s)
    fewer = replace(s, has=lambda j: z3.And(_stays(j), s.has(j)))
    return (
        Step(name="AppendEntry", possible=z3.BoolVal(True), post=replace(s, end=s.end + 1)),
        Step(
            name="Apply",
            possible=s.applied < s.end,
            post=replace(s, applied=s.applied + 1, sm=next_value),
        ),
        Step(name="Save", possible=s.applied > 0, post=_with_file(s, saved, s.sm)),
        Step(name="Offer", possible=x > 0, post=_with_file(s, x, _fold(x))),
        Step(
            name="ReadBack",
            possible=z3.And(s.has(x), s.best <= x, x <= s.applied),
            post=replace(s, best=x),
        ),
        Step(name="Forget", possible=z3.Or(s.best == 0, _stays(s.best)), post=fewer),
        Step(
            name="CutLog",
            possible=z3.And(s.begin <= x, x <= s.end, rules.may_cut(s, x)),
            post=replace(s, begin=x + 1),
        ),
        Step(
            name="LoadNewest",
            possible=z3.And(s.has(x), _stays(x), rules.continues(s, x)),
            post=_taken(fewer, x, rules.loaded(z3.IntVal(_ABSENT), s.content(x))),
        ),
        Step(
            name="Replay",
            possible=s.begin == 1,
            post=replace(fewer, applied=z3.IntVal(0), sm=z3.IntVal(_ABSENT), best=z3.IntVal(0)),
        ),
        Step(
            name="Install",
            possible=z3.And(s.has(x), x >= s.applied),
            post=_taken(s, x, rules.loaded(s.sm, s.content(x))),
        ),
    )


def _with_file(s: State, index: Number, content: Number) -> State:
    return replace(
        s,
        has=lambda j: z3.Or(j == index, s.has(j)),
        content=lambda j: z3.If(j == index, content, s.content(j)),
    )


def _taken(s: State, x: Number, sm: Number) -> State:
    """Put a snapshot in the place of the state, and of a log that ends before it."""
    keeps = x <= s.end
    return replace(
        s,
        begin=z3.If(keeps, s.begin, x + 1),
        end=z3.If(keeps, s.end, x),
        applied=x,
        sm=sm,
        best=x,
    )


def _lemma(before: State | None, step: Step, index: Number, *premises: z3.BoolRef) -> Lemma:
    claims = step.post.invariants(index)
    names = ("begin", "end", "applied", "sm", "best")

    def describe(model: z3.ModelRef) -> str:
        def shown(state: State) -> str:
            values = {name: getattr(state, name) for name in names}
            return ", ".join(
                f"{name} = {model.eval(value, model_completion=True)}"
                for name, value in values.items()
            )

        after = f"-- {step.name} -->\n{shown(step.post)}"
        return after if before is None else f"{shown(before)}\n{after}"

    numbers = [] if before is None else [before.begin, before.end, before.applied, before.best]
    return Lemma(
        name=step.name,
        premises=(*premises, step.possible),
        claims=tuple(
            Claim(name=name, description=_DESCRIPTIONS[name], formula=formula)
            for name, formula in claims.items()
        ),
        readable=z3.And(z3.BoolVal(True), *[z3.And(n >= 0, n <= _SMALL) for n in numbers]),
        describe=describe,
    )
