"""Verdicts as JUnit, SARIF and Markdown."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

from tlatrace.judgement.verdict import Conforms, Diverges, Undecided
from tlatrace.logged import Logged
from tlatrace.report.github import github_annotations
from tlatrace.report.junit import junit_xml
from tlatrace.report.markdown import markdown_summary
from tlatrace.report.results import SpecPlace, TraceResult
from tlatrace.report.sarif import sarif_text

RESULTS = [
    TraceResult(path="good.ndjson", spec="Mailbox", outcome=Conforms(12)),
    TraceResult(
        path="bad trace.ndjson",
        spec="Mailbox",
        outcome=Diverges(3, "Send", "<<1>> & \x00", "a|b *c* <script>"),
        line=5,
    ),
    TraceResult(path="header.ndjson", spec="Mailbox", outcome=Undecided("no events")),
    TraceResult(path="garbage.ndjson", spec=None, outcome="no JSON", line=1),
]


def test_every_outcome_is_one_line_of_text() -> None:
    assert [result.text for result in RESULTS] == [
        "conforms, 12 events",
        "diverges at step 3 (line 5), Send: expected <<1>> & \\x00; observed a|b *c* <script>",
        "undecided: no events",
        "no JSON",
    ]
    assert [result.status for result in RESULTS] == [
        "conforms",
        "diverges",
        "undecided",
        "unreadable",
    ]


def test_one_event_is_not_called_events() -> None:
    assert TraceResult(path="a", spec=None, outcome=Conforms(1)).text == "conforms, 1 event"


def test_junit_counts_only_a_pass_as_passed() -> None:
    root = ElementTree.fromstring(junit_xml(RESULTS, seconds=1.5))

    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "2")
    assert [[child.tag for child in case] for case in suite] == [
        [],
        ["failure"],
        ["error"],
        ["error"],
    ]


def test_sarif_places_a_divergence_at_its_line() -> None:
    document = json.loads(sarif_text(RESULTS, version="1.2.3"))

    found = document["runs"][0]["results"]
    assert [one["ruleId"] for one in found] == ["diverges", "undecided", "unreadable"]
    place = found[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "bad%20trace.ndjson"
    assert place["region"]["startLine"] == 5
    assert document["version"] == "2.1.0"


def test_markdown_shows_the_worst_first_and_text_of_a_trace_as_text() -> None:
    lines = markdown_summary(RESULTS).splitlines()

    assert lines[2] == "4 traces: 1 diverges, 1 unreadable, 1 undecided, 1 conforms"
    assert lines[6].startswith("| bad trace.ndjson | Mailbox |")
    assert "a\\|b \\*c\\* \\<script\\>" in lines[6]


def test_json_answers_hold_the_verdict_and_its_evidence() -> None:
    answers = [result.to_json() for result in RESULTS]

    assert answers[0]["events"] == 12
    assert (answers[1]["step"], answers[1]["line"]) == (3, 5)
    assert answers[2]["reason"] == "no events"
    assert answers[3]["verdict"] == "unreadable"


WITH_CONJUNCT = TraceResult(
    path="bad.ndjson",
    spec="Mailbox",
    outcome=Diverges(3, "Send", "a step", "100% other\nthings"),
    line=5,
    failing_conjunct=SpecPlace(path="spec/Mail,box.tla", line=7, column=4, text="n < Max (3 < 3)"),
)


def test_sarif_relates_a_divergence_to_the_conjunct_that_forbids_it() -> None:
    (result,) = json.loads(sarif_text([WITH_CONJUNCT], version="1.2.3"))["runs"][0]["results"]

    (related,) = result["relatedLocations"]
    place = related["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "spec/Mail%2Cbox.tla"}
    assert place["region"] == {"startLine": 7, "startColumn": 4}
    assert related["message"] == {"text": "n < Max (3 < 3)"}


def test_every_report_names_the_conjunct() -> None:
    place = "false is spec/Mail,box.tla:7:4: n < Max (3 < 3)"
    assert place in WITH_CONJUNCT.text
    assert place in junit_xml([WITH_CONJUNCT], seconds=1.0).replace("&lt;", "<")
    assert WITH_CONJUNCT.to_json()["conjunct"] == {
        "path": "spec/Mail,box.tla",
        "line": 7,
        "column": 4,
        "text": "n < Max (3 < 3)",
    }


def test_github_gets_an_annotation_at_the_trace_and_one_at_the_spec() -> None:
    first, second = github_annotations([RESULTS[0], WITH_CONJUNCT]).splitlines()

    assert first.startswith("::error file=bad.ndjson,line=5::diverges at step 3")
    assert "100%25 other\\nthings" in first
    assert second.startswith("::notice file=spec/Mail%2Cbox.tla,line=7,col=4::false for bad.ndjson")


def test_github_gets_a_warning_for_what_is_undecided_and_nothing_for_a_pass() -> None:
    assert github_annotations(RESULTS[:1]) == ""
    assert github_annotations(RESULTS[2:3]).startswith("::warning file=header.ndjson,line=1::")


LOGGED = TraceResult(
    path="part.ndjson",
    spec="Mailbox",
    outcome=Conforms(3),
    logged=Logged(steps=2, variables={"box": 2, "n": 0}, actions={"Send": 1, "Read": 1}),
)


def test_every_report_says_what_of_the_specification_was_logged() -> None:
    bad = replace(LOGGED, path="bad.ndjson", outcome=Diverges(2, "Read", "a", "b"))
    logged = "1 of 2 variables, 2 of 2 actions logged"

    assert LOGGED.summary == f"part.ndjson: conforms, 3 events; {logged}"
    assert bad.summary.endswith(f"observed b; {logged}")
    assert LOGGED.to_json()["logged"] == {
        "steps": 2,
        "variables": {"box": 2, "n": 0},
        "actions": {"Send": 1, "Read": 1},
    }
    (suite,) = ElementTree.fromstring(junit_xml([LOGGED, bad, RESULTS[3]], seconds=1.0))
    assert [[child.tag for child in case] for case in suite] == [
        ["system-out"],
        ["failure", "system-out"],
        ["error"],
    ]
    assert suite[0][0].text == logged
    (row,) = [
        line for line in markdown_summary([LOGGED, RESULTS[3]]).splitlines() if "3 ev" in line
    ]
    assert row.endswith("| conforms, 3 events | 1 of 2 variables, 2 of 2 actions |")
