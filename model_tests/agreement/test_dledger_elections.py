"""Elections as DLedger's: each step of a group of electors is an action of the specification."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import pytest

from model_tests.agreement.election_group import Group, GroupStep
from model_tests.agreement.election_states import NONE, GroupStates
from rocketha.dledger.rules import ELECTOR_RULES, ElectorRules
from rocketha.dledger.state import ElectorActionName, ParseResult
from rocketha.formats.dledger_codes import VoteResult
from tests.source_files import ROOT
from tlatrace.oracle import load_model
from tlatrace.oracle.model import Model
from tlatrace.tla.config import parse_config

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("dledger model")]

_SPEC: Final = ROOT / "spec" / "dledger" / "DLedger.tla"
_GROUPS: Final = {("n0", "n1", "n2"): ("n0", "n1"), ("n0", "n1", "n2", "n3", "n4"): ("n2",)}
"""The members, and who of them is preferred."""
_EVENTS: Final = 600
_SEEDS: Final = 20
_ACTIONS: Final = {*map(str, ElectorActionName), "Crash"}


@cache
def model_of(members: tuple[str, ...]) -> Model:
    """Compile the specification for a group; about five seconds each, the first time."""
    quoted = [", ".join([f'"{one}"' for one in of]) for of in (members, _GROUPS[members])]
    text = f"""SPECIFICATION Spec
        CONSTANTS Node = {{{quoted[0]}}} None = "{NONE}" Preferred = {{{quoted[1]}}}"""
    return load_model(_SPEC, parse_config(text, _SPEC), conjuncts=True)


class RefusedError(Exception):
    """A step is not the action that the core says."""

    def __init__(self, seed: str, step: GroupStep, why: str) -> None:
        super().__init__(f"seed {seed}: {step.action}{step.params}: {why}")
        self.action = step.action


def judge(
    seed: str, members: tuple[str, ...], taken: Counter[str], rules: ElectorRules = ELECTOR_RULES
) -> Group:
    """Run a group, and ask the specification for each of its steps, which are counted.

    Raises: RefusedError
    """
    model = model_of(members)
    group = Group(seed, members, _GROUPS[members], rules)
    states = GroupStates(model, group)
    pre = states.read()
    if group.is_new:
        assert model.is_initial(pre)
    for step in group.run(_EVENTS):
        post = states.read()
        if step.action is None:
            if pre != post:
                raise RefusedError(seed, step, "it changes something")
        else:
            params = model.adopt_params(step.action, step.params)
            if not model.allows(step.action, params, pre, post):
                why = model.failing_conjunct(step.action, params, pre, post)
                place = None if why is None else why.conjunct.place
                raise RefusedError(seed, step, f"{place} is FALSE")
        taken[str(step.action)] += 1
        pre = post
    return group


def test_every_step_of_a_group_is_one_of_the_specification() -> None:
    taken: Counter[str] = Counter()
    results: Counter[VoteResult | ParseResult] = Counter()
    for seed in range(_SEEDS):
        for members in _GROUPS:
            group = judge(f"{len(members)}-{seed}", members, taken)
            results.update(group.answered)
            results.update(group.parsed)
    print(f"\n{taken.total()} steps: {dict(taken.most_common())}")
    print({result.value: number for result, number in results.most_common()})

    assert taken.keys() - {"None"} == _ACTIONS, "an action was never taken"
    assert taken.total() >= 20_000
    assert min(taken.values()) >= 20
    assert len(results) == 9 + 4, "an answer or a result of a round was never seen"


def test_a_group_that_is_left_in_peace_has_a_leader() -> None:
    """Nothing is proved by it; a candidate that asks for ever, and may never lead, is found."""
    slowest = 0
    for seed in range(200):
        members = sorted(_GROUPS, key=len)[seed % 2]
        group = Group(f"peace-{seed}", members, _GROUPS[members])
        assert list(group.run(300))
        group.left_in_peace(members[0] if seed % 3 else None)
        steps = 0
        while group.followed() is None:
            list(group.run(1))
            steps += 1
            assert steps < 4_000, f"run {seed} has no leader"
        slowest = max(slowest, steps)
    print(f"\na leader is followed after at most {slowest} events")


@dataclass(frozen=True, slots=True)
class Wrong:
    """Rules that are not DLedger's as it should be, and how they are noticed."""

    rules: ElectorRules
    noticed_in: frozenset[str]
    """The action that the first refused step says it is."""


def _wrong(*noticed_in: str, **rules: object) -> Wrong:
    return Wrong(replace(ELECTOR_RULES, **rules), frozenset(noticed_in))  # type: ignore[arg-type]


WRONG: Final = {
    "votes for a log that lacks what its own has": _wrong(
        "HandleVote", refuses_log=lambda *_: None
    ),
    "claims the term that it is in": _wrong("AskVotes", end_term=lambda _, curr_term: curr_term),
    "votes twice in a term": _wrong("HandleVote", "AskVotes", has_voted=lambda *_: False),
    "votes in a term that it has not gone to": _wrong("HandleVote", is_ready=lambda *_: True),
    "answers before the vote is on the disk": _wrong(
        "HandleVote", "AskVotes", on_disk_first=lambda: False
    ),
    "forgets its vote in a power cut": _wrong("Crash", vote_after_crash=lambda _: None),
    "goes on in the same term after a power cut": _wrong("Crash", next_after_crash=lambda: False),
    "goes to the next term, but to no larger one": _wrong(
        "IncreaseTerm", next_term=lambda _, curr_term: curr_term + 1
    ),
    "leads although it heard of a larger term": _wrong("ParseVotes", may_lead=lambda *_: True),
    "leads with half of the votes": _wrong(
        "ParseVotes", quorum=lambda count, of: 2 * count >= of - 1
    ),
    "takes the result of a round along as follower": _wrong(
        "HandleHeartbeat", next_as_follower=lambda to_next: to_next
    ),
    "lets others before it though it shall lead": _wrong("HandleVote", is_taking=lambda *_: False),
}
_TRIED: Final = 40
"""Seeds for each wrong rule, of groups of three and of five in turn."""


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_noticed(name: str) -> None:
    wrong = WRONG[name]
    for tried in range(_TRIED):
        members = sorted(_GROUPS, key=len)[tried % 2]
        try:
            judge(f"wrong-{tried}", members, Counter(), wrong.rules)
        except RefusedError as error:
            found = error
            break
    else:
        pytest.fail(f"not noticed in {_TRIED} runs")
    print(f"\n{name}: run {tried + 1}, {found}")
    assert found.action in wrong.noticed_in
