"""The report of a corpus: as text, as JSON, and as a page that runs and loads nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tlatrace.corpus.manifest import CorpusManifest
from tlatrace.corpus.result import (
    CorpusResult,
    Example,
    FaultCount,
    Figures,
    Rechecked,
    TraceVerdict,
)
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict, exit_code
from tlatrace.logged import Logged
from tlatrace.report.corpus_html import add_section, corpus_html, write_corpus_html
from tlatrace.report.corpus_json import corpus_json
from tlatrace.report.corpus_text import corpus_text

HOSTILE = "</td><script src='http://e.example/x.js'>alert(1)</script>&\x1b[31m"

MANIFEST = CorpusManifest(
    spec="Toy",
    spec_sha256="ab" * 32,
    constants={},
    traces=4,
    steps=40,
    failed=1,
    source={"kind": "simulation", "first_seed": 5, "bugs": ["B05"]},
    reproduce="rocketproof simulate toy --bug=B05 --seed {seed}",
)


def trace(seed: int, verdict: Verdict) -> TraceVerdict:
    return TraceVerdict(trace_id=f"seed-{seed}", seed=seed, verdict=verdict)


GOOD = CorpusResult(
    folder=Path("build/corpus"),
    manifest=MANIFEST,
    verdicts=(trace(5, Conforms(10)), trace(6, Conforms(10))),
    figures=Figures(steps=20, initial=2, evaluated=14, remembered=3, recalled=1, distinct=16),
    rechecked=Rechecked(accepted=12, rejected=3, left_out=4),
    actions={"Init": 2, "Up": 15, "Jump": 3},
    faults={"jump": FaultCount(strikes=1200, traces=2)},
    seconds={"scan and judge": 1.25},
    logged=Logged(steps=18, variables={"x": 18, "y": 18}, actions={"Up": 15, "Jump": 3, "No": 0}),
)
BAD = replace(
    GOOD,
    verdicts=(
        trace(5, Conforms(10)),
        trace(6, Diverges(3, "Up", "a step of Toy that is Up", "another state")),
        trace(7, Diverges(4, None, "a step that Next of Toy allows", "another state")),
        trace(8, Undecided("there is no trace: RuntimeError: boom")),
    ),
    unseen=("Never",),
    examples=(
        Example(
            trace_id="seed-6",
            seed=6,
            step=3,
            call="Up",
            why="the specification does not allow this step",
            traces=1,
            changes=("x: 2 -> 9",),
            allowed=("x: 3 expected, but the trace has 9",),
        ),
    ),
    problems=("it has 40 steps; its manifest says 41",),
    notes=("Toy is not the same text as when the corpus was recorded",),
)
HOSTILE_RESULT = replace(
    BAD,
    verdicts=(
        TraceVerdict(trace_id=HOSTILE, seed=None, verdict=Diverges(1, HOSTILE, HOSTILE, HOSTILE)),
        TraceVerdict(trace_id=HOSTILE + "2", seed=None, verdict=Undecided(HOSTILE)),
    ),
    actions={HOSTILE: 3},
    faults={HOSTILE: FaultCount(strikes=1, traces=1)},
    unseen=(HOSTILE,),
    examples=(replace(BAD.examples[0], call=HOSTILE, changes=(HOSTILE,), allowed=(HOSTILE,)),),
    problems=(HOSTILE,),
    notes=(HOSTILE,),
)


class Tags(HTMLParser):
    """Collects tags and attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_text_says_what_was_found() -> None:
    text = corpus_text(BAD, limit=10)

    for part in [
        "4 runs of Toy, seeds 5 to 8, with B05",
        "1 conform, 2 diverge, 1 undecided",
        "20 = 2 initial + 14 evaluated + 3 remembered + 1 recalled from the store",
        "16 transitions, each 1.25 times",
        "TLC         agrees on 12 accepted transitions, a random sample, and on 3 rejected ones; 4",
        "Up 15, Jump 3, Init 2",
        "logged      2 of 2 variables, 2 of 3 actions",
        "never seen  Never",
        "jump 1,200",
        "problem     it has 40 steps",
        "note        Toy is not the same text",
        "there is no trace: RuntimeError: boom",
        "x: 3 expected, but the trace has 9",
    ]:
        assert part in text
    row = "seed-6    6     3     Up         rocketproof simulate toy --bug=B05 --seed 6"
    assert row in text.split("\n")


def test_the_summary_comes_last_behind_what_is_listed() -> None:
    lines = corpus_text(BAD, limit=10).split("\n")

    begins = [at for at, line in enumerate(lines) if line.startswith("corpus  ")]
    assert len(begins) == 1
    assert lines[begins[0] - 1] == ""
    assert lines[0].startswith("diverges ")
    rows = [at for at, line in enumerate(lines) if "make it again" in line or "    changes" in line]
    assert rows
    assert max(rows) < begins[0]
    assert corpus_text(GOOD, limit=10).startswith("corpus  ")


@pytest.mark.parametrize("width", [20, 60, 100, 200, None])
def test_lists_of_counts_fit_the_terminal_and_commands_are_in_one_piece(width: int | None) -> None:
    many = {f"Action{number}": number for number in range(60)}
    text = corpus_text(replace(BAD, actions=many), 10, width)

    assert "rocketproof simulate toy --bug=B05 --seed 6" in text
    lines = text.split("\n")
    begin = next(at for at, line in enumerate(lines) if line.startswith("actions "))
    counts = [line for line in lines[begin:] if "Action" in line]
    assert ", ".join(line[12:].rstrip(",") for line in counts).count("Action") == 60
    longest = max(map(len, counts))
    assert longest <= max(width or 100, 32)
    assert longest > min(width or 100, 32) - 15


def test_the_machine_is_told_how_often_each_action_was_logged() -> None:
    assert corpus_json(GOOD, limit=1)["logged"] == {
        "steps": 18,
        "variables": {"x": 18, "y": 18},
        "actions": {"Up": 15, "Jump": 3, "No": 0},
    }
    assert corpus_json(replace(GOOD, logged=None), limit=1)["logged"] is None


def test_dead_runs_are_counted_and_are_no_pass() -> None:
    living, *rest = GOOD.verdicts
    result = replace(GOOD, verdicts=(replace(living, dead=True), *rest))

    text, data = corpus_text(result, limit=10), corpus_json(result, limit=10)

    assert exit_code(result.verdict) == 3
    assert "dead        1 run did not come back to life" in text
    assert data["verdict"] == "undecided"
    assert [one["trace"] for one in data["dead"]] == [living.trace_id]  # type: ignore[index,call-overload,union-attr]  # a list
    assert "Runs that did not come back to life" in Tags(corpus_html(result, limit=10)).text


def test_the_lists_end_at_the_limit_and_say_so() -> None:
    text = corpus_text(BAD, limit=1)

    assert "--seed 6" in text
    assert "--seed 7" not in text
    assert "... and 1 more" in text
    assert len(corpus_json(BAD, limit=1)["diverging"]) == 1  # type: ignore[arg-type]  # a list


def test_a_good_corpus_lists_nothing() -> None:
    text = corpus_text(GOOD, limit=10)

    assert "2 conform, 0 diverge, 0 undecided" in text
    assert "make it again" not in text
    assert "never seen" not in text


def test_json_holds_the_same_and_can_be_written() -> None:
    data = json.loads(json.dumps(corpus_json(BAD, limit=10)))

    assert data["verdict"] == "diverges"
    assert data["traces"] == {"total": 4, "conform": 1, "diverge": 2, "undecided": 1, "dead": 0}
    assert data["distinct_transitions"] == 16
    assert data["actions_never_seen"] == ["Never"]
    assert data["diverging"][0]["command"] == "rocketproof simulate toy --bug=B05 --seed 6"
    assert data["undecided"][0]["reason"] == "there is no trace: RuntimeError: boom"


@pytest.mark.parametrize("result", [GOOD, BAD], ids=["good", "bad"])
def test_the_page_says_what_the_text_says(result: CorpusResult) -> None:
    text = Tags(corpus_html(result, limit=10)).text

    for part in [
        "seeds 5 to 8, with B05",
        "Toy:",
        "distinct transitions",
        "TLC agrees on 12",
        "1,200",
        "jump",
    ]:
        assert part in text
    assert ("Diverging traces" in text) is (result is BAD)
    assert ("--bug=B05 --seed 6" in text) is (result is BAD)
    assert ("Never seen: Never" in text) is (result is BAD)


def test_nothing_that_a_trace_says_becomes_a_tag() -> None:
    page = Tags(corpus_html(HOSTILE_RESULT, limit=10))

    assert sorted(set(page.tags) - set(Tags(corpus_html(BAD, limit=10)).tags)) == []
    assert "script" not in page.tags
    assert page.text.count("alert(1)") >= 10


@pytest.mark.parametrize("result", [GOOD, BAD, HOSTILE_RESULT], ids=["good", "bad", "hostile"])
def test_the_page_loads_and_runs_nothing(result: CorpusResult) -> None:
    page = corpus_html(result, limit=10)

    found = Tags(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(found.tags)
    names = {name for name, _ in found.attributes}
    assert not {"src", "href", "srcset", "action"} & names
    assert not [name for name in names if name.startswith("on")]
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import", page)


def test_a_terminal_is_told_no_control_characters() -> None:
    text = corpus_text(HOSTILE_RESULT, limit=10)

    assert "\x1b" not in text
    assert "\\x1b[31m" in text


def test_an_empty_folder_has_a_report_too(tmp_path: Path) -> None:
    result = CorpusResult(folder=tmp_path, manifest=None, problems=("the folder is empty",))

    write_corpus_html(tmp_path / "deep" / "report.html", result, 10)

    page = (tmp_path / "deep" / "report.html").read_text("utf-8")
    assert "the folder is empty" in page
    assert "undecided" in page
    assert "the folder is empty" in corpus_text(result, 10)


def test_all_by_tlc_is_not_called_a_sample() -> None:
    result = replace(GOOD, rechecked=Rechecked(accepted=12, rejected=0, everything=True))

    assert "agrees on 12 accepted transitions, all of them, and on 0" in corpus_text(result, 5)
    assert "12 accepted transitions, all of them, and on" in corpus_html(result, 5)


def test_commands_are_not_broken_into_lines() -> None:
    page = corpus_html(BAD, 10)
    commands = re.findall(r"<(pre|code)( class=\"command\")?>(rocketproof [^<]*)</", page)
    assert len(commands) >= 2
    assert all("--seed" in text for _, _, text in commands)
    assert all(kind or tag == "code" for tag, kind, _ in commands)
    assert "code, pre.command { white-space: pre; }" in page


def test_a_section_is_added_to_the_end_of_a_page(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_corpus_html(path, GOOD, 10)

    add_section(path, title="A bug", words=HOSTILE, command="rocketproof x", text=f"a\n{HOSTILE}")

    page = path.read_text("utf-8")
    assert page.startswith(corpus_html(GOOD, 10).removesuffix("</body>\n</html>"))
    assert page.rindex("<h2>A bug</h2>") < page.rindex('<pre class="command">rocketproof x</pre>')
    assert page.count("</body>") == 1
    assert "<script" not in page
    assert "\x1b" not in page


def test_a_section_goes_to_a_report_only(tmp_path: Path) -> None:
    path = tmp_path / "else.html"
    path.write_text("<p>")
    with pytest.raises(ValueError, match="does not end as a report"):
        add_section(path, title="A", words="b", command="c", text="d")
