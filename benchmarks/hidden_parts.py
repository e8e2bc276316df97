"""How much of the check is left if half of the variables and a third of the actions are hidden?

`python -m benchmarks.hidden_parts` simulates each bug until so many runs diverge, hides parts of
these runs by their seeds, and prints what became of them, as a table for `traces/PARTIAL.md`. For a
run that conforms now it logs one hidden thing again, one after the other, and names those that make
the bug visible.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocketha.known_bugs import EPOCH_BUGS, Bug
from rocketproof.runs import simulate_trace
from tlatrace.judgement.verdict import Diverges, Verdict, kind
from tlatrace.matching import Budget, match_traces
from tlatrace.matching.hiding import hide, some_of
from tlatrace.oracle import Model, load_model
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Trace

PROTOCOL: Final = "epoch_truncation"
RUNS: Final = 8
MAX_SEEDS: Final = 250
BUDGET: Final = Budget(states=2_000, states_per_event=20)
CONFIG: Final = Path("tests/traces/matching/specs/EpochTruncation.cfg")
_NEVER_TAKEN: Final = {"ElectNobody", "LoseLog", "LoseStore"}


@dataclass(slots=True)
class Row:
    """What became of the diverging runs of one bug."""

    kinds: Counter[str] = field(default_factory=Counter)
    visible_with: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Print the table, one line a bug as it is finished."""
    model = load_model(find_spec_root() / PROTOCOL / "MCEpochTruncation.tla", CONFIG)
    print("| bug | runs that diverge | still diverge | conform | undecided | visible again with |")
    print("| --- | --- | --- | --- | --- | --- |")
    for bug in [Bug(name) for name in sys.argv[1:]] or sorted(EPOCH_BUGS):
        row = measure(model, bug)
        total = row.kinds.total()
        again = ", ".join([f"{name} ({count})" for name, count in row.visible_with.most_common(3)])
        counts = [row.kinds[name] for name in ("diverges", "conforms", "undecided")]
        cells = [bug.value, total, *counts, again]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def measure(model: Model, bug: Bug) -> Row:
    """Hide parts of the first runs of a bug that diverge."""
    row = Row()
    for seed in range(MAX_SEEDS):
        trace = simulate_trace(PROTOCOL, seed, bugs=(bug.value,))
        if not isinstance(judged(model, trace), Diverges):
            continue
        variables = some_of(model.variables, len(model.variables) // 2, seed)
        actions = some_of(named(model), len(named(model)) // 3, seed)
        found = kind(judged(model, hide(trace, variables=variables, actions=actions)))
        row.kinds[found] += 1
        if found == "conforms":
            for name in sorted(variables | actions):
                more = hide(trace, variables=variables - {name}, actions=actions - {name})
                row.visible_with[name] += isinstance(judged(model, more), Diverges)
        if row.kinds.total() == RUNS:
            break
    row.visible_with += Counter()  # without those that are 0
    return row


def judged(model: Model, trace: Trace) -> Verdict:
    """Match one trace."""
    return match_traces(model, [trace], budget=BUDGET)[0]


def named(model: Model) -> list[str]:
    """List the actions of the protocol that simulated runs take."""
    actions = {name for name in model.actions if name != model.next and model.calls(name)}
    return sorted(actions - _NEVER_TAKEN)


if __name__ == "__main__":
    main()
