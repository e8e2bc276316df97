r"""Theorem MetaMonotone: a master that comes back has what every slave knew that was there.

In words: a master that takes a slave's table has then no smaller offset of any queue than that
slave, and none that is smaller than its own was; before it is online it has met everybody who was
there; in isolation it serves nobody. PreOnlineAll and the invariants beside it hold at the
beginning, and each action keeps them, from every state in which they hold; and each step from such
a state is one that the properties of steps allow.

The formulas are generated from the TLA+ text: from Init, Next and the properties of PreOnline, and
from InductivePreOnline, which adds what an induction needs. TLC looks at offsets up to two; here
offsets, versions, the changes since a version has moved and the step by which it moves are
arbitrary numbers. Only the slaves are bounded, and queues are two: more of them are as these,
since no step compares the offsets of one queue with those of another one.

A false variant puts operators of a real bug (spec/pre_online/mutants) in the place of the right
ones: that versions decide is one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rocketproof.theorems.inductions import Statement, Variant, induction
from tlatrace.proofs import Induction
from tlatrace.runtime.values import RuntimeValue, model_value
from tlatrace.symbolic import Specification, open_specification
from tlatrace.symbolic.shapes import (
    BOOLEAN,
    INTEGER,
    AtMost,
    Enumeration,
    FunctionOn,
    record,
)
from tlatrace.symbolic.values import Shape
from tlatrace.tla.config import parse_config
from tlatrace.tools.spec_root import find_spec_root

__all__ = [
    "INVARIANTS",
    "NAME",
    "STEPS",
    "VARIANTS",
    "false_variant",
    "opened",
    "theorem",
]

NAME: Final = "MetaMonotone"

_FOLDER: Final = "pre_online"
_RIGHT: Final = "InductivePreOnline.tla"
_FALSE: Final = "FalsePreOnline.tla"
_QUEUES: Final = ("q1", "q2")
_STEP: Final = "Step"
_BOUNDS: Final = "MaxOffset = 0\n"
"""Of the finite models, whose module the mutants extend; nothing here reads it."""

INVARIANTS: Final[Mapping[str, str]] = {
    "PreOnlineAll": "A master that is online has met everybody who was there.",
    "Brokers": "Who is registered, asked and met are brokers of the group.",
    "Naturals": "Offsets and versions are natural numbers.",
    "ThereInGroup": "Who was there is still registered.",
    "Silent": "Who is down serves nobody, and a master that waits does not.",
    "Waits": "A master that waits runs; one that does not has asked nobody.",
    "AskedThere": "An answer that counts has everybody who was there.",
    "DoneMet": "A table that the master has was taken over a connection.",
}
"""Of PreOnline, and below of InductivePreOnline: (name, in words)."""

STEPS: Final[Mapping[str, str]] = {
    "MetaMonotone": "What a slave had when it gave its table the master has.",
    "MasterKept": "A master that runs has no smaller offset than it had.",
    "PreOnlineNoServe": "In isolation it serves nobody, does not register, and learns from slaves.",
    "SlaveKept": "A slave gives nothing up before the master has its table.",
    "ActingKept": "A slave that serves does not go back.",
    "SlaveCopies": "A slave that goes back has what the master has.",
}
"""Of PreOnline: what is said of steps."""

_STATEMENT: Final = Statement(
    invariants=INVARIANTS,
    steps=STEPS,
    shape="Sets of brokers have no more of them than there are.",
    not_shown="Anything of more slaves; that a master is online in the end (PreOnlineLive), which "
    "TLC checks in small models.",
)

VARIANTS: Final = (
    Variant(
        name="Versions",
        description="the table whose version is larger, or of the slave, is taken",
        overrides=("Merged <- VersionsMerged",),
        lemma="TakeTable",
    ),
    Variant(
        name="Compared",
        description="a slave's table is taken, whatever it is",
        overrides=("Merged <- ComparedMerged",),
        lemma="TakeTable",
    ),
    Variant(
        name="Fresh",
        description="a master goes through one answer to its end, whoever comes meanwhile",
        overrides=("AsksAgain <- FreshAsksAgain",),
        lemma="TakeTable",
    ),
    Variant(
        name="Transfer",
        description="a table is taken before the connection is in TRANSFER",
        overrides=("IsConnected <- TransferIsConnected",),
        lemma="TakeTable",
    ),
    Variant(
        name="B48",
        description="a slave that acts copies the master's table",
        overrides=("MayCopy <- B48MayCopy",),
        lemma="Synchronize",
    ),
    Variant(
        name="B76",
        description="a master that comes back waits for nobody",
        overrides=("IsComplete <- B76IsComplete",),
        lemma="GoOnline",
    ),
)
"""Those that the command shows; tests try more."""


def _ids(slaves: int) -> Sequence[int]:
    """Return brokerIds of slaves: 1 is not among them, as a function on 1..n is a tuple."""
    return range(2, slaves + 2)


def shapes_of(slaves: int) -> dict[str, Shape]:
    """Return what the variables look like."""
    members: tuple[RuntimeValue, ...] = tuple(_ids(slaves))
    brokers: tuple[RuntimeValue, ...] = (0, *members)
    table = FunctionOn(tuple([(model_value(queue), INTEGER) for queue in _QUEUES]))

    def on(keys: Sequence[RuntimeValue], shape: Shape) -> FunctionOn:
        return FunctionOn(tuple([(key, shape) for key in keys]))

    some = AtMost(slaves, INTEGER)
    return {
        "up": on(brokers, BOOLEAN),
        "group": AtMost(slaves + 1, INTEGER),
        "serves": on(brokers, BOOLEAN),
        "table": on(brokers, table),
        "version": on(brokers, INTEGER),
        "moves": on(brokers, INTEGER),
        "masterAddr": on(members, BOOLEAN),
        "saved": on(brokers, record({"table": table, "version": INTEGER})),
        "link": on(members, Enumeration(("none", "told", "transfer"))),
        "isolated": BOOLEAN,
        "members": some,
        "asked": BOOLEAN,
        "done": some,
        "there": some,
        "met": some,
    }


def opened(
    slaves: int, *, overrides: Sequence[str] = (), spec_root: Path | None = None
) -> Specification:
    """Read the specification for so many slaves; `overrides` are those of a mutant.

    Raises:
        TlatraceError: there is no Java, or the text has a form that is not understood.
    """
    folder = find_spec_root(spec_root) / _FOLDER
    module = folder / "proofs" / (_FALSE if overrides else _RIGHT)
    numbers = ", ".join(map(str, _ids(slaves)))
    text = (
        f"CONSTANTS\nSlave = {{{numbers}}}\nQueue = {{{', '.join(_QUEUES)}}}\n{_STEP} = {_STEP}\n"
    )
    return open_specification(
        module,
        parse_config(text + (_BOUNDS if overrides else "") + "\n".join(overrides), module),
        shapes_of(slaves),
        naturals=(_STEP,),
        libraries=(folder, folder / "mutants") if overrides else (folder,),
    )


def theorem(brokers: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem for a group of so many brokers, the master among them.

    Raises:
        TlatraceError: see `opened`.
    """
    return induction(
        NAME,
        f"With {brokers} brokers, a master that comes back has what every slave knew that was "
        "there, for offsets, versions and steps of any size.",
        opened(brokers - 1, spec_root=spec_root),
        _STATEMENT,
    )


def false_variant(variant: Variant, brokers: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem of a protocol with a bug."""
    return induction(
        f"{NAME} with {variant.name}",
        variant.description,
        opened(brokers - 1, overrides=variant.overrides, spec_root=spec_root),
        _STATEMENT,
        variant.lemma,
    )
