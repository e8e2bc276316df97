"""What an upstream report of a row needs: a folder made of runs that show it.

A page with configuration, script, what was expected and seen, the lines of TLA+, of Java, and a
mend; the trace up to the step that the specification forbids; the configuration of each node.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from rocketproof.peer_ledger import Row, Shown, shown_by
from rocketproof.peer_runs import JudgedRun
from tlatrace.errors import ToolError
from tlatrace.judgement.verdict import Diverges
from tlatrace.tools.manifest import Manifest, Mutant
from tlatrace.tools.module_folders import library_folders
from tlatrace.trace.ndjson import write_trace

__all__ = ["ReportText", "read_texts", "report_page", "write_report"]

_TRACE: Final = "trace.ndjson.gz"
_CONFIGURATION: Final = "configuration"
_NODE_FILE: Final = "node.conf"
_CONFORMS_WITH: Final = "and the run conforms, if nothing else is wrong, with"
_DOES_AS_WITH: Final = "and the release does as with"


class ReportText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What no run says of a row."""

    row: str
    expected: str
    """What a user may rely on, and what it says so."""
    java: str
    """Which lines do it."""
    mend: str
    mutants: tuple[str, ...] = ()
    """Entries `protocol/name` of the manifest: TLC finds what the bug breaks."""


class _Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    report: tuple[ReportText, ...]


def read_texts(path: Path) -> Mapping[str, ReportText]:
    """Read the texts of reports, by their rows. Raises: ToolError"""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        return {one.row: one for one in msgspec.convert(tables, _Texts).report}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.MsgspecError) as error:
        raise ToolError("report", f"{path}: {error}") from None


def write_report(
    folder: Path,
    row: Row,
    text: ReportText,
    runs: Sequence[JudgedRun],
    manifest: Manifest,
    about: Callable[[str], str],
) -> Shown:
    """Write the report of a row, of the run with the shortest trace that shows it; return that.

    `about` says what a scenario does. Raises: ToolError
    """
    found = [one for run in runs if (one := shown_by(row, run)) is not None]
    if not found:
        raise ToolError("report", f"none of {len(runs)} runs shows {row.name}")
    best = min(found, key=_length)
    folder.mkdir(parents=True, exist_ok=True)
    page = report_page(
        row, text, best, len(found), len(runs), manifest, about(best.run.run.scenario)
    )
    (folder / "README.md").write_text(page, "utf-8")
    (folder / _CONFIGURATION).mkdir(exist_ok=True)
    for node, lines in _configurations(best.run.folder):
        (folder / _CONFIGURATION / f"{node}.conf").write_text("\n".join(lines) + "\n", "utf-8")
    if best.trace is not None:
        outcome = best.trace.result.outcome
        whole = best.trace.trace
        end = outcome.step + 1 if isinstance(outcome, Diverges) else len(whole.events)
        write_trace(folder / _TRACE, replace(whole, events=whole.events[:end]))
    return best


def _length(shown: Shown) -> int:
    if shown.trace is None:
        return len(shown.run.run.played.answers)
    outcome = shown.trace.result.outcome
    return outcome.step if isinstance(outcome, Diverges) else len(shown.trace.trace.events)


def _configurations(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Give the configuration of each node, without folders of the machine."""
    for path in sorted(folder.glob(f"nodes/*/{_NODE_FILE}")):
        lines = path.read_text("utf-8").splitlines()
        yield path.parent.name, [one for one in lines if not re.search(r"=\s*/", one)]


def report_page(
    row: Row,
    text: ReportText,
    shown: Shown,
    times: int,
    runs: int,
    manifest: Manifest,
    about: str,
) -> str:
    """Write the page of a report: so many of the runs show it."""
    run = shown.run.run
    parts = [
        f"# {row.name}: {row.title}",
        f"RocketMQ {run.version}; {times} of {runs} runs that were looked at show it. Written by "
        "`rocketproof peer rocketmq report`.",
        "## Expected",
        text.expected.strip(),
        "## Script",
        "```\n"
        f"rocketproof peer rocketmq fetch --version {run.version}\n"
        f"rocketproof peer rocketmq {_played_by(run.scenario)} --version {run.version}\n"
        "```",
        about.strip(),
        f"What each node is configured with: [{_CONFIGURATION}]({_CONFIGURATION}).",
        "## Seen",
        "\n".join(_seen(shown)),
        *_of_specification(shown, row, text, manifest),
        "## In Java",
        text.java.strip(),
        "## A mend",
        text.mend.strip(),
        *_checked(text, manifest),
    ]
    return "\n\n".join(parts) + "\n"


def _played_by(scenario: str) -> str:
    """Give the command that plays a scenario, or a walk, whose threads no seed draws."""
    kind, _, seed = scenario.rpartition("_")
    if (kind, seed.isdigit()) == ("walk", True):
        return f"hunt --seeds {seed}..{seed} --out H"
    return f"run {scenario}"


def _seen(shown: Shown) -> Iterator[str]:
    run = shown.run.run
    played = run.played
    yield f"- {shown.how}."
    if played.acknowledged:
        yield f"- answered SEND_OK: {', '.join(played.acknowledged)}"
    if played.read_back is not None:
        yield f"- a consumer finds {', '.join(played.read_back) or 'nothing'}"
    if played.lost:
        promised = "although they were promised" if run.broken else "which nobody promised"
        yield f"- gone, {promised}: {', '.join(played.lost)}"
    if run.trouble is not None:
        yield f"- and the group did not come to rest: {run.trouble}"


def _of_specification(
    shown: Shown, row: Row, text: ReportText, manifest: Manifest
) -> Iterator[str]:
    """Say where the trace leaves the specification, and what it conforms with.

    Where only clients saw it, the operators are those of the first mutant that the texts name.
    """
    if shown.trace is None:
        known = {f"{one.protocol}/{one.name}": one for one in manifest.mutants}
        if text.mutants and text.mutants[0] in known:
            yield "## In TLA+"
            yield from _operators(known[text.mutants[0]], manifest, _DOES_AS_WITH)
        return
    outcome = shown.trace.result.outcome
    protocol = shown.trace.protocol
    yield "## In TLA+"
    if isinstance(outcome, Diverges):
        yield (
            f"[{_TRACE}]({_TRACE}) is what the nodes wrote, up to step {outcome.step}, "
            f"`{outcome.action}`, which {shown.trace.result.spec} forbids "
            f"(`rocketproof validate {_TRACE}`: exit 1)."
        )
        yield f"Expected is {outcome.expected}; observed: {outcome.observed}."
    for mutant in manifest.mutants:
        if mutant.protocol == protocol and mutant.name == row.name:
            yield from _operators(mutant, manifest, _CONFORMS_WITH)
            others = [one for one in shown.trace.explained_by if row.name in one.split("+")]
            if others and others != [row.name]:
                yield f"In this run it is not alone: it conforms with {' or with '.join(others)}."


def _operators(mutant: Mutant, manifest: Manifest, words: str) -> Iterator[str]:
    for override in mutant.overrides:
        right, _, wrong = override.partition(" <- ")
        own = (manifest.root / mutant.protocol, *manifest.libraries_of(mutant.protocol))
        folders = library_folders(mutant.module, own)
        modules = [path for folder in folders for path in sorted(folder.glob("*.tla"))]
        yield "The specification has"
        yield _tla(_definition(right, modules))
        yield words
        yield _tla(_definition(wrong, [mutant.module]))


def _tla(lines: Sequence[str]) -> str:
    return "\n".join(("```tla", *lines, "```"))


def _definition(name: str, modules: Sequence[Path]) -> list[str]:
    """Find the lines of a definition: the first, and those behind it that are indented.

    An empty line is between the guards of an action and its effects.
    """
    begins = re.compile(rf"{re.escape(name)}(\(.*?\))?\s*==")
    for module in modules:
        lines = module.read_text("utf-8").splitlines()
        for at, line in enumerate(lines):
            if begins.match(line):
                found = [line]
                rest = lines[at + 1 :]
                for more, behind in zip(rest, [*rest[1:], ""], strict=True):
                    if not more.startswith(" ") and (more or not behind.startswith(" ")):
                        break
                    found.append(more)
                return [re.sub(r"\s*\\\* CHECK \w+$", "", one) for one in found]
    raise ToolError("report", f"no module defines {name}")


def _checked(text: ReportText, manifest: Manifest) -> Iterator[str]:
    """Say what TLC says of the specification with the bug and without."""
    known = {f"{one.protocol}/{one.name}": one for one in manifest.mutants}
    if not text.mutants:
        return
    lines = ["In the specification that is the operator as it stands:", "", "```"]
    for name in text.mutants:
        protocol = name.partition("/")[0]
        mutant = known.get(name)
        if mutant is None:
            raise ToolError("report", f"the manifest has no mutant {name}")
        model = next(
            one for one in manifest.models if one.protocol == protocol and one.name == "small"
        )
        lines.append(
            f"rocketproof check {protocol} --model small    # holds, {model.distinct:,} states"
        )
        lines.append(f"rocketproof rings --only {name}    # the bug: {_result(mutant)}")
    yield "\n".join((*dict.fromkeys(lines), "```"))


def _result(mutant: Mutant) -> str:
    if mutant.killed_by is None:
        return f"harmless alone, {mutant.distinct:,} states"
    return f"violates {mutant.killed_by} in {mutant.length} states"
