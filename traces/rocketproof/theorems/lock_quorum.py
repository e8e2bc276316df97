r"""Theorem LockQuorum: two consumers never hold one queue, for times that are real numbers.

In words: when a majority of all brokers has to vote, a broker votes for one consumer at a time and
waits for the life of a vote after a restart, and a vote outlives the longest answer and the lease
behind it by the slowest and the fastest clock, then at most one consumer holds a queue.

TLC says so of whole numbers up to three (spec/lock_quorum). Here the lives of votes and leases, the
patience, the time that passes, and the rates of the clocks are arbitrary real numbers; attempts may
be any number. Only the number of brokers is bounded.

The clock of each broker and of each consumer runs at a rate between 1 - rho and 1 + rho, which may
change all the time. So while a consumer's clock advances by y, a broker's advances by at most
`gain` * y, where gain = (1 + rho) / (1 - rho); nothing else is needed of the clocks. The times fit
when

    vote life  >=  gain * (patience + lease life)                                 `Rules.times_fit`

State, for one queue (`Group`); `LockQuorum` has it for each queue, and messages besides:

    holder[r]    nobody, one of the two consumers, or somebody else     votes[r][q].c
    left[r]      how long the vote still lives, by r's clock            votes[r][q].left
    number[r]    the last attempt that it was given to                  votes[r][q].n
    wait[r]      for how long r does not vote after a restart           wait[r]
    tries[c]     attempts of a consumer so far                          tries[c]
    given[c]     the last attempt whose votes it gave back              numbers in frees
    asking[c]    whether it waits for an answer, of attempt tries[c]    attempt[c] # NoAttempt
    patience[c]  for how long it takes one, by c's clock                attempt[c].left - 1
    yes[c][r]    whether it counts r's vote                             r \in attempt[c].yes[q]
    lease[c]     how long it holds the queue, by c's clock              lease[c][q]
    promised[r]  whom r voted for last, forgotten or not                (history)
    still[r]     how long that vote lives or would have lived           (history)

What is over is 0 or less. The last two are read by no step: they are what a broker that has
restarted does not know, and what it waits for. With them the invariants are inductive.

Steps are freer than those of the specification: every request and every release that was ever sent
may arrive at any time, more than once, and a request whose release came first gets a vote (LateAsk
costs a queue's liveness, not its safety). The two consumers are any two of all, so what holds for
them holds for all pairs; what others do is that votes are for somebody else, or for nobody. A batch
is such a step for each of its queues.

This is an independent abstraction: the formulas are not generated from the TLA+ text, which has
whole numbers. Tests (model_tests/proofs) compare them with it, while clocks agree: from random
states, each step is possible when the compiled operators say so, and does the same; each step of a
walk through the finite models is one of the theorem, the invariants have the same values, and steps
of the mutants are none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

import z3

from rocketproof.theorems.lock_state import (
    CONSUMERS,
    NOBODY,
    SOMEBODY,
    Group,
    Times,
    group_constants,
    shown_group,
    shown_times,
    time_constants,
)
from rocketproof.theorems.lock_steps import (
    RIGHT,
    STEPS,
    Choice,
    Rules,
    choice_constants,
    enough,
)
from tlatrace.proofs import Claim, Induction, Lemma

__all__ = [
    "INVARIANTS",
    "NAME",
    "VARIANTS",
    "Invariant",
    "Variant",
    "false_variant",
    "theorem",
]

NAME: Final = "LockQuorum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A theorem that is false: the protocol with a bug."""

    name: str
    description: str
    rules: Rules
    lemma: str
    """The step that tells most about the bug."""


VARIANTS: Final = (
    Variant(
        name="B45Quorum",
        description="half of the brokers are enough",
        rules=Rules(quorum=lambda brokers: brokers // 2),
        lemma="Answer",
    ),
    Variant(
        name="B45Lease",
        description="a lease may be as long as a vote",
        rules=Rules(
            times_fit=lambda t: z3.And(t.vote >= t.gain * t.patience, t.vote >= t.gain * t.lease)
        ),
        lemma="Answer",
    ),
    Variant(
        name="B45Restart",
        description="a broker votes at once after a restart",
        rules=Rules(wait_after_restart=lambda _: z3.RealVal(0)),
        lemma="Restart",
    ),
    Variant(
        name="Drift",
        description="a vote outlives an answer and a lease, but not by clocks of different rates",
        rules=Rules(times_fit=lambda t: t.vote >= t.patience + t.lease),
        lemma="Answer",
    ),
    Variant(
        name="VoteOnce",
        description="a broker votes for whoever asks",
        rules=Rules(is_free=lambda _holder, _asks: z3.BoolVal(True)),
        lemma="Vote",
    ),
    Variant(
        name="LateFree",
        description="a release that comes late takes the vote of a later attempt",
        rules=Rules(is_over=lambda _number, _released: z3.BoolVal(True)),
        lemma="Release",
    ),
    Variant(
        name="LateAnswer",
        description="a consumer takes an answer however late it comes",
        rules=Rules(in_time=lambda _patience: z3.BoolVal(True)),
        lemma="Answer",
    ),
)


# ---- Invariants ----


def _type_ok(group: Group, _times: Times, _rules: Rules) -> z3.BoolRef:
    return z3.And(
        [z3.And(who >= NOBODY, who <= SOMEBODY) for who in (*group.holder, *group.promised)]
    )


def _lock_mutex(group: Group, _times: Times, _rules: Rules) -> z3.BoolRef:
    return z3.Not(z3.And(group.holds(0), group.holds(1)))


def _is_promised(group: Group, r: int, c: int, life: z3.ArithRef) -> z3.BoolRef:
    """Say that a broker votes for a consumer for so long, or would if it had not forgotten.

    Spec: LockQuorumProperties!Backs
    """
    return z3.And(
        group.promised[r] == CONSUMERS[c],
        group.still[r] >= life,
        z3.Or(group.holder[r] == NOBODY, group.number[r] > group.given[c]),
    )


def _held_by_quorum(group: Group, times: Times, rules: Rules) -> z3.BoolRef:
    return z3.And(
        [
            z3.Implies(
                group.holds(c),
                enough(
                    tuple(
                        _is_promised(group, r, c, times.gain * group.lease[c])
                        for r in group.brokers
                    ),
                    rules.quorum(len(group.brokers)),
                ),
            )
            for c in range(len(CONSUMERS))
        ]
    )


def _yes_means_vote(group: Group, times: Times, _rules: Rules) -> z3.BoolRef:
    return z3.And(
        [
            z3.Implies(
                z3.And(group.asking[c], group.patience[c] >= 0, group.yes[c][r]),
                _is_promised(
                    group,
                    r,
                    c,
                    times.vote - times.gain * times.patience + times.gain * group.patience[c],
                ),
            )
            for c in range(len(CONSUMERS))
            for r in group.brokers
        ]
    )


def _forgotten_waits(group: Group, _times: Times, _rules: Rules) -> z3.BoolRef:
    return z3.And(
        [
            z3.And(
                group.still[r] <= _times.vote,
                group.wait[r] >= 0,
                z3.If(
                    group.holder[r] == NOBODY,
                    z3.Or(
                        group.promised[r] == NOBODY,
                        group.still[r] <= group.wait[r],
                        group.still[r] <= 0,
                    ),
                    z3.And(group.promised[r] == group.holder[r], group.still[r] == group.left[r]),
                ),
            )
            for r in group.brokers
        ]
    )


def _attempts(group: Group, times: Times, _rules: Rules) -> z3.BoolRef:
    return z3.And(
        [
            z3.And(
                group.given[c] >= 0,
                group.given[c] <= group.tries[c],
                z3.Implies(
                    group.asking[c],
                    z3.And(
                        group.given[c] < group.tries[c],
                        group.patience[c] <= times.patience,
                    ),
                ),
                z3.Implies(group.holds(c), group.given[c] < group.tries[c]),
            )
            for c in range(len(CONSUMERS))
        ]
    )


Invariant: TypeAlias = Callable[[Group, Times, Rules], z3.BoolRef]

INVARIANTS: Final[Mapping[str, tuple[str, Invariant]]] = MappingProxyType(
    {
        "TypeOK": ("A vote is for nobody, one of the two consumers, or somebody else.", _type_ok),
        "LockMutex": ("Two consumers never hold the queue.", _lock_mutex),
        "HeldByQuorum": (
            "A majority has voted for who holds the queue, and these votes live as long as the "
            "lease by any clock, forgotten or not.",
            _held_by_quorum,
        ),
        "YesMeansVote": (
            "A vote that a consumer counts was given in this attempt.",
            _yes_means_vote,
        ),
        "ForgottenWaits": (
            "A broker that has forgotten a vote waits until it is over.",
            _forgotten_waits,
        ),
        "Attempts": (
            "Who asks for the queue or holds it has not given back the votes of its last attempt.",
            _attempts,
        ),
    }
)


# ---- The theorem ----


def theorem(brokers: int) -> Induction:
    """State the theorem for a group of so many brokers."""
    return _induction(
        NAME,
        f"With {'one broker' if brokers == 1 else f'{brokers} brokers'}, two consumers never hold "
        "one queue. The lives of votes and leases, the patience, the time that passes and the "
        "rates of clocks (from 1 - rho to 1 + rho) are any real numbers with "
        "vote life >= (1 + rho) / (1 - rho) * (patience + lease life).",
        RIGHT,
        brokers,
    )


def false_variant(variant: Variant, brokers: int) -> Induction:
    """State the theorem of a protocol with a bug."""
    return _induction(
        f"{NAME} with {variant.name}", variant.description, variant.rules, brokers, variant.lemma
    )


def _induction(
    name: str, statement: str, rules: Rules, brokers: int, only: str | None = None
) -> Induction:
    times, before = time_constants(), group_constants(brokers)
    choice = choice_constants(brokers)
    assumed = (times.possible, rules.times_fit(times))
    hypothesis = [one(before, times, rules) for _, one in INVARIANTS.values()]
    lemmas = []
    if only is None:
        premises = (*assumed, before.is_initial)
        lemmas = [_lemma("Init", premises, before, before, times, rules)]
    for step_name, rule in STEPS.items():
        if only in (None, step_name):
            step = rule(before, times, rules, choice)
            premises = (*assumed, *hypothesis, step.possible)
            lemmas.append(_lemma(step_name, premises, before, step.post, times, rules))
    if only is None:
        lemmas.append(_clocks(times, choice))
    return Induction(
        name=name,
        statement=statement,
        lemmas=tuple(lemmas),
        not_shown="Anything of more brokers; that a queue gets a holder (LockLive), and that one "
        "lets go of it (LockRelease): TLC checks those in small models.",
    )


def _lemma(
    name: str,
    premises: tuple[z3.BoolRef, ...],
    before: Group,
    after: Group,
    times: Times,
    rules: Rules,
) -> Lemma:
    def describe(model: z3.ModelRef) -> str:
        was = shown_group(before, model)
        if after is before:
            return "\n".join([shown_times(times, model), *was])
        changed = [line for line in shown_group(after, model) if line not in was]
        return "\n".join([shown_times(times, model), *was, f"-- {name} -->", *changed])

    return Lemma(
        name=name,
        premises=premises,
        claims=tuple(
            [
                Claim(name=claim, description=description, formula=one(after, times, rules))
                for claim, (description, one) in INVARIANTS.items()
            ]
        ),
        readable=before.is_small(times),
        describe=describe,
    )


def _clocks(times: Times, choice: Choice) -> Lemma:
    """State what is needed of clocks, which the step PassTime takes for granted."""
    passed = z3.Real("time_that_passes")
    broker, consumer = choice.by_broker[0], choice.by_consumer[0]
    slow, fast = (1 - times.rho) * passed, (1 + times.rho) * passed

    def describe(model: z3.ModelRef) -> str:
        return f"{shown_times(times, model)}: {model}"

    return Lemma(
        name="Clocks",
        premises=(
            times.possible,
            passed >= 0,
            z3.And(slow <= broker, broker <= fast, slow <= consumer, consumer <= fast),
        ),
        claims=(
            Claim(
                name="Gain",
                description="While a consumer's clock advances by y, a broker's does so by gain * "
                "y at most.",
                formula=broker <= times.gain * consumer,
            ),
        ),
        readable=passed <= 1,
        describe=describe,
    )
