"""What a seed draws of a walk, and how a find is made smaller, without any real broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketmq_peer.played_run import Played, PlayedRun
from rocketmq_peer.random_walk import Do, Move, Walk, draw, scenario_of
from rocketproof import peer_hunt
from rocketproof.cli import main
from rocketproof.peer_finds import Find, totals
from rocketproof.peer_hunt import hunt
from rocketproof.peer_runs import JudgedRun, JudgedTrace
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.report.results import TraceResult
from tlatrace.trace import Trace

GOOD = Conforms(9)
BAD = Diverges(4, "BecomeMaster", "nothing", "a step")
CUT = Diverges(2, "Restart", "nothing", "a step")

Judge = Callable[[Sequence[Move]], JudgedRun]


def judged(verdict: Verdict, *names: str, lost: bool = False) -> JudgedRun:
    result = TraceResult(path="run", spec="EpochTruncation", outcome=verdict)
    trace = Trace(header=None, events=())
    return JudgedRun(
        run=PlayedRun(
            scenario="walk_0",
            version="5.5.0",
            protocols=("epoch_truncation",),
            museum=(),
            promises_durability=True,
            played=Played(acknowledged=["a"], read_back=() if lost else ("a",)),
            seconds=1.0,
            trouble=None,
        ),
        folder=Path("run"),
        traces=(
            JudgedTrace(
                protocol="epoch_truncation", result=result, explained_by=names, trace=trace
            ),
        ),
    )


def kills_the_master(moves: Sequence[Move]) -> JudgedRun:
    """Find something whenever somebody is killed, and something else when links are cut."""
    if any(move.do is Do.KILL for move in moves):
        return judged(BAD, "B03")
    return judged(CUT) if any(move.do is Do.CUT for move in moves) else judged(GOOD)


def play_by(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Judge moves without playing them; return how many moves each play had."""
    plays: list[int] = []

    def played(_: Walk, moves: Sequence[Move], *__: object) -> JudgedRun:
        plays.append(len(moves))
        return judge(moves)

    monkeypatch.setattr(peer_hunt, "_played", played)
    return plays


def a_seed(has: Do) -> int:
    return next(seed for seed in range(99) if any(move.do is has for move in draw(seed).moves))


def hunted(seed: int, reductions: int) -> peer_hunt.Hunted:
    (one,) = hunt("5.5.0", [seed], Path("H"), lambda _: None, reductions=reductions)
    return one


def test_a_seed_draws_the_same_walk_and_another_seed_another() -> None:
    walks = [draw(seed) for seed in range(20)]
    assert walks == [draw(seed) for seed in range(20)]
    assert len({walk.moves for walk in walks}) == 20
    assert {walk.options.brokers for walk in walks} == {2, 3}
    assert {move.do for seed in range(99) for move in draw(seed).moves} == set(Do)
    scenario = scenario_of(walks[0], walks[0].moves[:2])
    assert scenario.about == f"seed 0: {walks[0].moves[0]}, {walks[0].moves[1]}"


def test_a_find_is_made_as_small_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    plays = play_by(kills_the_master, monkeypatch)
    one = hunted(a_seed(Do.KILL), reductions=99)
    assert one.finds == (Find("epoch_truncation", "BecomeMaster", ("B03",)),)
    assert [move.do for move in one.moves] == [Do.KILL]
    assert one.plays == len(plays)
    assert str(one.finds[0]) == "epoch_truncation at BecomeMaster: B03"


def test_what_is_new_is_made_smaller_first(monkeypatch: pytest.MonkeyPatch) -> None:
    both = replace(judged(BAD, "B03"), traces=(*judged(BAD, "B03").traces, *judged(CUT).traces))

    def finds_both(moves: Sequence[Move]) -> JudgedRun:
        kinds = {move.do for move in moves}
        return both if {Do.KILL, Do.CUT} <= kinds else kills_the_master(moves)

    play_by(finds_both, monkeypatch)
    seed = next(n for n in range(99) if {Do.KILL, Do.CUT} <= {one.do for one in draw(n).moves})
    one = hunted(seed, reductions=99)
    assert [move.do for move in one.moves] == [Do.CUT]


def test_a_smaller_walk_has_the_same_names_and_breaks_the_promise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def another_name(moves: Sequence[Move]) -> JudgedRun:
        return judged(BAD, "W2+B79" if any(one.do is Do.KILL for one in moves) else "B79")

    play_by(another_name, monkeypatch)
    one = hunted(a_seed(Do.KILL), reductions=99)
    assert [move.do for move in one.moves] == [Do.KILL]

    def loses(moves: Sequence[Move]) -> JudgedRun:
        return judged(BAD, "W2", lost=any(one.do is Do.CUT for one in moves))

    play_by(loses, monkeypatch)
    one = hunted(a_seed(Do.CUT), reductions=99)
    assert [move.do for move in one.moves] == [Do.CUT]


def test_it_is_played_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    plays = play_by(kills_the_master, monkeypatch)
    one = hunted(a_seed(Do.KILL), reductions=3)
    assert (len(plays), one.plays) == (4, 4)
    assert any(move.do is Do.KILL for move in one.moves)
    play_by(kills_the_master, monkeypatch)
    whole = hunted(a_seed(Do.KILL), reductions=0)
    assert (whole.moves, whole.plays) == (draw(a_seed(Do.KILL)).moves, 1)


def test_a_run_that_conforms_is_no_find(monkeypatch: pytest.MonkeyPatch) -> None:
    plays = play_by(lambda _: judged(GOOD), monkeypatch)
    one = hunted(7, reductions=5)
    assert (one.finds, len(plays)) == ((), 1)


def test_a_loss_that_nothing_shows_is_a_find_and_new(monkeypatch: pytest.MonkeyPatch) -> None:
    play_by(lambda _: judged(GOOD, lost=True), monkeypatch)
    one = hunted(7, reductions=0)
    assert [str(find) for find in one.finds] == ["a promise is broken: NEW"]


def test_the_totals_count_what_was_examined_and_found() -> None:
    runs = [judged(GOOD), judged(BAD, "B03"), judged(BAD, "B03"), judged(CUT)]
    assert list(totals(runs)) == [
        "4 runs, 19 steps examined: 1 conforms, 3 diverges; 0 came to no end",
        "  2 x epoch_truncation at BecomeMaster: B03",
        "  1 x epoch_truncation at Restart: NEW",
    ]


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["peer", "rocketmq", "hunt", "--reductions", "0", *arguments])


def test_the_command_writes_a_line_for_each_seed_and_plays_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(
        _walk: Walk, moves: Sequence[Move], _version: str, folder: Path, _say: object
    ) -> JudgedRun:
        folder.mkdir(parents=True)
        return kills_the_master(moves)

    monkeypatch.setattr(peer_hunt, "_played", played)
    seed = a_seed(Do.KILL)
    first = command("--seeds", f"{seed}..{seed + 1}", "--out", str(tmp_path))
    assert first.exit_code == 1, first.output
    lines = [json.loads(line) for line in (tmp_path / "hunt.ndjson").read_text().splitlines()]
    assert [line["seed"] for line in lines] == [seed, seed + 1]
    assert "2 runs, " in first.output
    assert lines[0]["finds"] == ["epoch_truncation at BecomeMaster: B03"]
    assert lines[0]["moves"] == [str(move) for move in draw(seed).moves]
    again = command("--seeds", f"{seed}..{seed + 1}", "--out", str(tmp_path))
    assert again.exit_code == 3, again.output
    assert command("--seeds", "3..1", "--out", str(tmp_path)).exit_code == 2
