"""Load a specification as a model: from the cache, or through SANY and the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tlatrace.compiler.cache import keep, model_key, recall
from tlatrace.compiler.compile import compile_tree
from tlatrace.compiler.job import fingerprint_of, job_of
from tlatrace.errors import InvariantError, SpecError, SubsetError
from tlatrace.oracle.model import Model
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.tools.module_folders import module_folders
from tlatrace.values import State

__all__ = ["load_model"]

_WORD: Final = re.compile(r"\w+")


def load_model(
    module: Path,
    config: Path | TlcConfig | None = None,
    *,
    constants: State | None = None,
    invariants: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    properties: Sequence[str] = (),
    expressions: Sequence[str] = (),
    definitions: Mapping[str, str] | None = None,
    conjuncts: bool = False,
    native: bool = False,
    assumptions: bool = False,
    choose_any: bool = False,
    kept: bool = True,
    stuttering: bool = True,
    shown_as: str | None = None,
) -> Model:
    """Compile a specification under a configuration.

    `constants` are used where the configuration assigns none; `invariants` come on top of those of
    the configuration; of `properties` those about initial states and steps are for `Model.broken`;
    `expressions` are operators for `Model.evaluate`, and so are `definitions`, TLA+ text by the
    name that it gets; with `conjuncts` the model has `Model.failing_conjunct`, with `native` the
    text that a `NativeModel` opens, with `assumptions` `Model.failing_assumption`; by `choose_any`
    CHOOSE takes the first of several witnesses, perhaps not TLC's. `stuttering`: whether a step
    without an action may be none of Next where the SPECIFICATION is a [][Next]_v. What nobody
    loads again is not `kept`. `shown_as` is what the model calls itself.

    Raises:
        SubsetError: the specification uses TLA+ outside `spec/SUBSET.md`.
        SpecError: SANY refuses the module, a constant has no value, or an operator is missing.
        ModelGapError: a constant that the module does not have.
        ToolError: there is no Java or no jar.
    """
    config = _opened(config, module)
    module = module.resolve()
    folders = module_folders(module, libraries)
    wanted = tuple(dict.fromkeys([*config.invariants, *invariants]))
    given, own = {} if config.assignments else dict(constants or {}), dict(definitions or {})
    texts = [f"{name} == {text}" for name, text in own.items()]
    asked = (*wanted, "", *expressions, "", *texts, "", *properties, "")
    asked += ("no stuttering",) * (not stuttering) + ("CHOOSE ANY",) * choose_any
    fingerprint = fingerprint_of(module, folders, config, given, asked)
    extras = "conjuncts" * conjuncts, "assumed" * assumptions, "native" * native
    key = model_key(fingerprint, *filter(None, extras))
    source = recall(key) if kept else None
    if source is None:
        with _with_definitions(module, own) as extended:
            folders_of = libraries if extended == module else (module.parent, *libraries)
            job = replace(
                job_of(extended, config, given, folders_of),
                invariants=wanted,
                properties=tuple(properties),
                expressions=(*expressions, *own),
                conjuncts=conjuncts,
                native=native,
                stuttering=stuttering,
                assumptions=assumptions,
                choose_any=choose_any,
                fingerprint=fingerprint,
            )
            try:
                source = compile_tree(job)
            except InvariantError as error:
                path = config.path if error.name in config.invariants else module
                raise InvariantError(path, error.name, error.why) from error
        if kept:
            keep(key, source)
    return Model(replace(source, module=shown_as or module.stem), kept=kept)


def _opened(config: Path | TlcConfig | None, module: Path) -> TlcConfig:
    if isinstance(config, TlcConfig):
        return config
    return TlcConfig(path=module) if config is None else read_config(config)


@contextmanager
def _with_definitions(module: Path, definitions: Mapping[str, str]) -> Iterator[Path]:
    """Give a module that extends another one with definitions; the module itself without any.

    Raises:
        SpecError: what is done with it meets an error in it.
    """
    if not definitions:
        yield module
        return
    with TemporaryDirectory(prefix="rocketproof-definitions-") as folder:
        name = f"{module.stem}__Observed"
        lines = [f"{defined} == {text}" for defined, text in definitions.items()]
        path = Path(folder).resolve() / f"{name}.tla"
        text = "\n".join([f"---- MODULE {name} ----", f"EXTENDS {module.stem}", *lines, "====", ""])
        path.write_text(text, "utf-8")
        try:
            yield path
        except InvariantError:
            raise
        except SpecError as error:
            if Path(error.path).stem != name:
                raise
            reason = f"{', '.join(definitions)}: {error.reason}"
            if isinstance(error, SubsetError):
                raise SubsetError(module, reason, excerpt=error.excerpt) from error
            if error.line is None and not set(_WORD.findall(error.reason)) & definitions.keys():
                reason = error.reason  # it speaks of the module or of its configuration
            raise SpecError(module, reason) from error
