"""`rocketproof explain`: the first step of a run that the TLA+ text does not allow, and why."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.markup import escape

from rocketproof.commands.spec_options import map_option, spec_options
from rocketproof.engines import ENGINES, explain_by_model
from rocketproof.trace_inputs import SpecChoice, TraceFile, read_trace_files
from tlatrace.errors import SubsetError
from tlatrace.harmless import harmless, without_commands
from tlatrace.judgement.difference import Change, brief, call_text
from tlatrace.judgement.verdict import Diverges, Undecided, exit_code
from tlatrace.logged import logged_in
from tlatrace.matching.explain import Reasons
from tlatrace.matching.false_conjuncts import ForbiddenAction
from tlatrace.report.results import TraceResult
from tlatrace.terminal import open_console, open_table
from tlatrace.tlc.explain import Candidate, Explanation, explain
from tlatrace.tlc.traces import EMPTY_FILE, HEADER_ONLY
from tlatrace.trace import Event
from tlatrace.values import Json, Value, to_json

__all__ = ["command"]

_CANDIDATES_SHOWN: Final = 5
_CHANGES_SHOWN: Final = 12
_PATH = click.Path(path_type=Path)


@click.command(epilog="Example:  rocketproof explain run.ndjson")
@click.argument("trace", type=_PATH)
@spec_options
@map_option
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="The compiled model, which names the false conjunct; or TLC.",
)
@click.option(
    "--timeout", "timeout_s", default=120.0, show_default=True, help="Seconds for TLC or a search."
)
def command(
    choice: SpecChoice,
    *,
    trace: Path,
    map_file: Path | None,
    as_json: bool,
    engine: str,
    timeout_s: float,
) -> None:
    """Show the first step that the specification does not allow, and what it allows there.

    For each action the first conjunct that is false is shown, with its place and its values: of
    the trace's own action, and of the others with the parameters that come furthest. The
    differences are between the state that the specification demands and the one in the trace;
    of each action the nearest state is shown. Of a trace that shows only a part, the states before
    are those that explain what it shows, and the nearest of them counts.

    Exit codes: 0 conforms, 1 diverges, 2 no trace or a tool error, 3 undecided.
    """
    file, *others = read_trace_files([trace], map_file)
    if others:
        raise click.UsageError(f"{trace} has {len(others) + 1} traces; name one.")
    if file.error is not None:
        raise file.error
    reasons = _explain(file, choice, engine, timeout_s)
    if as_json:
        click.echo(json.dumps(_json(reasons, file), indent=2))
    else:
        _print(reasons, file)
    sys.exit(exit_code(reasons.explanation.verdict))


def _explain(file: TraceFile, choice: SpecChoice, engine: str, timeout_s: float) -> Reasons:
    assert file.trace is not None
    header = file.trace.header
    if header is None:
        return Reasons(explanation=Explanation(verdict=Undecided(EMPTY_FILE)))
    if not file.trace.events:
        return Reasons(explanation=Explanation(verdict=Undecided(HEADER_ONLY)))
    if engine != "tlc":
        try:
            return explain_by_model(choice, header, file.trace, timeout_s=timeout_s)
        except SubsetError:
            if engine == "compiled":
                raise
    spec = choice.load(header)
    found = explain(spec, file.trace, timeout_s=timeout_s)
    logged = logged_in([file.trace], spec.variables, spec.next_actions)
    return Reasons(explanation=found, logged=logged)


def _result(reasons: Reasons, file: TraceFile) -> TraceResult:
    explanation = reasons.explanation
    verdict = explanation.verdict
    header = file.trace.header if file.trace is not None else None
    return TraceResult(
        path=str(file.path),
        spec=header.spec if header is not None else None,
        outcome=verdict,
        line=file.line_of(verdict.step) if isinstance(verdict, Diverges) else None,
        logged=reasons.logged,
    )


def _print(reasons: Reasons, file: TraceFile) -> None:
    console = open_console()
    with console.capture() as captured:
        _print_to(console, reasons, file)
    # A line may be broken anywhere.
    click.echo(without_commands(captured.get()), nl=False, color=console.is_terminal)


def _print_to(console: Console, reasons: Reasons, file: TraceFile) -> None:
    explanation = reasons.explanation
    result = _result(reasons, file)
    event = explanation.event
    if event is None or not isinstance(explanation.verdict, Diverges):
        console.print(_shown(result.summary))
        return
    call = _call(event)
    where = f"step {event.step}" + (f" (line {result.line})" if result.line else "")
    where += f" at {event.node}" if event.node else ""
    console.print(f"{_shown(str(file.path))}: [bold red]diverges[/] at {_shown(where)}")
    console.print(f"  the trace says    {_shown(call)}")
    console.print(f"  expected          {_shown(explanation.verdict.expected)}")
    if result.logged is not None:
        console.print(f"  the trace shows   {result.logged.text().removesuffix(' logged')}")
    _print_conjuncts(console, reasons)
    if event.step and not explanation.is_partial:
        _print_changes(console, "What the trace changes", explanation.changes, "before", "after")
    if event.step and event.action is not None and not explanation.claimed_is_enabled:
        state = "a" if explanation.is_partial else "the"
        console.print(f"\n{_shown(call)} has no successor in {state} state before this step.")
    for candidate in explanation.candidates[:_CANDIDATES_SHOWN]:
        title = _title(candidate, call)
        _print_changes(console, title, candidate.differences, "specification", "trace")
    hidden = len(explanation.candidates) - _CANDIDATES_SHOWN
    if hidden > 0:
        console.print(f"\n{hidden} more actions are possible; their results differ more.")
    if event.step:
        enabled = ", ".join(explanation.enabled) or "none"
        console.print(f"\nActions possible before this step: {_shown(enabled)}")
    if explanation.nat_up_to is not None:
        console.print(f"(numbers were tried as parameters up to {explanation.nat_up_to})")
    for note in explanation.notes:
        console.print(_shown(f"note: {note}"))


def _call(event: Event) -> str:
    """Write an event's action with "?" for what is not logged."""
    if event.action is None or event.known_params is None:
        return call_text(event.action, event.params)
    texts = ["?" if one is None else brief(one, 40) for one in event.known_params]
    return f"{event.action}({', '.join(texts or ['?'])})"


def _print_conjuncts(console: Console, reasons: Reasons) -> None:
    """Print the false conjunct of the trace's own action in full, of the others in a table."""
    conjuncts = reasons.conjuncts
    found = "it is" if reasons.explanation.is_partial else "the trace has"
    for conjunct in [item for item in conjuncts if item.claimed]:
        console.print(f"\n[bold]False in {_shown(conjunct.call)}[/], {_shown(conjunct.place)}")
        for line in conjunct.text.split("\n"):
            console.print(f"    {_shown(line)}")
        if conjunct.differences():
            for change in conjunct.differences()[:_CHANGES_SHOWN]:
                console.print(f"    {_shown(change.text(f'expected, but {found}'))}")
        elif conjunct.sides():
            console.print(f"    {_shown(conjunct.sides())}  is false")
        if conjunct.within:
            console.print(f"    within  {_shown(' > '.join(conjunct.within))}")
        if conjunct.operators:
            console.print(f"    made of {_shown(', '.join(conjunct.operators))}")
    others = [item for item in conjuncts if not item.claimed]
    if others:
        title = "What is false in the other actions"
        table = open_table(title, "action", "place", "conjunct")
        for item in others:
            table.add_row(_shown(item.call), _shown(item.place), _shown(item.text))
        console.print()
        console.print(table)


def _title(candidate: Candidate, call: str) -> str:
    if candidate.claimed:
        return f"What {call} allows, and the trace"
    return f"Nearest result of {candidate.action or 'a step of Next'}, and the trace"


def _print_changes(
    console: Console, title: str, changes: tuple[Change, ...], left: str, right: str
) -> None:
    if not changes:
        console.print(f"\n{_shown(title)}: no difference")
        return
    table = open_table(_shown(title), "where", left, right)
    for change in changes[:_CHANGES_SHOWN]:
        table.add_row(_shown(change.path), _cell(change.left), _cell(change.right))
    console.print()
    console.print(table)
    if len(changes) > _CHANGES_SHOWN:
        console.print(f"and {len(changes) - _CHANGES_SHOWN} more")


def _shown(text: str) -> str:
    """Make a text of a trace harmless, for rich, too."""
    return escape(harmless(text))


def _cell(value: Value | None) -> str:
    return "" if value is None else _shown(brief(value))


def _json(reasons: Reasons, file: TraceFile) -> Json:
    explanation = reasons.explanation
    event = explanation.event
    answer: dict[str, Json] = dict(_result(reasons, file).to_json())
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
        "conjuncts": [_conjunct(item) for item in reasons.conjuncts],
        "candidates": candidates,
        "enabled": list(explanation.enabled),
        "nat_up_to": explanation.nat_up_to,
        "notes": list(explanation.notes),
    }
    return answer


def _conjunct(item: ForbiddenAction) -> Json:
    answer: dict[str, Json] = {
        "action": item.action,
        "params": [to_json(param) for param in item.params],
        "claimed": item.claimed,
        "file": item.file,
        "line": item.line,
        "column": item.column,
        "text": item.text,
        "relation": item.relation,
        "operators": list(item.operators),
        "within": list(item.within),
    }
    if item.left is not None and item.right is not None:
        answer |= {"left": to_json(item.left), "right": to_json(item.right)}
    return answer


def _change(change: Change, left: str, right: str) -> Json:
    sides: dict[str, Json] = {"path": change.path}
    if change.left is not None:
        sides[left] = to_json(change.left)
    if change.right is not None:
        sides[right] = to_json(change.right)
    return sides
