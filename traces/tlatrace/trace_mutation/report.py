"""A measurement as text and as JSON."""

from __future__ import annotations

from typing import Final

from tlatrace.trace_mutation.baseline import Verdict
from tlatrace.trace_mutation.kinds import Kind
from tlatrace.trace_mutation.measure import Finding, MutationResult, Outcome
from tlatrace.values import Json

__all__ = ["mutations_json", "mutations_text"]

_HOLES_SHOWN: Final = 20
_COLUMNS: Final = (Outcome.REFUSED, Outcome.UNDECIDED, Outcome.EQUIVALENT, Outcome.HOLE)


def mutations_text(result: MutationResult, verdict: Verdict) -> str:
    """Write tables by kind and by action, why some are equivalent or undecided, and the holes."""
    kinds = [("all" if kind is None else kind.value, kind) for kind in (*Kind, None)]
    rows = [(name, [result.count(kind, one) for one in (None, *_COLUMNS)]) for name, kind in kinds]
    lines = _table("kind", rows)
    lines += ["", *_table("action", [(name or "(none)", counts) for name, counts in _by(result)])]
    for outcome in (Outcome.EQUIVALENT, Outcome.UNDECIDED):
        lines += _reasons(result, outcome)
    new = [one for one in result.holes if one.hole in verdict.new]
    if new:
        lines += ["", "Holes: corruptions that the specification does not notice"]
        lines += [_hole(one) for one in new[:_HOLES_SHOWN]]
        if len(new) > _HOLES_SHOWN:
            lines.append(f"  and {len(new) - _HOLES_SHOWN} more")
    if len(new) < len(result.holes):
        lines += ["", f"{len(result.holes) - len(new)} more are holes that the baseline knows"]
    if verdict.gone:
        lines += ["", "Holes of the baseline that were not met"]
        lines += [f"  {one.kind.value}: {one.action} {one.about}".rstrip() for one in verdict.gone]
    for name, why in result.left_out.items():
        lines.append(f"{name}: not corrupted, {why}")
    made = result.count(None, None)
    of = f"{result.accepted} accepted trace" + ("" if result.accepted == 1 else "s")
    lines += ["", f"{made:,} corruptions of {of}, seed {result.seed}"]
    if new or verdict.most_percent:
        lines.append(f"holes: {verdict.percent:.2f} %, {verdict.most_percent:g} % may be")
    return "\n".join(lines)


def _by(result: MutationResult) -> list[tuple[str, list[int]]]:
    return [
        (name, [result.count_of(name, one) for one in (None, *_COLUMNS)]) for name in result.actions
    ]


def _table(head: str, rows: list[tuple[str, list[int]]]) -> list[str]:
    width = max([10, *[len(name) for name, _ in rows]])
    lines = [f"{head:{width}} {'made':>8}" + "".join([f" {one.value:>10}" for one in _COLUMNS])]
    for name, (made, *counts) in rows:
        lines.append(f"{name:{width}} {made:8,}" + "".join([f" {count:10,}" for count in counts]))
    return lines


def _reasons(result: MutationResult, outcome: Outcome) -> list[str]:
    found = [one for one in result.findings if one.outcome is outcome]
    if not found:
        return []
    counts: dict[tuple[Kind, str], int] = {}
    for one in found:
        counts[one.kind, one.why] = counts.get((one.kind, one.why), 0) + 1
    lines = [f"  {kind.value:10} {n:6,}  {why}" for (kind, why), n in counts.items()]
    return ["", f"Why {outcome.value}", *lines]


def _hole(one: Finding) -> str:
    return f"  {one.trace}, step {one.step}: {one.kind.value}: {one.what}"


def mutations_json(result: MutationResult, verdict: Verdict) -> dict[str, Json]:
    """Return the machine's answer."""
    kinds: dict[str, Json] = {}
    for kind in Kind:
        counts: dict[str, Json] = {"made": result.count(kind, None)}
        counts.update({one.value: result.count(kind, one) for one in _COLUMNS})
        kinds[kind.value] = counts
    holes: list[Json] = [
        {
            "trace": one.trace,
            "step": one.step,
            "kind": one.kind.value,
            "action": one.action,
            "about": one.about,
            "what": one.what,
            "new": one.hole in verdict.new,
        }
        for one in result.holes
    ]
    actions: dict[str, Json] = {}
    for name, (made, *numbers) in _by(result):
        of_action: dict[str, Json] = {"made": made}
        of_action.update({one.value: n for one, n in zip(_COLUMNS, numbers, strict=True)})
        actions[name] = of_action
    left_out: dict[str, Json] = dict(result.left_out)
    return {
        "seed": result.seed,
        "traces": result.accepted,
        "kinds": kinds,
        "actions": actions,
        "new_percent": round(verdict.percent, 3),
        "holes": holes,
        "left_out": left_out,
    }
