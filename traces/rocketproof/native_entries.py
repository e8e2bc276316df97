"""Have machine code check an entry of the manifest; where it does not confirm it, TLC is asked.

TLC is the authority: machine code only ever says that an entry is as it was recorded, states, depth
and length included. What has liveness, what is not sure, and what is found otherwise are TLC's.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from rocketproof.file_check import states_of
from tlatrace.errors import TlatraceError
from tlatrace.explore import CheckedModel, images_of
from tlatrace.extras import need
from tlatrace.oracle import Model, load_model
from tlatrace.tools.check import compare
from tlatrace.tools.manifest import Checkable, Manifest, TlcModel
from tlatrace.tools.runs import CheckedEntry, config_of
from tlatrace.tools.tlc import Stop, TlcRun
from tlatrace.tools.tlc_config import postconditions_of, properties_of, symmetry_of, view_of

__all__ = ["confirmed"]

_LOADING: Final = threading.Lock()
"""Models are compiled one after the other: a deep tree changes limits of the whole process."""


class _StoppedError(TlatraceError):
    """Whoever waits for the answer has ended."""


def confirmed(
    manifest: Manifest,
    entry: Checkable,
    *,
    timeout_s: float = 600.0,
    stop: Stop | None = None,
) -> CheckedEntry | None:
    """Check an entry; None where machine code does not find all that was recorded.

    Raises:
        ToolError: LLVM is not installed.
    """
    need("native")
    began, stopped = time.monotonic(), threading.Event()

    def go_on(*_: int) -> None:
        if stopped.is_set():
            raise _StoppedError

    with tempfile.TemporaryDirectory(prefix="rocketproof-native-") as own:
        config = entry.config
        if not isinstance(entry, TlcModel):
            config = Path(own) / entry.config.name
            config.write_text(config_of(entry), "utf-8")
        try:
            with (stop or Stop()).ends(stopped.set):
                checked = _checked(manifest, entry, config, timeout_s, go_on)
        except TlatraceError:
            return None
    if checked is None:
        return None
    model, found = checked
    run = TlcRun(
        outcome=found.outcome,
        violated=found.violated,
        distinct=found.distinct,
        generated=found.generated,
        depth=found.depth,
        states=states_of(model, found),
        loop_to=None,
        stutters=False,
        printed=(),
        message=found.message,
        output="",
        exit_code=None,
        seconds=time.monotonic() - began,
    )
    row = replace(compare(entry, run), engine="native")
    return CheckedEntry(entry=entry, run=run, row=row, exact=True) if row.ok else None


def _checked(
    manifest: Manifest,
    entry: Checkable,
    config: Path,
    timeout_s: float,
    go_on: Callable[..., None],
) -> tuple[Model, CheckedModel] | None:
    """Search all states; None where TLC would be asked for more than that.

    Raises:
        TlatraceError: the model does not compile, or machine code is not sure.
    """
    from tlatrace.explore.native_search import check_natively

    text = config.read_text("utf-8")
    symmetry, views, properties = symmetry_of(text), view_of(text), properties_of(text)
    with _LOADING:
        go_on()
        model = load_model(
            entry.module,
            config,
            libraries=manifest.libraries(entry),
            properties=properties,
            expressions=(*symmetry, *views),
            assumptions=True,
            native=True,
        )
    if set(properties) - set(model.properties) or postconditions_of(text):
        return None
    if model.unread_assumptions() or model.failing_assumption() is not None:
        return None
    images = [images_of(model.evaluate(name), name) for name in symmetry]
    found = check_natively(
        model,
        permutations=images[-1].permutations if images else (),
        view=views[-1] if views else None,
        deadlock=isinstance(entry, TlcModel) and entry.deadlock,
        timeout_s=timeout_s,
        on_progress=go_on,
    )
    return None if found.unasked else (model, found)
