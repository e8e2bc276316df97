"""All states of a model: TLC with one worker, against machine code, by turns.

Both check all of the same configuration, which has no liveness, and must find as many states and
the same depth. Seconds are those of a whole check: TLC's start is in them, and of machine code the
load from the cache, which a first check filled.
`python -m benchmarks.native_search PROTOCOL/MODEL...` takes other models.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from rocketproof.file_check import CheckedFile, FileCheck, by_model, by_tlc
from tlatrace.tools.jar import find_jar
from tlatrace.tools.manifest import read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.tools.tlc_output import Outcome

MODELS: Final = ("lock_quorum/again", "legacy_replication/files")
TURNS: Final = 3


def main(names: Sequence[str] = MODELS) -> None:
    """Print for each model its counts, the medians of both, and the ratio."""
    manifest = read_manifest(find_spec_root())
    models = {f"{model.protocol}/{model.name}": model for model in manifest.models}
    jar = find_jar()
    for name in names:
        model = models[name]
        job = FileCheck(
            module=model.module,
            config=model.config,
            libraries=manifest.libraries(model),
            deadlock=model.deadlock,
            native=True,
        )
        by_model(job, lambda *_: None)
        turns = [
            (by_tlc(job, jar, lambda *_: None), by_model(job, lambda *_: None))
            for _ in range(TURNS)
        ]
        for tlc, native in turns:
            assert native.engine == "native", native.notes
            assert not native.unchecked, native.unchecked
            assert counted(tlc) == counted(native), (tlc, native)
        slow = sorted(tlc.seconds for tlc, _ in turns)[TURNS // 2]
        fast = sorted(native.seconds for _, native in turns)[TURNS // 2]
        _, states, depth = counted(turns[0][1])
        print(f"{name}, {states:,} states, depth {depth}: TLC (baseline): {slow:8.2f} s")
        print(f"{name}, {states:,} states, depth {depth}: machine code:   {fast:8.2f} s")
        print(f"ratio: {slow / fast:.1f}", flush=True)


def counted(found: CheckedFile) -> tuple[Outcome, int | None, int | None]:
    """Return what must be equal."""
    assert found.outcome is Outcome.SUCCESS, found.as_text()
    return found.outcome, found.distinct, found.depth


if __name__ == "__main__":
    main(sys.argv[1:] or MODELS)
