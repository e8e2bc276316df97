r"""Theorem ConsistentPoint: a slave cuts its log exactly where it stops being its master's.

In words: when two logs are described by their epoch caches, then the consistent point that the
back to front comparison of the caches yields is the length of the longest common prefix of the
logs. It is *sound*: nothing is kept that the master does not have. And it is *maximal*: nothing is
cut that the master has, and that may have been acknowledged. Together that is the invariant
ConsistentPointExact of EpochTruncation.

The formulas are generated from the TLA+ text: from the operator ConsistentPoint and the invariants
of EpochTruncation, and from ConsistentPointTheorem, which has what is assumed besides, and the two
claims. TLC looks at logs with three records; here offsets, epochs, and the lengths of logs are
arbitrary integers. Only the number of entries of a cache is bounded. There are two brokers: nothing
that is assumed or claimed speaks of more at a time.

Of EpochStartUnique and the comparison of starts in the rule one is enough; without both the rule is
not sound.

A false variant puts another rule (FalseConsistentPoint) in the place of ConsistentPoint.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import z3

from tlatrace.proofs import Assumption, Claim, Induction, Lemma
from tlatrace.runtime.values import model_value
from tlatrace.symbolic import Specification, open_specification
from tlatrace.symbolic.shapes import (
    INTEGER,
    Enumeration,
    FunctionOn,
    SequenceAtMost,
    SequenceOf,
    record,
)
from tlatrace.symbolic.showing import shown_state
from tlatrace.symbolic.values import Shape
from tlatrace.tla.config import parse_config
from tlatrace.tools.spec_root import find_spec_root

__all__ = [
    "ASSUMPTIONS",
    "BROKERS",
    "CLAIMS",
    "NAME",
    "VARIANTS",
    "Variant",
    "false_variant",
    "opened",
    "theorem",
]

NAME: Final = "ConsistentPoint"

BROKERS: Final = ("slave", "master")
_CONSTANTS: Final = f"CONSTANTS Broker = {{{', '.join(BROKERS)}}} None = none\n"
_FOLDER: Final = "epoch_truncation"
_RIGHT: Final = "ConsistentPointTheorem.tla"
_FALSE: Final = "FalseConsistentPoint.tla"
_WITNESS: Final = "Diverged"
_SMALL: Final = 4
"""Counterexamples with numbers up to this are looked for first."""

ASSUMPTIONS: Final[Mapping[str, str]] = {
    "Naturals": "Offsets are natural numbers; each record is of a master's epoch.",
    "EpochWellFormed": "From entry to entry, epochs and starts grow.",
    "EpochLeLog": "No entry starts beyond the log end; it may start there, without records yet.",
    "EpochFaithful": "The entry that covers a record has its epoch.",
    "EpochStartUnique": "An epoch that both caches have starts at the same offset in both.",
    "MasterEpochHistory": "Who knows an epoch has what was written before it: where both caches "
    "have an epoch, the logs agree up to its start.",
}
"""Of EpochTruncation, and of ConsistentPointTheorem: (name, in words)."""

CLAIMS: Final[Mapping[str, str]] = {
    "Sound": "Before the consistent point, both logs have the same records.",
    "Maximal": "At the consistent point, one log ends, or their records are not the same.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A theorem that is false: another rule."""

    name: str
    """That of the operator in FalseConsistentPoint."""
    description: str


VARIANTS: Final = (
    Variant(name="OwnEnd", description="the consistent point ignores the master's end (MinEnd)"),
    Variant(name="FirstMatch", description="the caches are compared from front to back"),
    Variant(name="StartsOnly", description="entries are compared by their offsets alone"),
)
"""Those that the command shows; tests try more."""


def _shapes(entries: int) -> dict[str, Shape]:
    """Return what the variables look like that formulas read."""
    entry = record({"e": INTEGER, "s": INTEGER, "end": INTEGER})
    of_each: dict[str, Shape] = {
        "role": Enumeration(("Slave", "Master", "Down")),
        "log": SequenceOf(INTEGER),
        "epochs": SequenceAtMost(entries, entry),
    }
    return {
        name: FunctionOn(tuple([(model_value(broker), shape) for broker in BROKERS]))
        for name, shape in of_each.items()
    }


def opened(
    entries: int, *, rule: str | None = None, spec_root: Path | None = None
) -> Specification:
    """Read the specification, for caches of at most so many entries; `rule` is a false one.

    Raises:
        TlatraceError: there is no Java, or the text has a form that is not understood.
    """
    folder = find_spec_root(spec_root) / _FOLDER
    module = folder / "proofs" / (_RIGHT if rule is None else _FALSE)
    override = "" if rule is None else f"ConsistentPoint <- {rule}\n"
    return open_specification(
        module,
        parse_config(_CONSTANTS + override, module),
        _shapes(entries),
        libraries=(folder,),
        steps=False,
    )


def theorem(
    entries: int,
    *,
    rule: str | None = None,
    without: Collection[str] = (),
    spec_root: Path | None = None,
) -> Induction:
    """State the theorem for caches of at most so many entries.

    `rule` and `without` (names of assumptions) state other theorems, most of them false: the prover
    must tell them apart.

    Raises:
        TlatraceError: see `opened`.
    """
    assert entries >= 2
    specification = opened(entries, rule=rule, spec_root=spec_root)
    state = specification.before

    def describe(model: z3.ModelRef) -> str:
        return "\n".join(shown_state(specification.variables, state, model))

    lemma = Lemma(
        name=rule or NAME,
        premises=(
            specification.assumed,
            *[specification.holds(name, state) for name in ASSUMPTIONS if name not in without],
        ),
        claims=tuple(
            [
                Claim(name=name, description=text, formula=specification.holds(name, state))
                for name, text in CLAIMS.items()
            ]
        ),
        readable=specification.small(_SMALL),
        describe=describe,
        witness=specification.holds(_WITNESS, state),
    )
    return Induction(
        name=NAME if rule is None else f"{NAME} with {rule}",
        statement="The consistent point of two epoch caches is the length of the longest common "
        f"prefix of the logs, for caches of at most {entries} entries and logs of any size.",
        lemmas=(lemma,),
        not_shown="That the protocol keeps the assumptions (TLC does, in small models), and that "
        "records of one offset and epoch have the same bytes (EpochPerIncarnation).",
        assumptions=tuple(
            [
                Assumption(name=name, description=text)
                for name, text in ASSUMPTIONS.items()
                if name not in without
            ]
        ),
    )


def false_variant(variant: Variant, entries: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem of another rule."""
    return theorem(entries, rule=variant.name, spec_root=spec_root)
