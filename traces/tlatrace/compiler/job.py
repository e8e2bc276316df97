"""What the compiler is asked for: SANY's tree, a configuration, and what is to be written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.compiler.lower.scope import Redirect
from tlatrace.errors import ModelGapError, SpecError
from tlatrace.runtime.values import RuntimeValue, to_runtime
from tlatrace.tla.config import TlcConfig
from tlatrace.tla.declarations import read_declarations
from tlatrace.tla.sany_tree import SanyTree, read_sany
from tlatrace.tools.jar import find_jar
from tlatrace.tools.module_folders import module_folders
from tlatrace.values import State, canonical

__all__ = ["Job", "fingerprint_of", "job_of", "overrides_of"]

_REDIRECT: Final = re.compile(r"(\S+) <- (?:\[ (\w+) \] )?(\S+)")

_TLATRACE: Final = Path(__file__).parents[1]
_MADE_BY: Final = (
    "compiler/**/*.py",
    "oracle/**/*.py",
    "runtime/**/*.py",
    "tla/**/*.py",
    "values.py",
    "trace/canonical_text.py",
    "trace/strict_json.py",
)
"""What says which text a specification becomes, and what that text does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the compiler is asked for."""

    tree: SanyTree
    folders: Sequence[Path]
    overrides: Mapping[str, RuntimeValue | Redirect]
    """Name of a constant or definition -> its value, or the definition after "<-"."""
    module_overrides: Mapping[tuple[str, str], RuntimeValue | Redirect]
    """(module, name) -> what the configuration says of that name in that module."""
    specification: str | None
    """The formula of which `init` and `next` are parts; None if they are given."""
    init: str
    next: str
    constraints: tuple[str, ...]
    action_constraints: tuple[str, ...]
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    """Those of which the model is to evaluate what they say of steps, and of initial states."""
    expressions: tuple[str, ...] = ()
    """Operators that the model is to evaluate."""
    stuttering: bool = True
    """Whether a step without an action may be one of [Next]_v, where `specification` has it."""
    conjuncts: bool = False
    """Whether the model is to say which conjunct of an action is false."""
    native: bool = False
    """Whether what can be asked is written as flat Python, too."""
    assumptions: bool = False
    """Whether the model is to evaluate the ASSUMEs."""
    choose_any: bool = False
    """Whether CHOOSE takes the first of several witnesses."""
    fingerprint: str = ""


def job_of(module: Path, config: TlcConfig, constants: State, libraries: Sequence[Path]) -> Job:
    """Ask SANY, and find out what the configuration says."""
    overrides, module_overrides = overrides_of(config)
    if constants:
        declarations = read_declarations(module, libraries)
        for name, value in constants.items():
            if name not in declarations.constants:
                raise ModelGapError(f"{declarations.module} has no constant {name}")
            overrides[name] = to_runtime(value)
    return Job(
        tree=read_sany(module, libraries),
        folders=module_folders(module, libraries),
        overrides=overrides,
        module_overrides=module_overrides,
        specification=config.specification,
        init=config.init or "Init",
        next=config.next or "Next",
        constraints=config.constraints,
        action_constraints=config.action_constraints,
    )


def overrides_of(
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


def fingerprint_of(
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
    for path in sorted([path for pattern in _MADE_BY for path in _TLATRACE.glob(pattern)]):
        digest.update(path.read_bytes())
    digest.update(find_jar().sha256.encode())
    return digest.hexdigest()
