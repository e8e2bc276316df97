"""The ways in which TLC ends: one configuration of `specs/` and one recorded output each.

The outputs are TLC 2.15's; `python -m tests.traces.tools.endings` records them anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.tools.tlc import Outcome, TlcRun, run_tlc

HERE: Final = Path(__file__).parent
SPECS: Final = HERE / "specs"
OUTPUTS: Final = HERE / "outputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a run must be read as."""

    name: str
    outcome: Outcome
    exit_code: int
    violated: str | None = None
    distinct: int | None = None
    depth: int | None = None
    actions: tuple[str | None, ...] = ()
    loop_to: int | None = None
    stutters: bool = False
    says: str = ""
    """A part of the message for a person."""

    @property
    def module(self) -> Path:
        """The specification."""
        return SPECS / ("Torn.tla" if self.name == "torn" else "Counter.tla")

    @property
    def config(self) -> Path:
        """The configuration."""
        return SPECS / f"{self.name}.cfg"


UP4: Final = (None, "Inc", "Inc", "Inc", "Inc")

ENDINGS: Final = (
    Ending(name="holds", outcome=Outcome.SUCCESS, exit_code=0, distinct=15, depth=6),
    Ending(
        name="invariant",
        outcome=Outcome.INVARIANT,
        exit_code=12,
        violated="Low",
        distinct=4,
        depth=3,
        actions=(None, "Inc", "Inc"),
        says="Invariant Low is violated.",
    ),
    Ending(
        name="initial",
        outcome=Outcome.INVARIANT,
        exit_code=12,
        violated="Positive",
        actions=(None,),
        says="violated by the initial state",
    ),
    Ending(
        name="action",
        outcome=Outcome.ACTION_PROPERTY,
        exit_code=13,
        violated="UpOnly",
        distinct=14,
        depth=6,
        actions=(*UP4, "Reset"),
        says="Action property UpOnly is violated.",
    ),
    Ending(
        name="lasso",
        outcome=Outcome.TEMPORAL,
        exit_code=13,
        violated="Stays",
        distinct=15,
        actions=(*UP4, "Reset"),
        loop_to=2,
        says="Temporal properties were violated.",
    ),
    Ending(
        name="temporal",
        outcome=Outcome.TEMPORAL,
        exit_code=13,
        violated="Rises",
        distinct=15,
        actions=UP4[:4],
        stutters=True,
        says="Temporal properties were violated.",
    ),
    Ending(
        name="deadlock",
        outcome=Outcome.DEADLOCK,
        exit_code=11,
        distinct=5,
        depth=3,
        actions=(None, "Inc", "Inc"),
        says="Deadlock reached.",
    ),
    Ending(
        name="assume",
        outcome=Outcome.ASSUMPTION,
        exit_code=10,
        violated="line 43, col 23 to line 43, col 29 of module Counter",
        says="is false",
    ),
    Ending(
        name="assert",
        outcome=Outcome.EVALUATION_ERROR,
        exit_code=76,
        distinct=5,
        depth=3,
        actions=(None, "Inc", "Inc"),
        says='"too high"',
    ),
    Ending(
        name="broken",
        outcome=Outcome.EVALUATION_ERROR,
        exit_code=75,
        distinct=1,
        says="Attempted to apply Head to the empty sequence",
    ),
    Ending(
        name="noconst",
        outcome=Outcome.CONFIG_ERROR,
        exit_code=151,
        says="Proc is not assigned a value",
    ),
    Ending(
        name="badcfg",
        outcome=Outcome.CONFIG_ERROR,
        exit_code=151,
        says="The invariant Nowhere specified in the configuration file\nis not defined",
    ),
    Ending(name="torn", outcome=Outcome.PARSE_ERROR, exit_code=150, says="line 4, column 9"),
)


def seen_as(ending: Ending, run: TlcRun) -> Ending:
    """Put what a run was read as in the form of what it must be read as."""
    return Ending(
        name=ending.name,
        outcome=run.outcome,
        exit_code=-1 if run.exit_code is None else run.exit_code,
        violated=run.violated,
        distinct=run.distinct,
        depth=run.depth,
        actions=tuple(state.action for state in run.states),
        loop_to=run.loop_to,
        stutters=run.stutters,
        says=ending.says if ending.says in run.message else run.message,
    )


def run_ending(ending: Ending) -> TlcRun:
    """Run TLC on the specification and configuration of an ending."""
    return run_tlc(ending.module, ending.config, check_deadlock=ending.name == "deadlock")


def record_outputs() -> None:
    """Record the outputs, without what belongs to the machine."""
    for ending in ENDINGS:
        output = run_ending(ending).output
        output = re.sub(r"(Parsing file )\S*/", r"\1", output)
        output = re.sub(r" on \d+ cores with .*", ".", output)
        (OUTPUTS / f"{ending.name}.out").write_text(output, "utf-8")


if __name__ == "__main__":
    record_outputs()
