"""The specifications on which the compiled model is compared with TLC.

Those of this package cover the accepted subset construct by construct; each is a module of `specs`
with a configuration of the same name. The others are models of a manifest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.tools.manifest import Manifest

__all__ = ["SPECS", "Subject", "manifest_subjects", "packaged_subjects"]

SPECS: Final = Path(__file__).with_name("specs")

_SMALL: Final = "small"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A module with a configuration."""

    name: str
    module: Path
    config: Path
    libraries: tuple[Path, ...] = ()
    """Folders of modules besides the module's own."""


def packaged_subjects() -> tuple[Subject, ...]:
    """Return the specifications of this package, by name: small, and within the subset."""
    return tuple(
        [
            Subject(name=config.stem, module=config.with_suffix(".tla"), config=config)
            for config in sorted(SPECS.glob("*.cfg"))
        ]
    )


def manifest_subjects(manifest: Manifest, names: Iterable[str] = (_SMALL,)) -> tuple[Subject, ...]:
    """Return the models of a manifest with one of these names, in its order."""
    wanted = frozenset(names)
    return tuple(
        [
            Subject(
                name=f"{model.protocol}:{model.name}",
                module=model.module,
                config=model.config,
                libraries=manifest.libraries(model),
            )
            for model in manifest.models
            if model.name in wanted
        ]
    )
