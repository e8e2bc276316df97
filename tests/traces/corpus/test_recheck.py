"""TLC's word: it is asked about a sample and all that was rejected, and a contradiction stops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.traces.corpus.toy import (
    ToySource,
    ToyTlc,
    judge,
    real_spec,
    record,
    record_badly,
    toy_subject,
)
from tlatrace.corpus.by_tlc import validate_by_tlc
from tlatrace.corpus.examples import NearestSuccessor
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.result import Rechecked
from tlatrace.corpus.tlc_judge import tlc_judge
from tlatrace.corpus.validate import TlcRecheck
from tlatrace.errors import CorpusError, DisagreementError, ToolError
from tlatrace.trace import Trace
from tlatrace.validate.transition import Failed, Judged, Transition
from tlatrace.values import canonical_state


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recheck") / "c"
    generate_corpus(make_here(1), folder, record_badly, first_seed=0, runs=30, source={})
    return folder


def record_far(seed: int) -> Trace:
    return record(seed, steps=80)


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recheck") / "far"
    generate_corpus(make_here(1), folder, record_far, first_seed=0, runs=3, source={})
    return folder


def test_tlc_is_asked_about_a_sample_and_all_that_was_rejected(corpus: Path) -> None:
    tlc = ToyTlc()

    result = judge(corpus, tlc=TlcRecheck(tlc, 40))

    rejected = {canonical_state(t.pre) for t in tlc.asked if t.pre and t.post["x"] == -7}
    assert result.rechecked == Rechecked(accepted=40, rejected=len(rejected))
    assert len(tlc.asked) == 40 + len(rejected)
    assert len({(str(t.pre), t.action, t.params, str(t.post)) for t in tlc.asked}) == len(tlc.asked)


def test_another_seed_is_another_sample(corpus: Path) -> None:
    one, other, again = ToyTlc(), ToyTlc(), ToyTlc()

    judge(corpus, tlc=TlcRecheck(one, 10), seed=1)
    judge(corpus, tlc=TlcRecheck(other, 10), seed=2)
    judge(corpus, tlc=TlcRecheck(again, 10), seed=1)

    assert [t.post for t in one.asked] == [t.post for t in again.asked]
    assert [t.post for t in one.asked] != [t.post for t in other.asked]


def test_a_sample_of_everything_is_all_distinct_transitions(corpus: Path) -> None:
    result = judge(corpus, tlc=TlcRecheck(ToyTlc(), 100_000))

    assert result.rechecked is not None
    assert result.rechecked.accepted + result.rechecked.rejected == result.figures.distinct


CONTRADICTIONS = [
    ("TLC allows what was refused", ToySource(), ToySource(forgives=-7), "corpus", "TLC allows"),
    ("TLC refuses what was allowed", ToySource(forgives=-7), ToySource(), "corpus", "TLC does not"),
    ("TLC finds no violation", ToySource(max=60), ToySource(max=70), "far", "TLC allows the step"),
    ("TLC finds a violation", ToySource(max=70), ToySource(max=60), "far", "Low violated"),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "name", "told"),
    [c[1:] for c in CONTRADICTIONS],
    ids=[c[0] for c in CONTRADICTIONS],
)
def test_a_contradiction_stops_the_run_and_is_ours(
    request: pytest.FixtureRequest, ours: ToySource, theirs: ToySource, name: str, told: str
) -> None:
    folder: Path = request.getfixturevalue(name)

    with pytest.raises(DisagreementError, match="a mistake of rocketproof") as caught:
        judge(folder, ours, tlc=TlcRecheck(ToyTlc(theirs), 10_000))

    assert told in str(caught.value)


def test_a_step_without_an_answer_of_tlc_is_an_error_of_the_tool(corpus: Path) -> None:
    with pytest.raises(ToolError, match="has no answer for"):
        judge(corpus, tlc=TlcRecheck(ToyTlc(ToySource(fails_at=3)), 10_000))


def lose_one(transitions: Sequence[Transition], /) -> Sequence[Judged]:
    return ToyTlc()(transitions)[1:]


def test_an_answer_that_is_missing_is_an_error_of_the_tool(corpus: Path) -> None:
    with pytest.raises(ToolError, match=r"answered \d+ of \d+ transitions"):
        judge(corpus, tlc=TlcRecheck(lose_one, 10))


def test_what_has_no_answer_of_ours_is_not_asked(corpus: Path) -> None:
    tlc = ToyTlc(ToySource())

    result = judge(corpus, ToySource(fails_at=0), tlc=TlcRecheck(tlc, 10))

    assert tlc.asked == []
    assert result.count("undecided") == 30


# ---- TLC alone ----


def test_tlc_alone_gives_the_same_verdicts(corpus: Path, far: Path) -> None:
    for folder in (corpus, far):
        tlc = ToyTlc()

        result = validate_by_tlc(folder, toy_subject(), LocalDriver(1), tlc)

        expected = judge(folder)
        assert result.verdicts == expected.verdicts
        assert result.actions == expected.actions
        assert result.examples == expected.examples
        assert len(tlc.asked) >= expected.figures.distinct


def fail_all(transitions: Sequence[Transition], /) -> Sequence[Judged]:
    return [Judged(step=Failed("no time")) for _ in transitions]


def test_tlc_alone_may_have_no_answer(corpus: Path) -> None:
    result = validate_by_tlc(corpus, toy_subject(), LocalDriver(1), fail_all)

    assert result.count("undecided") == 30


def test_too_much_for_tlc_alone_is_refused(corpus: Path) -> None:
    with pytest.raises(CorpusError, match="more than 20 different transitions"):
        validate_by_tlc(corpus, toy_subject(), LocalDriver(1), ToyTlc(), limit=20)


@pytest.mark.java
def test_tlc_itself_agrees_with_the_toy(corpus: Path) -> None:
    spec = real_spec()

    result = judge(corpus, tlc=TlcRecheck(tlc_judge(spec), 50), make_example=NearestSuccessor(spec))

    assert result.rechecked is not None
    assert result.rechecked.accepted == 50
    assert result.examples[0].allowed is not None
    assert any("but the trace has -7" in line for line in result.examples[0].allowed)
