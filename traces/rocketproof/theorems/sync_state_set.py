r"""Theorem SyncStateSet: no acknowledged record is lost, in groups and logs of any length.

In words: the invariants of SyncStateSet (AckedInSSS, that every replica that could be elected has
what a producer was told is safe, and why: SSSCoverage, PendingCoverage, JoinReady and the others)
hold at the beginning, and each action keeps them, from every state in which they hold.

The formulas are generated from the TLA+ text: from Init, Next and the invariants of SyncStateSet
and InductiveSyncStateSet, which adds what an induction needs. TLC looks at a few records, epochs
and crashes; here offsets, epochs and incarnations are arbitrary integers, requests to the
controller are any number, and so are the sets that it ever decided; only the number of brokers is
bounded.

Two things are the shape of the states (`SHAPES`) instead of formulas, and each lemma has the claim
`Shape`, that the state after a step has it, too:

* a SyncStateSet has at most one incarnation of a broker;
* at most one proposal is undecided, and at most one waits to be sent (this is OnePending, too).

Of the requests that were sent, two are looked at: one that the step finds, and one that shows an
invariant broken. `tlatrace.symbolic.samples` says why that is enough for any number of them, and
reads off the text that it is.

A false variant puts an operator of a real bug (spec/sync_state_set/mutants) in the place of the
right one: some lemma must be refuted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import z3

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
    OneOf,
    PartialMap,
    SequenceOf,
    record,
)
from tlatrace.symbolic.values import Function, Shape
from tlatrace.tla.config import parse_config
from tlatrace.tools.spec_root import find_spec_root

__all__ = [
    "INVARIANTS",
    "NAME",
    "SAMPLES",
    "VARIANTS",
    "Variant",
    "false_variant",
    "opened",
    "shapes_of",
    "theorem",
]

NAME: Final = "SyncStateSet"
SAMPLES: Final = 2
"""Requests that are looked at."""

_FOLDER: Final = "sync_state_set"
_RIGHT: Final = "InductiveSyncStateSet.tla"
_FALSE: Final = "FalseSyncStateSet.tla"
_NONE: Final = "none"

INVARIANTS: Final[Mapping[str, str]] = {
    "AckedInSSS": "Whoever could be elected has every record that was acknowledged.",
    "VisibleInSSS": "Whoever could be elected has every record that a consumer has seen.",
    "SSSCoverage": "The master waits for every member of the controller's set.",
    "PendingCoverage": "It waits for every member of a set that the controller may still accept.",
    "JoinReady": "Whoever may still be added has every record that was acknowledged.",
    "OnePending": "One proposal at a time.",
    "SameEpochSameSet": "With the controller's epoch, the master has the controller's set.",
    "MasterInSSS": "The master is a member.",
    "AckSound": "What a slave has reported it has.",
    "AckedLeConfirm": "What is acknowledged is confirmed.",
    "ConfirmSound": "What is confirmed is on every replica that counts.",
    "ConfirmLeLog": "What is confirmed is in the master's log.",
    "Naturals": "Log ends, incarnations and the like are natural numbers.",
    "MasterStays": "The master is a member as what it was when it was elected, and stays one.",
    "TornIsDown": "A broker that runs has told the controller what it lost.",
    "KnownEpoch": "The master knows the controller's last set, or the one before it.",
    "LastView": "The last set that can be learned of is the controller's.",
    "UnknownIsPending": "What the master does not know is what became of its proposal.",
    "QueueUnsent": "What waits to be sent is the proposal, and nobody has decided it.",
    "PendingFromKnown": "The proposal was made from the set that the master knows.",
    "AlterKnown": "The last request is the proposal; no request is ahead of the master.",
    "MembersBorn": "Nobody is a member as an incarnation that is yet to come.",
    "ConnectionsOfActing": "Slaves are connected to a master that acts as one.",
    "ReportedConfirmed": "Whoever counts and is connected has reported what is confirmed.",
    "ConfirmFresh": "Nothing more could be confirmed.",
    "AckedConfirmed": "As AckedLeConfirm, after another broker was elected, too.",
    "VisibleConfirmed": "What a consumer has seen is confirmed.",
    "VisibleJoinReady": "Whoever may still be added has what a consumer has seen.",
}
"""Of SyncStateSet, and below of InductiveSyncStateSet: (name, in words)."""

_STATEMENT: Final = Statement(
    invariants=INVARIANTS,
    shape="One incarnation of a broker in a set, one proposal.",
    not_shown="Anything of more brokers; liveness; the properties of steps (AckGate and so on): "
    "TLC checks those in small models.",
)


VARIANTS: Final = (
    Variant(
        name="B14",
        description="the master waits for the set that it knows, not for the one that it asked for",
        overrides=("AckSet <- B14AckSet",),
        lemma="Acknowledge",
    ),
    Variant(
        name="B82",
        description="an answer that does not come in time, or says nothing new, ends the proposal",
        overrides=("Ends <- B82Ends",),
        lemma="Learn",
    ),
    Variant(
        name="B81",
        description="a slave is added that was ready at its last report, and need not be now",
        overrides=("CaughtUp <- B81CaughtUp",),
        lemma="Expand",
    ),
)
"""Those that the command shows; tests try more."""


def shapes_of(brokers: Sequence[RuntimeValue], samples: int = SAMPLES) -> dict[str, Shape]:
    """Return what the variables look like; the first broker is the master."""
    members = PartialMap(tuple(brokers))
    proposal = record({"set": members, "exp": INTEGER, "base": members})
    connection = record({"inc": INTEGER, "ack": INTEGER, "reported": INTEGER, "ready": BOOLEAN})
    none = Function(("inc",), (z3.IntVal(-1),))
    numbers = FunctionOn(tuple([(broker, INTEGER) for broker in brokers]))
    flags = FunctionOn(tuple([(broker, BOOLEAN) for broker in brokers]))
    masters = Enumeration((*brokers, model_value(_NONE)))
    return {
        "ctl": record({"master": masters, "sss": members, "sssE": INTEGER}),
        "views": SequenceOf(members),
        "alters": AtMost(samples, proposal, sampled=True),
        "role": Enumeration(("Master", "Fenced")),
        "local": members,
        "sssE": INTEGER,
        "pend": AtMost(1, proposal),
        "queue": AtMost(1, proposal),
        "confirm": INTEGER,
        "conn": FunctionOn(tuple([(slave, OneOf(connection, none)) for slave in brokers[1:]])),
        "start": INTEGER,
        "up": flags,
        "inc": numbers,
        "torn": flags,
        "end": numbers,
        "acked": INTEGER,
        "visible": INTEGER,
    }


def opened(
    brokers: int,
    *,
    overrides: Sequence[str] = (),
    samples: int = SAMPLES,
    spec_root: Path | None = None,
) -> Specification:
    """Read the specification for so many brokers; `overrides` are those of a mutant.

    Raises:
        TlatraceError: there is no Java, or the text has a form that is not understood.
    """
    assert brokers >= 2
    folder = find_spec_root(spec_root) / _FOLDER
    names = ["m", *(f"s{number}" for number in range(1, brokers))]
    text = f"CONSTANTS\nMaster = m\nSlave = {{{', '.join(names[1:])}}}\nNone = {_NONE}\n"
    module = folder / "proofs" / (_FALSE if overrides else _RIGHT)
    return open_specification(
        module,
        parse_config(text + "\n".join(overrides), module),
        shapes_of([model_value(name) for name in names], samples),
        libraries=(folder, folder / "mutants") if overrides else (folder,),
    )


def theorem(brokers: int, *, samples: int = SAMPLES, spec_root: Path | None = None) -> Induction:
    """State the theorem for a group of so many brokers.

    Raises:
        TlatraceError: see `opened`; also when so many requests are not enough to look at.
    """
    specification = opened(brokers, samples=samples, spec_root=spec_root)
    specification.check_samples(tuple(INVARIANTS))
    return induction(
        NAME,
        f"With {brokers} brokers, the invariants of SyncStateSet hold at the beginning and after "
        "every step, for logs, epochs and incarnations of any size.",
        specification,
        _STATEMENT,
    )


def false_variant(variant: Variant, brokers: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem of a protocol with a bug."""
    specification = opened(brokers, overrides=variant.overrides, spec_root=spec_root)
    name = f"{NAME} with {variant.name}"
    return induction(name, variant.description, specification, _STATEMENT, variant.lemma)
