r"""Theorem LeaderCompleteness: what a DLedger leader has committed is in the log of each later one.

In words: LeaderCompleteness (the Raft paper, 5.4.3), with the other invariants of
InductiveElectedLogs, holds at the beginning of ElectedLogs, and each action keeps it, from every
state in which all of them hold.

The formulas are generated from the TLA+ text. ElectedLogs is an abstraction of DLedger: a term has
one leader, which the theorem OneLeaderPerTerm says of DLedger itself, and a follower does at any
time what its leader could have told it. That DLedger refines it is checked by TLC, in the models
`elected_logs*` of three nodes; it is not proved. Terms are arbitrary integers here, and logs have
any length; only the number of nodes is bounded.

Of the nodes that an action is of only the first ones are looked at, for the text treats all alike
(`tlatrace.symbolic.symmetry`). z3 does not find states with logs of any length by itself: that the
premises can be met, and that false variants are refuted, it shows by steps from states that the
text describes.

A false variant puts an operator of a bug (FalseElectedLogs, as in spec/dledger/mutants) in the
place of the right one: some lemma must be refuted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rocketproof.theorems.inductions import Statement, Variant, induction
from tlatrace.proofs import Induction
from tlatrace.runtime.values import RuntimeValue, model_value
from tlatrace.symbolic import Specification, open_specification
from tlatrace.symbolic.shapes import BOOLEAN, INTEGER, Enumeration, FunctionOn, SequenceOf
from tlatrace.symbolic.values import Shape
from tlatrace.tla.config import parse_config
from tlatrace.tools.spec_root import find_spec_root

__all__ = ["INVARIANTS", "NAME", "VARIANTS", "Variant", "false_variant", "opened", "theorem"]

NAME: Final = "LeaderCompleteness"

_FOLDER: Final = "dledger"
_RIGHT: Final = "InductiveElectedLogs.tla"
_FALSE: Final = "FalseElectedLogs.tla"
_NONE: Final = "none"

INVARIANTS: Final[Mapping[str, str]] = {
    "LeaderCompleteness": "What the leader of a term has committed each later one has.",
    "Numbers": "Indexes are natural numbers, and of what there is.",
    "LedIsLed": "Each entry of a leader is one that the leader of its term has.",
    "LedAgrees": "So are all before it.",
    "LedRises": "Terms do not fall in the log of a leader.",
    "LogIsLed": "Each entry of a node is one that the leader of its term has.",
    "LogAgrees": "So are all before it.",
    "LogRises": "Terms do not fall in the log of a node.",
    "AckedLed": "Nobody acknowledges what is of a term that it is not in yet.",
    "LedQuorum": "A majority is in the term of a leader, or in a later one.",
    "AckedKept": "Who has acknowledged what may be committed has it on its disk,",
    "AckedRefilled": "or has thrown it away since, and has it again with an entry of a later term.",
    "AcceptsCompared": "Whom it accepts has at least that.",
    "LaterHas": "Every later leader has what may be committed.",
    "CommitHeld": "A majority has acknowledged what is committed.",
}
"""Of InductiveElectedLogs: (name, in words)."""

_EXAMPLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "BeginTerm",
            "IncreaseTerm",
            "HandleVote",
            "RefuseVote",
            "EndRound",
            "BecomeLeader",
            "DiscardLog",
        ),
        "Electing",
    ),
    **dict.fromkeys(("AppendAsLeader", "AppendAsFollower", "InstallSnapshot"), "Leading"),
    **dict.fromkeys(("CommitEntry", "Acknowledge"), "Holding"),
    **dict.fromkeys(("Truncate", "Sync", "Crash", "DiscardInNewTerm"), "Replaced"),
}

_STATEMENT: Final = Statement(
    invariants=INVARIANTS,
    shape="Terms and indexes are numbers, who is elected is a member or nobody.",
    not_shown="That DLedger refines ElectedLogs, which TLC checks in small models; that followers "
    "commit only what a leader has committed (CommitAgreed); that anything is committed.",
    examples=_EXAMPLES,
    apart=True,
)
VARIANTS: Final = (
    Variant(
        name="ShorterLog",
        description="a node votes for a log that lacks what its own has",
        overrides=("UpToDate <- ShorterLogUpToDate",),
        lemma="HandleVote",
        state="Committed",
    ),
    Variant(
        name="Refilled",
        description="a node that has thrown its log away votes before it has it again",
        overrides=("MayVote <- RefilledMayVote",),
        lemma="HandleVote",
        state="Discarded",
    ),
    Variant(
        name="SyncedAck",
        description="a follower acknowledges what it has not synchronized",
        overrides=("AckLimit <- SyncedAckAckLimit",),
        lemma="Acknowledge",
        state="Unsynced",
    ),
    Variant(
        name="CommitQuorum",
        description="a leader commits what one node has",
        overrides=("IsHeld <- CommitQuorumIsHeld",),
        lemma="CommitEntry",
        state="Leading",
    ),
)
"""Those that the command shows; tests try more."""


def shapes_of(nodes: Sequence[RuntimeValue]) -> dict[str, Shape]:
    """Return what the variables look like."""

    def on_nodes(shape: Shape) -> FunctionOn:
        return FunctionOn(tuple([(node, shape) for node in nodes]))

    numbers = SequenceOf(INTEGER)
    return {
        "term": on_nodes(INTEGER),
        "log": on_nodes(numbers),
        "synced": on_nodes(INTEGER),
        "refill": on_nodes(INTEGER),
        "accepts": on_nodes(on_nodes(BOOLEAN)),
        "elected": SequenceOf(Enumeration((*nodes, model_value(_NONE)))),
        "led": SequenceOf(numbers),
        "commit": numbers,
        "acked": on_nodes(numbers),
    }


def opened(
    nodes: int, *, overrides: Sequence[str] = (), spec_root: Path | None = None
) -> Specification:
    """Read the specification for so many nodes; `overrides` are those of a mutant.

    Raises:
        TlatraceError: there is no Java, or the text has a form that is not understood.
    """
    folder = find_spec_root(spec_root) / _FOLDER
    members = _members(nodes)
    text = f"CONSTANTS\nNode = {{{', '.join(map(str, members))}}}\nNone = {_NONE}\n"
    module = folder / "proofs" / (_FALSE if overrides else _RIGHT)
    return open_specification(
        module,
        parse_config(text + "\n".join(overrides), module),
        shapes_of(members),
        libraries=(folder,),
    )


def theorem(nodes: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem for a group of so many nodes.

    Raises:
        TlatraceError: see `opened`; also when the text tells nodes apart.
    """
    return induction(
        NAME,
        f"With {nodes} nodes, what the leader of a term has committed is in the log of each later "
        "one, for terms and logs of any size.",
        opened(nodes, spec_root=spec_root),
        _STATEMENT,
        alike=_members(nodes),
    )


def false_variant(variant: Variant, nodes: int, *, spec_root: Path | None = None) -> Induction:
    """State the theorem of a protocol with a bug."""
    specification = opened(nodes, overrides=variant.overrides, spec_root=spec_root)
    return induction(
        f"{NAME} with {variant.name}",
        variant.description,
        specification,
        _STATEMENT,
        variant.lemma,
        state=variant.state,
    )


def _members(nodes: int) -> tuple[RuntimeValue, ...]:
    return tuple([model_value(f"n{number}") for number in range(1, nodes + 1)])
