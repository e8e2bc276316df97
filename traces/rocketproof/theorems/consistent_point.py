r"""Theorem ConsistentPoint: a slave cuts its log exactly where it stops being its master's.

In words: when two logs are described by their epoch caches, then the consistent point that the
back to front comparison of the caches yields is the length of the longest common prefix of the
logs. For every offset o:

    o < cp   <=>   for all o' <= o, both logs have a record at o', of the same epoch

Read from left to right it is *sound*: nothing is kept that the master does not have. From right to
left it is *maximal*: nothing is cut that the master has, and that may have been acknowledged.

TLC says so of logs with three records; here offsets, epochs and log ends are arbitrary integers,
and only the number of entries of a cache is bounded. The rule, beside the TLA+ text:

    ConsistentPoint(own, ownEnd, others, othersEnd) ==          `consistent_point`
      LET I == {i \in DOMAIN own : \E j \in DOMAIN others :     all i, j in ascending order:
                  SameStart(own[i], others[j])}                 the last match overrides
          i == MaxOf(I)
          j == MaxOf({x \in DOMAIN others :
                        SameStart(own[i], others[x])})
      IN IF I = {} THEN 0                                       the value before any match
         ELSE NearerEnd(EndAt(own, i, ownEnd),                  `nearer_end`, `Cache.end_at`
                        EndAt(others, j, othersEnd))

The logs are not modelled beside the caches, they are what the caches say (EpochFaithful): there is
a record at o iff o is before the log end and some entry covers it; that entry's epoch is the
record's. Two records at one offset are the same iff their epochs are.

Assumptions, in the words of `theorem`: EpochWellFormed, EpochLeLog and EpochFaithful for each log,
EpochStartUnique and ReignHistory for the two together. The first four are invariants of
EpochTruncation. The last is LogMatching for epochs instead of records: it says something of one
without records, too, and LogMatching follows from it. Of EpochStartUnique and the comparison
of starts in SameStart one is enough; without both the rule is not sound. EpochFaithful is not for
z3: it is what makes the logs those that the caches say.

Not shown: that the protocol keeps the assumptions; that is TLC's part. That two records with one
offset and one epoch have the same bytes: that is so when each epoch has one writer
(EpochPerIncarnation). Nothing is said of caches with more entries than the bound, nor of logs whose
beginning was deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import z3

from tlatrace.proofs import Assumption, Claim, Theorem
from tlatrace.proofs.theorem import Example

__all__ = [
    "NAME",
    "Cache",
    "Instance",
    "cache_constants",
    "consistent_point",
    "false_variant",
    "instance_of",
    "nearer_end",
    "same_epoch",
    "same_start",
    "theorem",
]

NAME: Final = "ConsistentPoint"


@dataclass(frozen=True, slots=True)
class Cache:
    """An epoch cache and the end of its log, as z3 terms: entries 0..length-1 are in it."""

    epochs: tuple[z3.ArithRef, ...]
    starts: tuple[z3.ArithRef, ...]
    length: z3.ArithRef
    log_end: z3.ArithRef

    @property
    def indices(self) -> range:
        """All entries that there may be."""
        return range(len(self.epochs))

    def has(self, i: int) -> z3.BoolRef:
        """Say that there is an entry i."""
        return i < self.length

    def end_at(self, i: int) -> z3.ArithRef:
        """Say where entry i ends: where the next one starts, or with the log.

        Spec: EpochTruncation!EndAt
        """
        if i + 1 == len(self.epochs):
            return self.log_end
        return z3.If(self.has(i + 1), self.starts[i + 1], self.log_end)

    def covers(self, i: int, offset: z3.ArithRef) -> z3.BoolRef:
        """Say that there is a record at this offset, and that it is of entry i."""
        return z3.And(
            self.has(i),
            self.starts[i] <= offset,
            offset < self.end_at(i),
            offset < self.log_end,
        )


Same: TypeAlias = Callable[[Cache, int, Cache, int], z3.BoolRef]
Nearer: TypeAlias = Callable[[z3.ArithRef, z3.ArithRef], z3.ArithRef]


def cache_constants(name: str, entries: int) -> Cache:
    """Make a cache of at most so many entries, all of whose numbers are constants."""
    return Cache(
        epochs=tuple(z3.Int(f"{name}.epoch{i}") for i in range(1, entries + 1)),
        starts=tuple(z3.Int(f"{name}.start{i}") for i in range(1, entries + 1)),
        length=z3.Int(f"{name}.length"),
        log_end=z3.Int(f"{name}.log_end"),
    )


def same_start(own: Cache, i: int, others: Cache, j: int) -> z3.BoolRef:
    """Say that two entries are the same master epoch.

    Spec: EpochTruncation!SameStart
    """
    return z3.And(same_epoch(own, i, others, j), own.starts[i] == others.starts[j])


def same_epoch(own: Cache, i: int, others: Cache, j: int) -> z3.BoolRef:
    """Say that two entries are there and have the same epoch."""
    return z3.And(own.has(i), others.has(j), own.epochs[i] == others.epochs[j])


def nearer_end(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    """Say which of two ends is nearer.

    Spec: EpochTruncation!NearerEnd
    """
    return z3.If(a <= b, a, b)


def consistent_point(
    own: Cache, others: Cache, *, same: Same = same_start, nearer: Nearer = nearer_end
) -> z3.ArithRef:
    """Say up to where two logs are sure to agree; see the module.

    Spec: EpochTruncation!ConsistentPoint
    """
    point = z3.IntVal(0)
    for i in own.indices:
        for j in others.indices:
            point = z3.If(same(own, i, others, j), nearer(own.end_at(i), others.end_at(j)), point)
    return point


def theorem(
    entries: int,
    *,
    same: Same = same_start,
    nearer: Nearer = nearer_end,
    without: frozenset[str] = frozenset(),
) -> Theorem:
    """State the theorem for caches of at most `entries` entries.

    `same`, `nearer` and `without` (names of assumptions) state other theorems, most of them false:
    the prover must tell them apart.
    """
    assert entries >= 2
    own, others = cache_constants("own", entries), cache_constants("others", entries)
    point = consistent_point(own, others, same=same, nearer=nearer)
    return Theorem(
        name=NAME,
        statement="The consistent point of two epoch caches is the length of the longest common "
        f"prefix of the logs, for caches of at most {entries} entries and arbitrary integers.",
        assumptions=tuple(a for a in _assumptions(own, others) if a.name not in without),
        claims=(
            Claim(
                name="sound",
                description="Before the consistent point, both logs have the same records.",
                formula=_all_from_zero(
                    lambda o: z3.Implies(o < point, _agree(own, others, o)),
                ),
            ),
            Claim(
                name="maximal",
                description="An offset up to which both logs have the same records is before it.",
                formula=_all_from_zero(
                    lambda o: z3.Implies(_agree_up_to(own, others, o), o < point),
                ),
            ),
        ),
        witness=_witness(own, others, point),
        not_shown="That the protocol keeps the assumptions (TLC does, in small models), and that "
        "records of one offset and epoch have the same bytes (EpochPerIncarnation).",
    )


def false_variant(entries: int) -> Theorem:
    """State the theorem of a wrong rule, the mutant MinEnd: the slave's own end is enough."""
    return theorem(entries, nearer=lambda own_end, _: own_end)


def _assumptions(own: Cache, others: Cache) -> tuple[Assumption, ...]:
    return (
        Assumption(
            name="EpochWellFormed",
            description="From entry to entry, epochs and starts grow.",
            formula=z3.And(_well_formed(own), _well_formed(others)),
        ),
        Assumption(
            name="EpochLeLog",
            description="No entry starts beyond the log end; it may start there, without "
            "records yet.",
            formula=z3.And(_within_log(own), _within_log(others)),
        ),
        Assumption(
            name="EpochFaithful",
            description="Every record has an entry: the first one starts at 0, and a log without "
            "entries is empty.",
            formula=z3.And(_covered(own), _covered(others)),
        ),
        Assumption(
            name="EpochStartUnique",
            description="An epoch that both caches have starts at the same offset in both.",
            formula=z3.And(
                z3.Implies(same_epoch(own, i, others, j), own.starts[i] == others.starts[j])
                for i in own.indices
                for j in others.indices
            ),
        ),
        Assumption(
            name="ReignHistory",
            description="Who knows an epoch has what was written before it: where both caches have "
            "an epoch, the logs agree up to its start.",
            formula=_all_from_zero(
                lambda o: z3.Implies(_is_before_common(own, others, o), _agree(own, others, o)),
            ),
        ),
    )


def _well_formed(cache: Cache) -> z3.BoolRef:
    return z3.And(
        cache.length >= 0,
        cache.length <= len(cache.epochs),
        *(
            z3.Implies(
                cache.has(i),
                z3.And(
                    cache.epochs[i - 1] < cache.epochs[i], cache.starts[i - 1] < cache.starts[i]
                ),
            )
            for i in cache.indices[1:]
        ),
    )


def _within_log(cache: Cache) -> z3.BoolRef:
    return z3.And(
        cache.log_end >= 0,
        *(z3.Implies(cache.has(i), cache.starts[i] <= cache.log_end) for i in cache.indices),
    )


def _covered(cache: Cache) -> z3.BoolRef:
    return z3.If(cache.length == 0, cache.log_end == 0, cache.starts[0] == 0)


def _is_before_common(own: Cache, others: Cache, offset: z3.ArithRef) -> z3.BoolRef:
    """Say that some epoch of both caches starts behind this offset in both."""
    return z3.Or(
        z3.And(same_epoch(own, i, others, j), offset < own.starts[i], offset < others.starts[j])
        for i in own.indices
        for j in others.indices
    )


def _agree(own: Cache, others: Cache, offset: z3.ArithRef) -> z3.BoolRef:
    """Say that both logs have a record at this offset, of the same epoch."""
    return z3.Or(
        z3.And(
            own.covers(i, offset),
            others.covers(j, offset),
            own.epochs[i] == others.epochs[j],
        )
        for i in own.indices
        for j in others.indices
    )


def _agree_up_to(own: Cache, others: Cache, offset: z3.ArithRef) -> z3.BoolRef:
    earlier = z3.Int("earlier")
    return z3.ForAll(
        [earlier],
        z3.Implies(z3.And(earlier >= 0, earlier <= offset), _agree(own, others, earlier)),
    )


def _all_from_zero(says: Callable[[z3.ArithRef], z3.BoolRef]) -> z3.BoolRef:
    offset = z3.Int("offset")
    return z3.ForAll([offset], z3.Implies(offset >= 0, says(offset)))


def _witness(own: Cache, others: Cache, point: z3.ArithRef) -> Claim:
    return Claim(
        name="divergence",
        description="Both caches are full, and the point lies inside both logs, behind a "
        "common epoch.",
        formula=z3.And(
            own.length == len(own.epochs),
            others.length == len(others.epochs),
            point > 0,
            point + 1 < own.log_end,
            point < others.log_end,
        ),
    )


# ---- Examples and counterexamples ----


@dataclass(frozen=True, slots=True)
class Instance:
    """Two caches as numbers: (epoch, start) pairs, and the log ends."""

    own: tuple[tuple[int, int], ...]
    own_end: int
    others: tuple[tuple[int, int], ...]
    others_end: int

    def __str__(self) -> str:
        return (
            f"own {_shown(self.own)} with log end {self.own_end}, "
            f"others {_shown(self.others)} with log end {self.others_end}"
        )


def instance_of(example: Example) -> Instance:
    """Read the two caches of an example; numbers that do not matter are 0."""
    starts = partial(_starts_of, example)
    return Instance(
        starts("own"),
        example.get("own.log_end", 0),
        starts("others"),
        example.get("others.log_end", 0),
    )


def _starts_of(example: Example, name: str) -> tuple[tuple[int, int], ...]:
    return tuple(
        (example.get(f"{name}.epoch{i}", 0), example.get(f"{name}.start{i}", 0))
        for i in range(1, example.get(f"{name}.length", 0) + 1)
    )


def _shown(starts: tuple[tuple[int, int], ...]) -> str:
    return " ".join(f"(epoch {epoch} from {start})" for epoch, start in starts) or "no epoch"
