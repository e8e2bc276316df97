"""The text and the JSON of a measurement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rocketproof.implementation_mutation.measure import (
    GROUPS,
    Class,
    Measurement,
    MutationResult,
)
from rocketproof.implementation_mutation.mutation import Kind
from rocketproof.implementation_mutation.run_task import TRACES, Column, RunKey

__all__ = ["measurement_json", "measurement_text", "result_line"]


def result_line(result: MutationResult) -> str:
    """Say in a line what came of a mutation."""
    mutation = result.mutation
    change = f"{_short(mutation.before)} => {_short(mutation.after)}"
    if result.of_class in (Class.EQUIVALENT, Class.REFUSED):
        how = result.of_class.value
    else:
        rejected = sorted(result.rejected.items(), key=lambda one: list(Column).index(one[0]))
        how = ", ".join(_by(column, one.run) for column, one in rejected) or "SURVIVES"
        how += "" if result.of_class is Class.PLAIN else f" ({result.of_class})"
    return f"{mutation.id} ({change}): {how}"


def _by(column: Column, run: RunKey | None) -> str:
    return column.value if run is None else f"{column} at {run}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."


def measurement_text(found: Measurement) -> Iterator[str]:
    """Yield the lines of a report: the rates, what is counted apart, and the survivors."""
    sample, counted = found.sample, found.counted
    yield f"{sample.protocol}: {len(counted)} mutations, up to {len(sample.seeds)} seeds of each"
    yield "rejected by (in brackets the interval of 95 %)"
    for group in _groups(found):
        yield f"  {group:<16} {found.rate(group).text()}"
        if group == "traces":
            each = ", ".join(f"{one} {found.rate(one).rejected}" for one in sorted(TRACES))
            yield f"  {'':<16} at the first run that one of them rejects: {each}"
    yield "rejected by all, of each kind"
    for kind in Kind:
        some = [one for one in counted if one.mutation.kind is kind]
        if some:
            rate, by_text = found.rate("all", some), found.rate("traces", some)
            yield f"  {kind:<16} {rate.rejected} of {rate.of}, by traces {by_text.rejected}"
    never = [one for one in counted if one.of_class is Class.NEVER_EXECUTED]
    yield f"never executed, and counted as not rejected: {len(never)}"
    timers = found.of_class(Class.TIMER)
    yield f"apart: timers, rejected by all {found.rate('all', timers).rejected} of {len(timers)}"
    equivalents = found.of_class(Class.EQUIVALENT)
    yield f"apart: known to be equivalent {len(equivalents)}"
    for one in equivalents:
        yield f"  {one.mutation.id}: {sample.equivalents[one.mutation.id]}"
    refused = found.of_class(Class.REFUSED)
    yield f"apart: refused by the type checker {len(refused)}"
    for one in refused:
        yield f"  {one.mutation.id}: {sample.refused[one.mutation.id]}"
    undecided = sum(one.undecided for one in found.results)
    if undecided:
        yield f"traces of which the judge could not say whether they are allowed: {undecided}"
    survivors = found.survivors
    yield f"survivors of all runs: {len(survivors)}"
    for number, one in enumerate(survivors, start=1):
        yield ""
        tests = "; unit tests reject it" if Column.UNIT_TESTS in one.rejected else ""
        yield f"{number}. {one.mutation.kind}, {one.of_class}{tests}: {one.mutation.id}"
        yield one.mutation.diff()


def _groups(found: Measurement) -> list[str]:
    left_out = {*TRACES} | (set() if found.sample.tests else {Column.UNIT_TESTS})
    return [group for group in GROUPS if group not in left_out]


def measurement_json(found: Measurement) -> dict[str, Any]:
    """Return a measurement as JSON."""
    sample = found.sample
    return {
        "protocol": sample.protocol,
        "seeds": list(sample.seeds),
        "counted": len(found.counted),
        "rates": {
            group: {
                "rejected": (rate := found.rate(group)).rejected,
                "of": rate.of,
                "percent": round(rate.percent, 1),
                "interval": [round(end, 1) for end in rate.interval],
            }
            for group in _groups(found)
        },
        "mutations": [_result_json(found, one) for one in found.results],
    }


def _result_json(found: Measurement, one: MutationResult) -> dict[str, Any]:
    mutation = one.mutation
    return {
        "id": mutation.id,
        "kind": mutation.kind.value,
        "class": one.of_class.value,
        "module": mutation.module,
        "function": mutation.function,
        "before": mutation.before,
        "after": mutation.after,
        "diff": mutation.diff(),
        "equivalent": found.sample.equivalents.get(mutation.id),
        "refused": found.sample.refused.get(mutation.id),
        "runs": one.runs,
        "rejected": {
            column.value: {
                "run": None if how.run is None else str(how.run),
                "reason": how.reason,
            }
            for column, how in one.rejected.items()
        },
    }
