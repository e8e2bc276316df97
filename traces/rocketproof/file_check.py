"""`rocketproof check FILE.tla`: a specification that no manifest describes, by TLC or compiled."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tlatrace.errors import EvaluationError, SpecError
from tlatrace.explore import ActionCount, CheckedModel, Images, check_model, images_of
from tlatrace.judgement.difference import call_text
from tlatrace.matching.never_taken import NeverTaken, why_never_taken
from tlatrace.oracle import Model, load_model
from tlatrace.tla_text import to_tla
from tlatrace.tools.jar import TlcJar
from tlatrace.tools.module_folders import library_folders
from tlatrace.tools.sany import require_module
from tlatrace.tools.tlc import TlcProgress, TlcRun, run_tlc
from tlatrace.tools.tlc_config import (
    checks_deadlock,
    postconditions_of,
    properties_of,
    symmetry_of,
    view_of,
)
from tlatrace.tools.tlc_output import Outcome, TlcState
from tlatrace.tools.tlc_run import VERDICTS
from tlatrace.values import State

__all__ = [
    "CheckedFile",
    "FileCheck",
    "by_model",
    "by_tlc",
    "describe_jar",
    "states_of",
    "told_by_tlc",
]

_UNDECIDED: Final = frozenset([Outcome.CRASH, Outcome.TIMEOUT])

Show = Callable[[str, int, int], None]
"""Is called with the file's name, how many states are found, and how many of them wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """What to check."""

    module: Path
    config: Path
    libraries: tuple[Path, ...] = ()
    deadlock: bool = True
    """Whether a state without a successor is an error, unless the configuration denies it."""
    workers: int = 1
    timeout_s: float = 3600.0
    max_states: int | None = None
    """Where the compiled model gives up."""
    choose_any: bool = False
    """Whether CHOOSE takes the first of several witnesses in the compiled model."""
    native: bool = False
    """Whether machine code searches, where all that it is asked is sure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """What was found, whoever searched."""

    engine: str
    module: str
    outcome: Outcome
    violated: str | None
    distinct: int | None
    generated: int | None
    depth: int | None
    seconds: float
    message: str
    states: tuple[TlcState, ...]
    loop_to: int | None = None
    stutters: bool = False
    printed: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    """What the configuration or the module asks for, and was not done."""
    notes: tuple[str, ...] = ()
    actions: tuple[ActionCount, ...] = ()
    """What the steps of each action led to, where machine code searched."""
    never_taken: tuple[NeverTaken, ...] = ()
    """The actions without a step, where all states were searched."""
    jar: TlcJar | None = None

    @property
    def exit_code(self) -> int:
        """Return 0 where all holds, 1 where something does not, 2 for errors, 3 undecided."""
        if self.outcome is Outcome.SUCCESS:
            return 3 if self.unchecked else 0
        if self.outcome in VERDICTS:
            return 1
        valueless = self.engine == "compiled" and self.outcome is Outcome.EVALUATION_ERROR
        return 3 if valueless or self.outcome in _UNDECIDED else 2

    def as_text(self, *, verbose: bool = False) -> str:
        """Return the lines for a person, the summary last; with `verbose` one for each action."""
        lines = [*self.notes, *([self.message] if self.message else [])]
        lines += [
            f"{state.number}: {state.action or 'initial state'}\n{state.text}\n"
            for state in self.states
        ]
        if self.loop_to is not None:
            lines.append(f"and from state {self.loop_to} again, for ever\n")
        if self.stutters:
            lines.append("and then nothing, for ever\n")
        what = f"{self.outcome}" + (f": {self.violated}" if self.violated else "")
        counts = "" if self.distinct is None else f", {self.distinct:,} distinct states"
        depth = "" if self.depth is None else f", depth {self.depth}"
        lines += self.printed
        if verbose:
            width = max([len(one.action) for one in self.actions], default=0)
            lines += [
                f"{one.action:{width}} {one.generated:11,} generated, {one.new:9,} new"
                for one in self.actions
            ]
        lines += [f"never taken: {one.action}: {one.in_words()}" for one in self.never_taken]
        lines += [f"not checked: {item}" for item in self.unchecked]
        return "\n".join([*lines, f"{self.module}: {what}{counts}{depth}, {self.seconds:.1f} s"])

    def as_json(self) -> dict[str, object]:
        """Return the answer for a machine."""
        return {
            "engine": self.engine,
            "jar": None if self.jar is None else describe_jar(self.jar),
            "outcome": self.outcome.value,
            "violated": self.violated,
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "seconds": round(self.seconds, 3),
            "message": self.message,
            "states": [{"action": state.action, "text": state.text} for state in self.states],
            "loop_to": self.loop_to,
            "stutters": self.stutters,
            "printed": list(self.printed),
            "unchecked": list(self.unchecked),
            "notes": list(self.notes),
            "actions": [asdict(one) for one in self.actions],
            "never_taken": {one.action: one.in_words() for one in self.never_taken},
        }


def describe_jar(jar: TlcJar) -> dict[str, str | bool]:
    """Return what tells a TLC jar from another."""
    return {
        "path": os.fspath(jar.path),
        "version": jar.version,
        "sha256": jar.sha256,
        "pinned": jar.pinned,
    }


def told_by_tlc(show: Show, name: str) -> Callable[[TlcProgress], None]:
    """Return what hands TLC's progress over to `show`."""
    return lambda seen: show(name, seen.distinct, seen.queue)


def by_tlc(job: FileCheck, jar: TlcJar, show: Show) -> CheckedFile:
    """Have TLC check a file.

    Raises:
        SpecError: the module or the configuration is not there.
        ToolError: there is no Java.
    """
    text = _config_text(job)
    run: TlcRun = run_tlc(
        job.module,
        job.config,
        workers=job.workers,
        timeout_s=job.timeout_s,
        check_deadlock=job.deadlock and checks_deadlock(text) is not False,
        libraries=job.libraries,
        jar=jar,
        on_progress=told_by_tlc(show, job.module.name),
    )
    return CheckedFile(
        engine="tlc",
        module=job.module.name,
        outcome=run.outcome,
        violated=run.violated,
        distinct=run.distinct,
        generated=run.generated,
        depth=run.depth,
        seconds=run.seconds,
        message=run.message,
        states=run.states,
        loop_to=run.loop_to,
        stutters=run.stutters,
        printed=run.printed,
        jar=jar,
    )


def by_model(job: FileCheck, show: Show) -> CheckedFile:
    """Compile a file, and search the states of the model.

    Raises:
        SubsetError: the specification does not compile.
        SpecError, ToolError: as `load_model`.
    """
    text = _config_text(job)
    started = time.monotonic()
    symmetry, views = symmetry_of(text), view_of(text)
    model = load_model(
        job.module,
        job.config,
        libraries=job.libraries,
        properties=properties_of(text),
        expressions=(*symmetry, *views),
        assumptions=True,
        choose_any=job.choose_any,
        native=job.native,
    )
    images: Images | None = None
    notes: list[str] = []
    for name in symmetry:
        images = images_of(model.evaluate(name), name)
        notes.append(f"SYMMETRY {name}: a state and its {len(images)} permuted images count once")
    view = views[-1] if views else None
    if view is not None:
        notes.append(f"VIEW {view}: states with the same value of it count once")
    if job.choose_any:
        notes.append("CHOOSE takes the first of several: TLC may take another, and count otherwise")
    found, engine = _assumed(model), "compiled"
    if found is None:
        searched = partial(
            _searched,
            model,
            images,
            view,
            deadlock=job.deadlock and checks_deadlock(text) is not False,
            max_states=job.max_states,
            timeout_s=job.timeout_s,
            on_progress=lambda found, done: show(job.module.name, found, found - done),
        )
        if job.native:
            found, why = _natively(searched)
            engine = "compiled" if found is None else "native"
            notes += [f"not by machine code: {why}"] if why else []
        found = found or searched(native=False)
    elif found.outcome is Outcome.SUCCESS:
        evaluated = len(model.source.assumptions) - len(model.unread_assumptions())
        notes.append(f"no variables: {evaluated} ASSUMEs were evaluated")
    return CheckedFile(
        engine=engine,
        module=job.module.name,
        outcome=found.outcome,
        violated=found.violated,
        distinct=found.distinct,
        generated=found.generated,
        depth=found.depth,
        seconds=time.monotonic() - started,
        message=found.message,
        states=states_of(model, found),
        unchecked=_unchecked(model, found, text),
        notes=tuple(notes),
        actions=found.actions,
        never_taken=_never_taken(job, found) if found.sample else (),
    )


def _unchecked(model: Model, found: CheckedModel, text: str) -> tuple[str, ...]:
    """Name what the configuration or the module asks for, and was not done."""
    unasked = [name for name in properties_of(text) if name not in model.properties]
    unchecked = [f"PROPERTY {name} (TLC does)" for name in unasked]
    unchecked += [f"PROPERTY {name} (--engine compiled does)" for name in found.unasked]
    unchecked += [f"POSTCONDITION {name} (newer TLCs do)" for name in postconditions_of(text)]
    unchecked += [f"the ASSUME at {place} (TLC does)" for place in model.unread_assumptions()]
    return tuple(unchecked)


def _never_taken(job: FileCheck, found: CheckedModel) -> tuple[NeverTaken, ...]:
    """Say what keeps actions from being taken, by a model that knows its conjuncts."""
    model = load_model(
        job.module,
        job.config,
        libraries=job.libraries,
        choose_any=job.choose_any,
        conjuncts=True,
    )
    folders = (job.module.parent, *library_folders(job.module, job.libraries))
    names = [one.action for one in found.actions if not one.generated]
    return tuple([why_never_taken(model, folders, name, found.sample) for name in names])


def _searched(
    model: Model, images: Images | None, view: str | None, *, native: bool, **limits: Any
) -> CheckedModel:
    """Search the states of a model.

    Raises:
        NotSure: machine code does not know.
    """
    if not native:
        viewed = None if view is None else partial(model.evaluate, view)
        broken = model.broken if model.properties else None
        return check_model(model, images=images, view=viewed, broken=broken, **limits)
    from tlatrace.explore.native_search import check_natively

    permutations = () if images is None else images.permutations
    return check_natively(model, permutations=permutations, view=view, **limits)


def _natively(searched: Callable[..., CheckedModel]) -> tuple[CheckedModel | None, str]:
    """Have machine code search; None, and why, where something is not sure."""
    from tlatrace.explore.native_space import NotSure

    try:
        return searched(native=True), ""
    except NotSure as reason:
        return None, str(reason)


def _assumed(model: Model) -> CheckedModel | None:
    """Evaluate the ASSUMEs; None where they are TRUE and there are states to search.

    Raises:
        SpecError: there is nothing to check.
    """
    outcome, place, message = Outcome.SUCCESS, None, ""
    try:
        place = model.failing_assumption()
        if place is not None:
            outcome = Outcome.ASSUMPTION
        elif model.next:
            return None
        elif not model.source.assumptions:
            raise SpecError(model.module, "has neither variables nor ASSUMEs: nothing to check")
    except EvaluationError as error:
        outcome, message = Outcome.EVALUATION_ERROR, f"an ASSUME: {error}"
    return CheckedModel(
        outcome=outcome,
        violated=place,
        distinct=0,
        generated=0,
        depth=0,
        path=(),
        message=message,
    )


def _config_text(job: FileCheck) -> str:
    require_module(job.module)
    if not job.config.is_file():
        raise SpecError(job.config, "there is no such configuration (say which with --config)")
    try:
        return job.config.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(job.config, f"cannot be read ({error})") from error


def states_of(model: Model, found: CheckedModel) -> tuple[TlcState, ...]:
    """Return the states of a counterexample as TLC's are."""
    shown: list[TlcState] = []
    for number, item in enumerate(found.path, start=1):
        values = model.show(item.state)
        action = None
        if item.action is not None:
            params = tuple([model.show_value(param) for param in item.params])
            action = call_text(item.action, params)
        shown.append(TlcState(number=number, action=action, text=_text(values), values=values))
    return tuple(shown)


def _text(state: State) -> str:
    return "\n".join([f"/\\ {name} = {to_tla(value)}" for name, value in state.items()])
