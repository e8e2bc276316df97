"""TLC's word: it is asked about a sample and all that was rejected, and a contradiction stops."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.traces.corpus.toy import (
    ToyChecker,
    ToySource,
    ToyTlc,
    batches_of,
    judge,
    real_spec,
    record,
    record_badly,
    rows_of,
    toy_subject,
)
from tlatrace.corpus.by_tlc import validate_by_tlc
from tlatrace.corpus.examples import NearestSuccessor
from tlatrace.corpus.findings import Findings, finding_batch
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.kernel import Kernel, KernelOptions
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.recheck import rechecked_everywhere
from tlatrace.corpus.result import Rechecked
from tlatrace.corpus.sample import texts_of
from tlatrace.corpus.sketch import SPAN, Ranks, rank_of
from tlatrace.corpus.tlc_judge import tlc_judge
from tlatrace.corpus.validate import Driver, TlcRecheck
from tlatrace.corpus.worker import Work
from tlatrace.errors import CorpusError, DisagreementError, ToolError
from tlatrace.judgement.transition import Failed, Judged, Transition, transition_key
from tlatrace.judgement.verdict import exit_code
from tlatrace.trace import Trace
from tlatrace.values import canonical_state


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recheck") / "c"
    generate_corpus(make_here(1), folder, record_badly, first_seed=0, runs=30, source={})
    return folder


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recheck") / "sound"
    generate_corpus(make_here(1), folder, record, first_seed=0, runs=30, source={})
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


@pytest.mark.parametrize("sample", [10_000, None], ids=["a sample", "all"])
@pytest.mark.parametrize(
    ("ours", "theirs", "name", "told"),
    [c[1:] for c in CONTRADICTIONS],
    ids=[c[0] for c in CONTRADICTIONS],
)
def test_a_contradiction_stops_the_run_and_is_ours(
    request: pytest.FixtureRequest,
    ours: ToySource,
    theirs: ToySource,
    name: str,
    told: str,
    sample: int | None,
) -> None:
    folder: Path = request.getfixturevalue(name)

    with pytest.raises(DisagreementError, match="a mistake of rocketproof") as caught:
        judge(folder, ours, tlc=TlcRecheck(ToyTlc(theirs), sample))

    assert told in str(caught.value)


@pytest.mark.parametrize("sample", [10_000, None], ids=["a sample", "all"])
def test_a_step_without_an_answer_of_tlc_leaves_the_corpus_undecided(
    sound: Path, sample: int | None
) -> None:
    result = judge(sound, tlc=TlcRecheck(ToyTlc(ToySource(fails_at=3)), sample))

    assert result.rechecked is not None
    assert result.rechecked.unanswered > 0
    assert result.rechecked.accepted > 0
    assert exit_code(result.verdict) == 3
    assert result.problems[0].startswith("TLC has no answer for ")
    assert result.problems[0].endswith("cannot judge this")


def lose_one(transitions: Sequence[Transition], /) -> Sequence[Judged]:
    return ToyTlc()(transitions)[1:]


def test_an_answer_that_is_missing_is_an_error_of_the_tool(corpus: Path) -> None:
    with pytest.raises(ToolError, match=r"answered \d+ of \d+ transitions"):
        judge(corpus, tlc=TlcRecheck(lose_one, 10))


def break_down(_: Sequence[Transition], /) -> Sequence[Judged]:
    raise ToolError("TLC", "it rains")


def test_where_tlc_breaks_down_in_a_worker_the_corpus_is_undecided(sound: Path) -> None:
    result = judge(sound, tlc=TlcRecheck(break_down, None))

    assert exit_code(result.verdict) == 3
    assert "it rains" in result.problems[0]


def test_tlc_is_asked_about_everything_where_it_is_judged(corpus: Path) -> None:
    tlc, sampled = ToyTlc(), ToyTlc()

    result = judge(corpus, tlc=TlcRecheck(tlc, None))
    judge(corpus, tlc=TlcRecheck(sampled, 10_000))

    again = result.rechecked
    assert again is not None
    assert again.everything
    assert again.accepted + again.rejected == len(tlc.asked)
    assert again.rejected > 0
    assert {transition_key(t) for t in tlc.asked} == {transition_key(t) for t in sampled.asked}
    assert result.verdicts == judge(corpus).verdicts


@pytest.mark.parametrize("sample", [100, None], ids=["a sample", "all"])
def test_workers_ask_or_show_wherever_they_are(
    good: Path, driver: Driver, sample: int | None
) -> None:
    result = judge(good, driver=driver, tlc=TlcRecheck(ToyTlc(), sample))

    assert result.rechecked is not None
    assert result.rechecked.everything is (sample is None)
    assert result.rechecked.accepted >= (sample or result.figures.distinct)
    assert exit_code(result.verdict) == 0


def test_workers_in_processes_ask(sound: Path) -> None:
    result = judge(sound, driver=LocalDriver(2, here_rows=0), tlc=TlcRecheck(ToyTlc(), None))

    assert result.rechecked is not None
    assert result.rechecked.accepted >= result.figures.distinct


def test_what_was_not_brought_before_tlc_is_noticed() -> None:
    findings = Findings()
    kernel = Kernel(ToyChecker(), KernelOptions(chunk_steps=1 << 16))
    for batch in kernel(batches_of(rows_of("one", record(1)), 5)):
        findings.add(batch)

    with pytest.raises(ToolError, match="was asked about 0 of 12 different transitions"):
        rechecked_everywhere(findings)


@pytest.mark.parametrize(("asked", "enough"), [(29_000, False), (32_000, True)])
def test_of_many_transitions_nearly_all_must_have_been_brought(asked: int, enough: bool) -> None:
    findings = Findings()
    ranks = Ranks()
    for rank in range(0, SPAN, SPAN // 32_000):
        ranks.add(rank)
    findings.add(
        finding_batch(
            [
                {"kind": "ranks", "key": ranks.packed()},
                {"kind": "count", "detail": "tlc_accepted", "count": asked},
            ]
        )
    )

    if enough:
        assert rechecked_everywhere(findings).accepted == asked
    else:
        with pytest.raises(ToolError, match="was asked about 29000 of 32"):
            rechecked_everywhere(findings)


# ---- the texts of a sample ----


def test_a_sample_is_fetched_in_several_readings(corpus: Path) -> None:
    options = KernelOptions(chunk_steps=read_manifest(corpus).chunk_steps, sample=50, seed=4)
    findings = Findings()
    for batch in LocalDriver(1)(corpus, Work(source=ToySource(), options=options)):
        findings.add(batch)
    ranks = findings.chosen(50)

    whole = list(texts_of(corpus, LocalDriver(1), options, ranks))
    parts = list(texts_of(corpus, LocalDriver(1), options, ranks, at_a_time=20))

    assert [len(part) for part in parts] == [20, 20, 10]
    assert [text for part in parts for text in part] == whole[0]
    assert [rank_of(text.key, 4) for text in whole[0]] == ranks
    assert not findings.shown


def test_a_corpus_that_has_changed_is_noticed(corpus: Path, far: Path) -> None:
    options = KernelOptions(chunk_steps=read_manifest(corpus).chunk_steps, sample=50)
    findings = Findings()
    for batch in LocalDriver(1)(corpus, Work(source=ToySource(), options=options)):
        findings.add(batch)

    with pytest.raises(ToolError, match="were not found a second time"):
        list(texts_of(far, LocalDriver(1), options, findings.chosen(50)))


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


@pytest.mark.java
def test_tlc_itself_is_asked_about_everything(sound: Path) -> None:
    judge_by_tlc = pickle.loads(pickle.dumps(tlc_judge(real_spec())))  # as it comes to a worker

    result = judge(sound, tlc=TlcRecheck(judge_by_tlc, None))

    assert result.rechecked is not None
    assert result.rechecked.accepted == result.figures.distinct
    assert exit_code(result.verdict) == 0
