r"""Theorem OneLeaderPerTerm: no two nodes of a DLedger group lead in one term.

In words: the invariant OneLeaderPerTerm of DLedger, with those of InductiveElections, holds at the
beginning, and each action keeps it, from every state in which all of them hold.

The formulas are generated from the TLA+ text: from Init, Next and the invariant of DLedger, and
from InductiveElections, which adds what an induction needs. TLC looks at two terms; here terms are
arbitrary integers, and requests for votes and leaders that were elected are any number; only the
number of nodes is bounded.

Of a state that is looked at which decides who leads: terms, votes, rounds, requests for votes, and
who was elected. All else is hidden (`tlatrace.symbolic.hidden`): logs, indexes, roles. A guard that
reads it may be met or not; so the theorem holds whatever logs are compared, and how. Every node is
preferred, and whether it was asked to lead is hidden: so is whether it refuses its vote for that.

A false variant puts an operator of a bug (spec/dledger/mutants) in the place of the right one: some
lemma must be refuted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rocketproof.theorems.inductions import Statement, Variant, induction
from tlatrace.proofs import Induction
from tlatrace.runtime.values import RuntimeValue, model_value
from tlatrace.symbolic import Specification, open_specification
from tlatrace.symbolic.shapes import HIDDEN, INTEGER, AtMost, Enumeration, FunctionOn, record
from tlatrace.symbolic.values import Shape
from tlatrace.tla.config import parse_config
from tlatrace.tools.spec_root import find_spec_root

__all__ = ["INVARIANTS", "NAME", "VARIANTS", "Variant", "false_variant", "opened", "theorem"]

NAME: Final = "OneLeaderPerTerm"

_FOLDER: Final = "dledger"
_RIGHT: Final = "InductiveElections.tla"
_FALSE: Final = "FalseElections.tla"
_NONE: Final = "none"
_BOUNDS: Final = "MaxTerm = 0 MaxLog = 0 MaxCrash = 0 MaxAsks = 0 MaxSnapshot = 0 MaxTransfer = 0\n"
"""Of the finite models, whose module the mutants extend; nothing here reads them."""
_SAMPLES: Final = {"asks": 1, "sent": 3}
"""Elements that are looked at: those that a step finds, and two leaders that break an invariant."""

INVARIANTS: Final[Mapping[str, str]] = {
    "OneLeaderPerTerm": "Who leads in a term is the only one.",
    "AcceptIsVote": "Who has accepted a candidate votes for no other one in its term.",
    "OneAccept": "No node has accepted two candidates of a term.",
    "LeaderHasQuorum": "A majority cannot make another leader of the term of a leader.",
}
"""Of DLedger, and below of InductiveElections: (name, in words)."""

_STATEMENT: Final = Statement(
    invariants=INVARIANTS,
    shape="Terms are numbers, votes are for members or nobody, answers have a result.",
    not_shown="That what is hidden (logs, indexes, roles) has the types of TypeOK, and the "
    "properties of steps (OneVotePerTerm, TermMonotone), which TLC checks in small models; that "
    "somebody is elected.",
)

VARIANTS: Final = (
    Variant(
        name="OneVote",
        description="a node votes twice in a term",
        overrides=("HasVoted <- OneVoteHasVoted",),
        lemma="HandleVote",
    ),
    Variant(
        name="TermNotReady",
        description="a node votes in a term that it has not gone to",
        overrides=("IsReady <- TermNotReadyIsReady",),
        lemma="HandleVote",
    ),
    Variant(
        name="B71",
        description="a vote does not survive a power cut",
        overrides=("VoteAfterCrash <- B71VoteAfterCrash",),
        lemma="Crash",
    ),
)
"""Those that the command shows; tests try more."""

_RESULTS: Final = (
    "ACCEPT",
    "REJECT_EXPIRED_LEDGER_TERM",
    "REJECT_SMALL_LEDGER_END_INDEX",
    "REJECT_EXPIRED_VOTE_TERM",
    "REJECT_ALREADY_HAS_LEADER",
    "REJECT_ALREADY_VOTED",
    "REJECT_TERM_NOT_READY",
    "REJECT_TERM_SMALL_THAN_LEDGER",
    "REJECT_TAKING_LEADERSHIP",
    "NONE",
)


def shapes_of(nodes: Sequence[RuntimeValue], samples: Mapping[str, int]) -> dict[str, Shape]:
    """Return what the variables look like that are looked at."""

    def on_nodes(shape: Shape) -> FunctionOn:
        return FunctionOn(tuple([(node, shape) for node in nodes]))

    members = Enumeration(tuple(nodes))
    answer = record({"result": Enumeration(_RESULTS), "term": INTEGER})
    ask = record({"from": members, "term": INTEGER, "endIndex": HIDDEN, "endTerm": HIDDEN})
    leadership: dict[str, Shape] = {"by": members, "term": INTEGER}
    leadership |= dict.fromkeys(("inc", "log", "commit", "snap"), HIDDEN)
    return {
        "term": on_nodes(INTEGER),
        "vote": on_nodes(Enumeration((*nodes, model_value(_NONE)))),
        "known": on_nodes(INTEGER),
        "round": on_nodes(on_nodes(answer)),
        "asks": AtMost(samples["asks"], ask, sampled=True),
        "sent": AtMost(samples["sent"], record(leadership), sampled=True),
    }


def opened(
    nodes: int,
    *,
    overrides: Sequence[str] = (),
    samples: Mapping[str, int] = _SAMPLES,
    spec_root: Path | None = None,
) -> Specification:
    """Read the specification for so many nodes; `overrides` are those of a mutant.

    Raises:
        TlatraceError: there is no Java, or the text has a form that is not understood.
    """
    folder = find_spec_root(spec_root) / _FOLDER
    names = [f"n{number}" for number in range(1, nodes + 1)]
    members = f"{{{', '.join(names)}}}"
    text = f"CONSTANTS\nNode = {members}\nNone = {_NONE}\nPreferred = {members}\n"
    module = folder / "proofs" / (_FALSE if overrides else _RIGHT)
    return open_specification(
        module,
        parse_config(text + (_BOUNDS if overrides else "") + "\n".join(overrides), module),
        shapes_of([model_value(name) for name in names], samples),
        libraries=(folder, folder / "mutants") if overrides else (folder,),
        others_hidden=True,
    )


def theorem(nodes: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem for a group of so many nodes.

    Raises:
        TlatraceError: see `opened`; also when so many requests are not enough to look at.
    """
    specification = opened(nodes, spec_root=spec_root)
    specification.check_samples(tuple(INVARIANTS))
    return induction(
        NAME,
        f"With {nodes} nodes, no two of them lead in one term, for terms and numbers of messages "
        "of any size.",
        specification,
        _STATEMENT,
    )


def false_variant(variant: Variant, nodes: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem of a protocol with a bug."""
    specification = opened(nodes, overrides=variant.overrides, spec_root=spec_root)
    name = f"{NAME} with {variant.name}"
    return induction(name, variant.description, specification, _STATEMENT, variant.lemma)
