"""Run TLC on an entry of the manifest and compare."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from tlatrace.errors import SpecError
from tlatrace.tools.check import CheckRow, compare
from tlatrace.tools.manifest import Checkable, Manifest, Mutant, TlcModel, Witness, key_of
from tlatrace.tools.tlc import (
    JVM_ARGS,
    QUICK_JVM_ARGS,
    Stop,
    TlcJar,
    TlcProgress,
    TlcRun,
    all_workers,
    run_tlc,
)
from tlatrace.tools.tlc_config import (
    invariants_of,
    properties_of,
    with_only,
    with_only_invariant,
    with_overrides,
)

__all__ = ["CheckedEntry", "check_entry", "config_of"]

_QUICK_S = 35.0
"""Up to here C1 alone took less CPU for five of six models, and 19 % less for the six together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedEntry:
    """An entry, the run of TLC on it, and the row that compares the two."""

    entry: Checkable
    run: TlcRun
    row: CheckRow
    exact: bool
    """Whether depth and length are comparable: TLC ran with one worker."""


def check_entry(
    manifest: Manifest,
    entry: Checkable,
    *,
    timeout_s: float = 600.0,
    workers: int | None = None,
    jar: TlcJar | None = None,
    on_progress: Callable[[TlcProgress], None] | None = None,
    stop: Stop | None = None,
) -> CheckedEntry:
    """Run TLC on one entry and compare the result with the manifest.

    Without `workers`, a model of the weekly ring has all of the machine's, and everything else has
    one, which makes depths and lengths comparable.

    Raises: ToolError without a Java or a TLC jar.
    """
    weekly = isinstance(entry, TlcModel) and entry.ring == "weekly"
    last = manifest.measured.get(key_of(entry))
    takes_long = isinstance(entry, TlcModel) and (last is None or last.seconds > _QUICK_S)
    if workers is None:
        workers = all_workers() if weekly else 1
    with tempfile.TemporaryDirectory(prefix="rocketproof-cfg-") as own:
        config = entry.config
        if not isinstance(entry, TlcModel):
            config = Path(own) / entry.config.name
            config.write_text(config_of(entry), "utf-8")
        run = run_tlc(
            entry.module,
            config,
            workers=workers,
            timeout_s=timeout_s,
            check_deadlock=isinstance(entry, TlcModel) and entry.deadlock,
            libraries=manifest.libraries(entry),
            jvm_args=JVM_ARGS if takes_long else QUICK_JVM_ARGS,
            on_progress=on_progress,
            jar=jar,
            stop=stop,
        )
    exact = workers == 1
    return CheckedEntry(entry=entry, run=run, row=compare(entry, run, exact=exact), exact=exact)


def config_of(entry: Witness | Mutant) -> str:
    """Return the text of the configuration with which TLC checks a witness or a mutant.

    Raises: SpecError when the configuration cannot be read, or lacks the property to check.
    """
    path = entry.config
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(path, f"cannot be read ({error})") from error
    if isinstance(entry, Mutant) and entry.against not in (
        None,
        *invariants_of(text),
        *properties_of(text),
    ):
        raise SpecError(path, f"has no invariant or property {entry.against}")
    match entry:
        case Witness(violates=name):
            return with_only_invariant(text, name)
        case Mutant(overrides=overrides, against=against):
            checked = text if against is None else with_only(text, against)
            return with_overrides(checked, overrides)
        case _ as unreachable:
            assert_never(unreachable)
