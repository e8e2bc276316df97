"""A measurement as text and as JSON."""

from __future__ import annotations

from typing import Final

from tlatrace.strength.kinds import Kind
from tlatrace.strength.measure import Finding, Outcome, Strength
from tlatrace.values import Json

__all__ = ["strength_json", "strength_text"]

_HOLES_SHOWN: Final = 20
_COLUMNS: Final = (Outcome.REFUSED, Outcome.UNDECIDED, Outcome.EQUIVALENT, Outcome.HOLE)


def strength_text(strength: Strength) -> str:
    """Write a table by kind, why some are equivalent or undecided, and the holes."""
    lines = [f"{'':10} {'made':>8}" + "".join([f" {one.value:>10}" for one in _COLUMNS])]
    for kind in (*Kind, None):
        row = f"{'all' if kind is None else kind.value:10} {strength.count(kind, None):8,}"
        lines.append(row + "".join([f" {strength.count(kind, one):10,}" for one in _COLUMNS]))
    for outcome in (Outcome.EQUIVALENT, Outcome.UNDECIDED):
        lines += _reasons(strength, outcome)
    if strength.holes:
        lines += ["", "Holes: corruptions that the specification does not notice"]
        lines += [_hole(one) for one in strength.holes[:_HOLES_SHOWN]]
        if len(strength.holes) > _HOLES_SHOWN:
            lines.append(f"  and {len(strength.holes) - _HOLES_SHOWN} more")
    for name, why in strength.left_out.items():
        lines.append(f"{name}: not corrupted, {why}")
    made = strength.count(None, None)
    of = f"{strength.accepted} accepted trace" + ("" if strength.accepted == 1 else "s")
    lines += ["", f"{made:,} corruptions of {of}, seed {strength.seed}"]
    return "\n".join(lines)


def _reasons(strength: Strength, outcome: Outcome) -> list[str]:
    found = [one for one in strength.findings if one.outcome is outcome]
    if not found:
        return []
    counts: dict[tuple[Kind, str], int] = {}
    for one in found:
        counts[one.kind, one.why] = counts.get((one.kind, one.why), 0) + 1
    lines = [f"  {kind.value:10} {n:6,}  {why}" for (kind, why), n in counts.items()]
    return ["", f"Why {outcome.value}", *lines]


def _hole(one: Finding) -> str:
    return f"  {one.trace}, step {one.step}: {one.kind.value}: {one.what}"


def strength_json(strength: Strength) -> dict[str, Json]:
    """Return the machine's answer."""
    kinds: dict[str, Json] = {}
    for kind in Kind:
        counts: dict[str, Json] = {"made": strength.count(kind, None)}
        counts.update({one.value: strength.count(kind, one) for one in _COLUMNS})
        kinds[kind.value] = counts
    holes: list[Json] = [
        {"trace": one.trace, "step": one.step, "kind": one.kind.value, "what": one.what}
        for one in strength.holes
    ]
    left_out: dict[str, Json] = dict(strength.left_out)
    return {
        "seed": strength.seed,
        "traces": strength.accepted,
        "kinds": kinds,
        "holes": holes,
        "left_out": left_out,
    }
