"""`rocketproof explain`: the first step of a run that the TLA+ text does not allow, and why."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rocketproof.trace_inputs import SpecChoice, TraceFile, read_trace_file
from tlatrace.report.results import TraceResult
from tlatrace.validate.difference import Change, brief, call_text
from tlatrace.validate.explain import Candidate, Explanation, explain
from tlatrace.validate.traces import EMPTY_FILE, HEADER_ONLY
from tlatrace.values import Json, Value, to_json
from tlatrace.verdict import Diverges, Undecided, exit_code

__all__ = ["command"]

_CANDIDATES_SHOWN: Final = 5
_CHANGES_SHOWN: Final = 12
_PATH = click.Path(path_type=Path)


@click.command(epilog="Example:  rocketproof explain run.ndjson")
@click.argument("trace", type=_PATH)
@click.option("--spec", "module", type=_PATH, metavar="FILE.tla", help="The specification.")
@click.option("--config", type=_PATH, metavar="FILE.cfg", help="TLC configuration with constants.")
@click.option("--invariant", "invariants", multiple=True, metavar="NAME", help="Check it, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
@click.option("--timeout", "timeout_s", default=120.0, show_default=True, help="Seconds for TLC.")
@click.option("--spec-root", type=_PATH, help="Folder with manifest.toml.")
def command(
    *,
    trace: Path,
    module: Path | None,
    config: Path | None,
    invariants: tuple[str, ...],
    as_json: bool,
    timeout_s: float,
    spec_root: Path | None,
) -> None:
    """Show the first step that the specification does not allow, and what it allows there.

    The differences are between the state that the specification demands and the one in the trace;
    of each action the nearest state is shown.

    Exit codes: 0 conforms, 1 diverges, 2 no trace or a tool error, 3 undecided.
    """
    choice = SpecChoice(module=module, config=config, invariants=invariants, spec_root=spec_root)
    file = read_trace_file(trace)
    if file.error is not None:
        raise file.error
    explanation = _explain(file, choice, timeout_s)
    if as_json:
        click.echo(json.dumps(_json(explanation, file), indent=2))
    else:
        _print(explanation, file)
    sys.exit(exit_code(explanation.verdict))


def _explain(file: TraceFile, choice: SpecChoice, timeout_s: float) -> Explanation:
    assert file.trace is not None
    header = file.trace.header
    if header is None:
        return Explanation(verdict=Undecided(EMPTY_FILE))
    if not file.trace.events:
        return Explanation(verdict=Undecided(HEADER_ONLY))
    return explain(choice.load(header), file.trace, timeout_s=timeout_s)


def _result(explanation: Explanation, file: TraceFile) -> TraceResult:
    verdict = explanation.verdict
    header = file.trace.header if file.trace is not None else None
    return TraceResult(
        path=str(file.path),
        spec=header.spec if header is not None else None,
        outcome=verdict,
        line=file.line_of(verdict.step) if isinstance(verdict, Diverges) else None,
    )


def _print(explanation: Explanation, file: TraceFile) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    result = _result(explanation, file)
    event = explanation.event
    if event is None or not isinstance(explanation.verdict, Diverges):
        console.print(escape(f"{file.path}: {result.text}"))
        return
    call = call_text(event.action, event.params)
    where = f"step {event.step}" + (f" (line {result.line})" if result.line else "")
    where += f" at {event.node}" if event.node else ""
    console.print(f"{escape(str(file.path))}: [bold red]diverges[/] at {escape(where)}")
    console.print(f"  the trace says    {escape(call)}")
    console.print(f"  expected          {escape(explanation.verdict.expected)}")
    if event.step:
        _print_changes(console, "What the trace changes", explanation.changes, "before", "after")
    if event.step and event.action is not None and not explanation.claimed_is_enabled:
        console.print(f"\n{escape(call)} has no successor in the state before this step.")
    for candidate in explanation.candidates[:_CANDIDATES_SHOWN]:
        title = _title(candidate, call)
        _print_changes(console, title, candidate.differences, "specification", "trace")
    hidden = len(explanation.candidates) - _CANDIDATES_SHOWN
    if hidden > 0:
        console.print(f"\n{hidden} more actions are possible; their results differ more.")
    if event.step:
        enabled = ", ".join(explanation.enabled) or "none"
        console.print(f"\nActions possible before this step: {escape(enabled)}")
    if explanation.nat_up_to is not None:
        console.print(f"(numbers were tried as parameters up to {explanation.nat_up_to})")
    for note in explanation.notes:
        console.print(escape(f"note: {note}"))


def _title(candidate: Candidate, call: str) -> str:
    if candidate.claimed:
        return f"What {call} allows, and the trace"
    return f"Nearest result of {candidate.action or 'a step of Next'}, and the trace"


def _print_changes(
    console: Console, title: str, changes: tuple[Change, ...], left: str, right: str
) -> None:
    if not changes:
        console.print(f"\n{escape(title)}: no difference")
        return
    table = Table(title=escape(title), title_justify="left", title_style="bold")
    for name in ("where", left, right):
        table.add_column(name, overflow="fold")
    for change in changes[:_CHANGES_SHOWN]:
        table.add_row(escape(change.path), _cell(change.left), _cell(change.right))
    console.print()
    console.print(table)
    if len(changes) > _CHANGES_SHOWN:
        console.print(f"and {len(changes) - _CHANGES_SHOWN} more")


def _cell(value: Value | None) -> str:
    return "" if value is None else escape(brief(value))


def _json(explanation: Explanation, file: TraceFile) -> Json:
    event = explanation.event
    answer: dict[str, Json] = dict(_result(explanation, file).to_json())
    if event is None:
        return answer
    candidates: list[Json] = [
        {
            "action": candidate.action,
            "claimed": candidate.claimed,
            "differences": [
                _change(change, "specification", "trace") for change in candidate.differences
            ],
        }
        for candidate in explanation.candidates
    ]
    answer |= {
        "params": [to_json(param) for param in event.params],
        "node": event.node,
        "changes": [_change(change, "before", "after") for change in explanation.changes],
        "candidates": candidates,
        "enabled": list(explanation.enabled),
        "nat_up_to": explanation.nat_up_to,
        "notes": list(explanation.notes),
    }
    return answer


def _change(change: Change, left: str, right: str) -> Json:
    sides: dict[str, Json] = {"path": change.path}
    if change.left is not None:
        sides[left] = to_json(change.left)
    if change.right is not None:
        sides[right] = to_json(change.right)
    return sides
