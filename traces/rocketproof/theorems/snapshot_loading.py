r"""Theorem SnapshotLoading: what is loaded, and replayed behind it, is the fold of the log.

In words: the invariants of SnapshotLoading hold at the beginning, and each action keeps them, from
every state in which they hold: whatever leaders send, wherever snapshots are written, read back,
deleted, installed and damaged, wherever the log is cut, or the power, and whichever snapshot is
loaded. So the state is that of all entries up to the one that was applied last, the next one is in
the log, and a snapshot stands for what was cut.

The formulas are generated from the TLA+ text: from Init, Next and the invariants of
SnapshotLoading, and from InductiveSnapshotLoading, which adds what an induction needs. TLC looks at
four entries; here the history, the log, indexes, terms and the constants have any size. Only the
number of files at a time is bounded: a step that would make more is left out.

Two things are the shape of the states instead of formulas, and each lemma has the claim `Shape`,
that the state after a step has it, too: a state machine, and what a file says of it, is at most two
pairs of an index and a term.

A false variant puts operators of a real bug (spec/snapshot_loading/mutants) in the place of the
right ones: some lemma must be refuted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rocketproof.theorems.inductions import Statement, Variant, induction
from tlatrace.proofs import Induction
from tlatrace.symbolic import Specification, open_specification
from tlatrace.symbolic.shapes import (
    BOOLEAN,
    INTEGER,
    AtMost,
    Enumeration,
    SequenceOf,
    TupleOf,
    record,
)
from tlatrace.symbolic.values import Shape
from tlatrace.tla.config import parse_config
from tlatrace.tools.spec_root import find_spec_root

__all__ = [
    "FILES",
    "INVARIANTS",
    "NAME",
    "VARIANTS",
    "false_variant",
    "opened",
    "theorem",
]

NAME: Final = "SnapshotLoading"
FILES: Final = 4
"""Files at a time: one in force, its successor, what is deleted but not for sure, a new one."""

_FOLDER: Final = "snapshot_loading"
_RIGHT: Final = "InductiveSnapshotLoading.tla"
_FALSE: Final = "FalseSnapshotLoading.tla"
_NATURALS: Final = ("Stray", "Threshold", "Reserved")
_CONSTANTS: Final = (
    "CONSTANTS Terms = Terms Stray = Stray Threshold = Threshold Reserved = Reserved\n"
)
_BOUNDS: Final = "MaxLog = 0 MaxCrashes = 0 MaxDamaged = 0 MaxBad = 0 MaxCompacts = 0\n"
"""Of the finite models, whose module the mutants extend; nothing here reads them."""

INVARIANTS: Final[Mapping[str, str]] = {
    "SnapExact": "The state is the fold of the entries up to the one applied last; so is a file.",
    "SnapCommitted": "Every file is of an entry on which the group has agreed, and has its term.",
    "LoadContiguous": "The next entry is in the log, or will be the next one there.",
    "TermsRise": "Terms do not fall from entry to entry.",
    "BoundaryTerm": "The term before the first entry of the log is that of the history.",
    "AppliedLeCommit": "What is applied is committed, and what is committed was agreed on.",
    "OneKept": "PrefixCovered, SnapAtomic and RefusedByDisk, where one snapshot is kept.",
    "Covered": "Where the log is cut, a whole snapshot stands for what is gone, for sure, as long "
    "as the disk has damaged none.",
    "RefusedByDamage": "A node refuses to start only if the disk has damaged a file.",
    "Numbers": "Indexes are natural numbers.",
    "LogAgrees": "Before an entry of the history, the log has nothing else than that.",
    "CommittedAgrees": "Nor up to what is committed.",
    "NothingInMemory": "A node that does not run has nothing in memory.",
    "JobFile": "What is being written is one file, and ahead of all that count.",
    "NamesDiffer": "Of the files of an index one is in force, and one may take its place.",
    "NamedSynced": "Contents are on the disk before names are.",
    "RottenCounted": "What the disk has damaged is counted.",
    "LastSnapThere": "The last snapshot that was read is there, and nothing behind it is gone.",
}
"""Of SnapshotLoading, and below of InductiveSnapshotLoading: (name, in words)."""

_STATEMENT: Final = Statement(
    invariants=INVARIANTS,
    shape="A state is at most two pairs of an index and a term.",
    not_shown="Anything of more files at a time; that a node bears damage to fewer files than it "
    "keeps, where it keeps several; liveness; the properties of steps (AckedKept and so on): TLC "
    "checks those in small models.",
    assumed=("ConstantsAssumed",),
    few=("snaps",),
)

VARIANTS: Final = (
    Variant(
        name="B53",
        description="a snapshot is added to the state that is there",
        overrides=("Loaded <- B53Loaded",),
        lemma="ReadBack",
    ),
    Variant(
        name="B57",
        description="a snapshot is loaded although the log does not go on behind it",
        overrides=("Continues <- B57Continues", "KeepsLog <- B57KeepsLog"),
        lemma="LoadNewest",
    ),
    Variant(
        name="B68",
        description="the log is cut without a snapshot",
        overrides=("CutTo <- B68CutTo",),
        lemma="CutLog",
    ),
    Variant(
        name="SnapAtApplied",
        description="a snapshot has the index of the last entry committed, not of the last one "
        "applied",
        overrides=("SnapIndex <- SnapAtAppliedSnapIndex",),
        lemma="Save",
    ),
)
"""Those that the command shows; tests try more."""


def _shapes(files: int) -> dict[str, Shape]:
    state = AtMost(2, TupleOf((INTEGER, INTEGER)))
    file = record(
        {
            "idx": INTEGER,
            "term": INTEGER,
            "state": state,
            "data": Enumeration(("good", "bad", "rotten")),
            "synced": BOOLEAN,
            "name": Enumeration(("tmp", "new", "kept", "gone")),
        }
    )
    numbers = ("agreed", "kept", "begin", "bTerm", "applied", "commit", "lastSnap")
    return {
        **dict.fromkeys((*numbers, "crashes", "damaged"), INTEGER),
        "log": SequenceOf(INTEGER),
        "snaps": AtMost(files, file),
        "mode": Enumeration(("up", "loading", "down", "refused")),
        "sm": state,
        "job": record({"kind": Enumeration(("none", "save", "install")), "idx": INTEGER}),
    }


def opened(
    files: int = FILES, *, overrides: Sequence[str] = (), spec_root: Path | None = None
) -> Specification:
    """Read the specification, for so many files at a time; `overrides` are those of a mutant.

    Raises:
        TlatraceError: there is no Java, or the text has a form that is not understood.
    """
    folder = find_spec_root(spec_root) / _FOLDER
    module = folder / "proofs" / (_FALSE if overrides else _RIGHT)
    text = _CONSTANTS + (_BOUNDS if overrides else "") + "\n".join(overrides)
    return open_specification(
        module,
        parse_config(text, module),
        _shapes(files),
        naturals=_NATURALS,
        sequences={"Terms": INTEGER},
        libraries=(folder, folder / "mutants"),
    )


def theorem(*, files: int = FILES, spec_root: Path | None = None) -> Induction:
    """State the theorem for so many files at a time.

    Raises:
        TlatraceError: see `opened`.
    """
    return induction(
        NAME,
        "Whatever is saved, cut, loaded and installed, through power cuts and damage, the state is "
        f"the fold of the log, for logs of any size and at most {files} files at a time.",
        opened(files, spec_root=spec_root),
        _STATEMENT,
    )


def false_variant(variant: Variant, *, files: int = 2, spec_root: Path | None = None) -> Induction:
    """State the theorem of a protocol with a bug; few files make short counterexamples."""
    return induction(
        f"{NAME} with {variant.name}",
        variant.description,
        opened(files, overrides=variant.overrides, spec_root=spec_root),
        _STATEMENT,
        variant.lemma,
    )
