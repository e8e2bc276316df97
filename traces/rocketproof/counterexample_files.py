"""Counterexamples as files in the Informal Trace Format, which `validate` reads, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import click

from tlatrace.errors import TlatraceError, ToolError, ValueFormatError
from tlatrace.harmless import harmless
from tlatrace.tla_text import is_identifier, parse_tla
from tlatrace.tools.tlc_output import TlcState
from tlatrace.trace.itf import write_itf
from tlatrace.trace.model import INIT, Event, Header, Trace
from tlatrace.values import Value

__all__ = ["Counterexample", "ItfFiles", "loop_of", "trace_of"]

_FILE: Final = ".itf.json"
_NEXT: Final = "Next"
"""What TLC calls a step where its action is not named in the text: any step of Next."""


class Counterexample(Protocol):
    """What TLC or the compiled model found: a way to a violation."""

    @property
    def states(self) -> Sequence[TlcState]:
        """The states, from an initial one."""
        ...

    @property
    def loop_to(self) -> int | None:
        """The number of the state that comes after the last one."""
        ...

    @property
    def stutters(self) -> bool:
        """Whether nothing happens after the last one."""
        ...


class ItfFiles:
    """A folder for counterexamples, or the file for one."""

    def __init__(self, target: Path, *, several: bool) -> None:
        """Write to `target`.

        Raises: click.UsageError where `several` may be found and it is a file, or one whose name
        says nothing of ITF: no command would read it so.
        """
        self._target = target
        self._is_file = target.name.endswith(_FILE) and not target.is_dir()
        if not self._is_file and (target.is_file() or target.suffix == ".json"):
            raise click.UsageError(f"--itf {target}: a file has to be named *{_FILE}")
        if several and self._is_file:
            raise click.UsageError(f"--itf {target} is one file: name one model, or a folder")
        self._written = 0

    def write(self, found: Counterexample, name: str, spec: str, what: str) -> str:
        """Write a counterexample, and say where it is, or why it is not.

        `spec` is the module that was checked, `what` the property and how it was violated.

        Raises: ToolError where the file cannot be written.
        """
        path = self._target if self._is_file else self._target / f"{name}{_FILE}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_itf(path, trace_of(found.states, spec, what), loop=loop_of(found))
        except ValueFormatError as error:
            return f"not written as ITF: {error.reason}"
        except OSError as error:
            raise ToolError("check", f"cannot write {path}: {error.strerror}") from None
        self._written += 1
        return f"written to {harmless(str(path))}"

    def summary(self) -> str:
        """Say that nothing was written; nothing where something was."""
        return "" if self._written else f"no counterexample: nothing is written to {self._target}"


def trace_of(states: Sequence[TlcState], spec: str, what: str) -> Trace:
    """Make a trace of whole states; where TLC prints no parameters, none are known.

    Raises: ValueFormatError where a state holds what traces cannot.
    """
    events = []
    for step, state in enumerate(states):
        if state.values is None:
            raise ValueFormatError(f"state {state.number} holds a value that traces cannot")
        action, params = (INIT, ()) if step == 0 else _call(state.action)
        events.append(
            Event(
                step=step,
                action=action,
                params=params or (),
                known_params=() if params is None else None,
                state=state.values,
            )
        )
    return Trace(header=Header(spec=spec, meta={"counterexample": what}), events=tuple(events))


def loop_of(found: Counterexample) -> int | None:
    """Return the index of the state from which on all is repeated for ever; None: it ends."""
    if found.stutters:
        return len(found.states) - 1
    return None if found.loop_to is None else found.loop_to - 1


def _call(text: str | None) -> tuple[str | None, tuple[Value, ...] | None]:
    """Read `Transfer("b1", 2)`; the parameters are None where TLC prints none."""
    name, _, rest = (text or "").partition("(")
    if not is_identifier(name) or name == _NEXT:
        return None, ()
    if not rest.endswith(")"):
        return name, None
    try:
        params = parse_tla(f"<<{rest.removesuffix(')')}>>")
    except TlatraceError:
        return name, None
    return name, params if isinstance(params, tuple) else None
