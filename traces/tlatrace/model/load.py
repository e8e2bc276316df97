"""Load a specification as a model: from the cache, or through SANY and the compiler."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tlatrace.errors import InvariantError, ModelGapError, SpecError, SubsetError
from tlatrace.model.cache import keep, recall
from tlatrace.model.compile import Job, compile_tree, deeply, require_booleans, types_of
from tlatrace.model.mentions import model_values_of, strings_of
from tlatrace.model.model import Model
from tlatrace.model.reader import Reader
from tlatrace.model.scope import Redirect
from tlatrace.model.types import unknown_types
from tlatrace.readings import Types
from tlatrace.runtime.values import RuntimeValue, to_runtime
from tlatrace.tla.config import TlcConfig, read_config
from tlatrace.tla.declarations import read_declarations
from tlatrace.tools.jar import find_jar
from tlatrace.tools.module_folders import module_folders
from tlatrace.tools.sany import export_xml
from tlatrace.values import State, canonical

__all__ = ["load_model", "read_tree", "read_types", "require_boolean_invariants"]

_REDIRECT: Final = re.compile(r"(\S+) <- (?:\[ (\w+) \] )?(\S+)")

_WORD: Final = re.compile(r"\w+")

_TLATRACE: Final = Path(__file__).parents[1]
_READERS: Final = (
    *_TLATRACE.joinpath("runtime").rglob("*.py"),
    _TLATRACE / "values.py",
    _TLATRACE / "trace" / "canonical_text.py",
    _TLATRACE / "trace" / "strict_json.py",
)
"""They say what a text is and what it does, besides the compiler."""


def load_model(
    module: Path,
    config: Path | TlcConfig | None = None,
    *,
    constants: State | None = None,
    invariants: Sequence[str] = (),
    libraries: Sequence[Path] = (),
    expressions: Sequence[str] = (),
    definitions: Mapping[str, str] | None = None,
    conjuncts: bool = False,
    assumptions: bool = False,
    choose_any: bool = False,
    kept: bool = True,
    stuttering: bool = True,
    shown_as: str | None = None,
) -> Model:
    """Compile a specification under a configuration.

    `constants` are used where the configuration assigns none; `invariants` come on top of those
    of the configuration; `expressions` are operators for `Model.evaluate`, and so are
    `definitions`, TLA+ text by the name that it gets; with `conjuncts` the model has
    `Model.failing_conjunct`, and with `assumptions` `Model.failing_assumption`; with `choose_any`
    CHOOSE takes the first of several witnesses, which need not be the one that TLC takes.
    `stuttering`: whether a step without an action may be none of Next where the configuration's
    SPECIFICATION is a [][Next]_v. What nobody will load again is not `kept`. `shown_as` is what the
    model calls itself; without it, by its module.

    Raises:
        SubsetError: the specification uses TLA+ outside `spec/SUBSET.md`.
        SpecError: SANY refuses the module, a constant has no value, or an operator is missing.
        ModelGapError: a constant that the module does not have.
        ToolError: there is no Java or no jar.
    """
    if config is None:
        config = TlcConfig(path=module)
    elif isinstance(config, Path):
        config = read_config(config)
    module = module.resolve()
    folders = module_folders(module, libraries)
    wanted = tuple(dict.fromkeys([*config.invariants, *invariants]))
    given = {} if config.assignments else dict(constants or {})
    own = dict(definitions or {})
    asked = (*wanted, "", *expressions, "", *[f"{name} == {text}" for name, text in own.items()])
    asked += ("no stuttering",) * (not stuttering)
    asked += ("CHOOSE ANY",) if choose_any else ()
    fingerprint = _fingerprint(module, folders, config, given, asked)
    key = fingerprint + ("-conjuncts" if conjuncts else "") + ("-assumed" if assumptions else "")
    source = recall(key) if kept else None
    if source is None:
        with _with_definitions(module, own) as extended:
            folders_of = libraries if extended == module else (module.parent, *libraries)
            job = replace(
                _job(extended, config, given, folders_of),
                invariants=wanted,
                expressions=(*expressions, *own),
                conjuncts=conjuncts,
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
    return Model(replace(source, module=shown_as or module.stem))


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


def read_tree(module: Path, config: TlcConfig, *, libraries: Sequence[Path] = ()) -> Reader:
    """Open the closed tree of a specification under a configuration, for other uses than models.

    Raises:
        SpecError: SANY refuses the module, or the configuration does not fit.
        ToolError: there is no Java or no jar.
    """
    module = module.resolve()
    overrides, module_overrides = _overrides(config)
    root = export_xml(module, libraries=tuple(libraries))
    return Reader(root, module_folders(module, libraries), overrides, module_overrides)


def read_types(
    module: Path,
    config: TlcConfig,
    constants: State,
    invariants: Sequence[str] = (),
    libraries: Sequence[Path] = (),
) -> Types:
    """Infer what may stand where, for a judge that does not compile the specification.

    Where it uses TLA+ outside the subset, only its strings are known.

    Raises:
        SpecError, ModelGapError, ToolError: as `load_model`.
    """
    job = _job(module.resolve(), config, constants, libraries)
    values = [*job.overrides.values(), *job.module_overrides.values()]
    known = [value for value in values if not isinstance(value, Redirect)]
    names = model_values_of(known)
    strings = strings_of(job.root, known)
    declared = read_declarations(module, libraries)
    actions = {name: one.arity for name, one in declared.operators.items() if one.is_action}
    wanted = tuple(dict.fromkeys([*config.invariants, *invariants]))

    def read() -> Types:
        reader = Reader(job.root, job.folders, job.overrides, job.module_overrides)
        parts = replace(job, invariants=wanted)
        if job.specification is not None:
            init, next_name = reader.behaviours.behaviour(job.specification)
            parts = replace(parts, init=init, next=next_name)
        return types_of(parts, reader, actions)

    if names and strings.among(names) != frozenset():
        try:
            return deeply(read)
        except SubsetError:
            pass
    return unknown_types(names, strings, declared.variables, actions)


def require_boolean_invariants(
    module: Path,
    config: TlcConfig,
    constants: State,
    invariants: Sequence[str],
    libraries: Sequence[Path] = (),
) -> None:
    """Refuse an invariant that has a boolean in no state, for a judge that does not compile it.

    Of TLA+ outside the subset nothing is said.

    Raises:
        InvariantError: as `require_booleans`.
        ModelGapError, ToolError: as `load_model`.
    """

    def read() -> None:
        job = _job(module.resolve(), config, constants, libraries)
        reader = Reader(job.root, job.folders, job.overrides, job.module_overrides)
        require_booleans(reader, invariants)

    try:
        deeply(read)
    except InvariantError:
        raise
    except SpecError:
        return  # whoever judges will say it


def _job(module: Path, config: TlcConfig, constants: State, libraries: Sequence[Path]) -> Job:
    """Ask SANY, and find out what the configuration says."""
    overrides, module_overrides = _overrides(config)
    if constants:
        declarations = read_declarations(module, libraries)
        for name, value in constants.items():
            if name not in declarations.constants:
                raise ModelGapError(f"{declarations.module} has no constant {name}")
            overrides[name] = to_runtime(value)
    return Job(
        root=export_xml(module, libraries=tuple(libraries)),
        folders=module_folders(module, libraries),
        overrides=overrides,
        module_overrides=module_overrides,
        specification=config.specification,
        init=config.init or "Init",
        next=config.next or "Next",
        constraints=config.constraints,
        action_constraints=config.action_constraints,
    )


def _overrides(
    config: TlcConfig,
) -> tuple[dict[str, RuntimeValue | Redirect], dict[tuple[str, str], RuntimeValue | Redirect]]:
    overrides: dict[str, RuntimeValue | Redirect] = {}
    module_overrides: dict[tuple[str, str], RuntimeValue | Redirect] = {}
    for item in config.assignments:
        if item.value is not None:
            if item.module is None:
                overrides[item.name] = to_runtime(item.value)
            else:
                module_overrides[item.module, item.name] = to_runtime(item.value)
            continue
        match = _REDIRECT.fullmatch(item.text)
        if match is None:
            reason = f"{item.text}: a constant with parameters needs an operator after <-"
            raise SpecError(config.path, reason)
        if match[2] is None:
            overrides[item.name] = Redirect(match[3])
        else:
            module_overrides[match[2], item.name] = Redirect(match[3])
    return overrides, module_overrides


def _fingerprint(
    module: Path,
    folders: Sequence[Path],
    config: TlcConfig,
    constants: State,
    wanted: Sequence[str],
) -> str:
    """Hash the text of all modules at hand, the configuration, the compiler and the jar."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.glob("*.tla")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(module.name.encode() + b"\0")
    fields = [item.text for item in config.assignments]
    given = {name: canonical(value) for name, value in sorted(constants.items())}
    fields.append(json.dumps(given))
    fields += [str(config.init), str(config.next), str(config.specification), *wanted]
    fields += ["", *config.constraints, "", *config.action_constraints]
    digest.update("\0".join(fields).encode())
    for path in sorted([*Path(__file__).parent.rglob("*.py"), *_READERS]):
        digest.update(path.read_bytes())
    digest.update(find_jar().sha256.encode())
    return digest.hexdigest()
