"""All states of a model: TLC with one worker, against machine code, by turns.

Both check all of the same configuration, and must find as many states and the same depth. Seconds
are those of a whole check: TLC's start is in them, and of machine code the load from the cache,
which a first check filled. Behind them are those of CPU, for where other jobs are on the machine.

`python -m benchmarks.native_search PROTOCOL/MODEL...` takes other models, and `--all` each that
holds and has more than 10^5 states: a row each, and what fails, be it less than `LEAST` times as
fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import Final

from rocketproof.file_check import CheckedFile, FileCheck, by_model, by_tlc
from tlatrace.tools.jar import find_jar
from tlatrace.tools.manifest import Manifest, TlcModel, read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc_output import Outcome

MODELS: Final = ("lock_quorum/again", "legacy_replication/files")
TURNS: Final = 3
LONG_S: Final = 60.0
"""Where TLC takes longer, it has one turn."""
MANY: Final = 100_000
"""States."""
LEAST: Final = 5.0
"""Times TLC's speed, of a model with more states than that."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long a check took, or the medians of several."""

    wall: float
    cpu: float

    @staticmethod
    def medians(taken: Sequence[Seconds]) -> Seconds:
        """Take the median of each."""
        return Seconds(median([one.wall for one in taken]), median([one.cpu for one in taken]))

    def __str__(self) -> str:
        return f"{self.wall:7.2f} s, CPU {self.cpu:7.2f} s"


Timed = tuple[CheckedFile, Seconds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What both found, and the medians of their seconds."""

    states: int | None
    depth: int | None
    slow: Seconds
    fast: Seconds
    wrong: tuple[str, ...]
    """What is not as recorded, or was not done."""

    @property
    def ratio(self) -> float:
        """How many times faster machine code is."""
        return self.slow.wall / self.fast.wall


def compared(tlc: Sequence[Timed], native: Sequence[Timed], model: TlcModel) -> Compared:
    """Hold what both found against what is recorded."""
    recorded = Outcome.SUCCESS, model.distinct, model.depth
    wrong = [
        f"{found.engine}: {(found.outcome, found.distinct, found.depth)} is not {recorded}"
        for found, _ in (*tlc, *native)
        if (found.outcome, found.distinct, found.depth) != recorded
    ]
    for found, _ in native:
        wrong += [f"not checked: {item}" for item in found.unchecked]
        if found.engine != "native":
            wrong += ["not by machine code", *found.notes]
    return Compared(
        states=native[0][0].distinct,
        depth=native[0][0].depth,
        slow=Seconds.medians([seconds for _, seconds in tlc]),
        fast=Seconds.medians([seconds for _, seconds in native]),
        wrong=tuple(dict.fromkeys(wrong)),
    )


def timed(check: Callable[[], CheckedFile]) -> Timed:
    """Check, and count the CPU seconds of this process and of those that it started."""
    before = os.times()
    found = check()
    return found, Seconds(found.seconds, sum(os.times()[:4]) - sum(before[:4]))


def checked(manifest: Manifest, model: TlcModel) -> Compared:
    """Check a model by both, by turns."""
    job = FileCheck(
        module=model.module,
        config=model.config,
        libraries=manifest.libraries(model),
        deadlock=model.deadlock,
    )
    machine = replace(job, native=True)
    by_model(replace(machine, max_states=1), _show)
    tlc: list[Timed] = []
    native: list[Timed] = []
    for _ in range(TURNS):
        if not tlc or tlc[-1][1].wall < LONG_S:
            tlc.append(timed(partial(by_tlc, job, find_jar(), _show)))
        native.append(timed(partial(by_model, machine, _show)))
    return compared(tlc, native, model)


def _show(*_: object) -> None:
    """Show no progress."""


def large(manifest: Manifest) -> list[str]:
    """Name the models that hold and have many states, those with fewer first."""
    models = [m for m in manifest.models if m.violates is None and (m.distinct or 0) > MANY]
    models.sort(key=lambda model: model.distinct or 0)
    return [f"{model.protocol}/{model.name}" for model in models]


def fails(found: Compared, least: float) -> tuple[str, ...]:
    """Say what is wrong; a ratio below `least` is, too."""
    slow = (f"{found.ratio:.1f} times as fast, and not {least}",) if found.ratio < least else ()
    return (*found.wrong, *slow)


def main(names: Sequence[str] = MODELS) -> None:
    """Print a row for each model, and what fails; end with 1 if something does, or nothing ran."""
    manifest = read_manifest(find_spec_root())
    models = {f"{model.protocol}/{model.name}": model for model in manifest.models}
    least = 0.0
    if list(names) == ["--all"]:
        least, names = LEAST, large(manifest)
    wrong: dict[str, tuple[str, ...]] = {}
    for name in names:
        found = checked(manifest, models[name])
        print(
            f"{name:28} {found.states or 0:9,} states, depth {found.depth}: TLC (baseline) "
            f"{found.slow}, machine code {found.fast}, ratio: {found.ratio:5.1f}",
            flush=True,
        )
        if why := fails(found, least):
            wrong[name] = why
    for name, why in wrong.items():
        print(f"FAILS: {name}: {'; '.join(why)}")
    print(f"{len(names) - len(wrong)} of {len(names)} models as they must be")
    if wrong or not names:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:] or MODELS)
