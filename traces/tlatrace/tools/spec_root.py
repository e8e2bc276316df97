"""Find the folder of specifications, whose folders have a `checks.toml` each, and the samples.

A checkout has them in its folders `spec` and `traces/samples`; a wheel brings copies in `shipped`,
a folder of this package with the same folders in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError

__all__ = [
    "CHECKS_NAME",
    "OLD_NAME",
    "find_samples",
    "find_spec_root",
    "is_shipped",
    "is_spec_root",
    "spec_root_for",
]

CHECKS_NAME: Final = "checks.toml"
OLD_NAME: Final = "manifest.toml"
"""What was in the place of all `checks.toml`; who reads a folder that has it says so."""
_CHECKOUT: Final = Path(__file__).resolve().parents[3]
_SHIPPED: Final = Path(__file__).resolve().parents[1] / "shipped"


def find_spec_root(wish: Path | None = None) -> Path:
    """Find the folder `spec` for this process.

    Order: the wish (an option), ROCKETPROOF_SPEC_ROOT, the nearest parent of the working directory
    with a `spec/*/checks.toml`, the checkout that this package was installed from in editable mode,
    what the wheel brought.

    Raises: SpecError when there is none, or none in the folder that was named.
    """
    return spec_root_for(
        wish, environment=os.environ, working=Path.cwd(), places=(_CHECKOUT, _SHIPPED)
    )


def find_samples() -> Path:
    """Find the folder of samples: of the checkout, or what the wheel brought.

    Raises: SpecError when there is none.
    """
    for place in (_CHECKOUT, _SHIPPED):
        samples = place / "traces" / "samples"
        if samples.is_dir():
            return samples
    raise SpecError(_SHIPPED, "this installation has no samples")


def is_spec_root(folder: Path) -> bool:
    """Tell whether a folder holds specifications, each in a folder of its own."""
    return any(folder.glob(f"*/{CHECKS_NAME}")) or (folder / OLD_NAME).is_file()


def is_shipped(folder: Path) -> bool:
    """Tell whether a folder is part of an installed wheel, where nothing is to be written."""
    return folder.resolve().is_relative_to(_SHIPPED)


def spec_root_for(
    wish: Path | None, *, environment: Mapping[str, str], working: Path, places: Sequence[Path]
) -> Path:
    """Find the folder `spec` by the order of `find_spec_root`, from given places.

    Raises: SpecError when there is none, or none in the folder that was named.
    """
    variable = environment.get("ROCKETPROOF_SPEC_ROOT")
    named = wish or (Path(variable) if variable else None)
    if named is not None:
        if not is_spec_root(named):
            raise SpecError(named, f"no folder in this folder has a {CHECKS_NAME}")
        return named.resolve()
    for folder in (working, *working.parents, *places):
        if is_spec_root(folder / "spec"):
            return (folder / "spec").resolve()
    raise SpecError(
        working, f"no spec/*/{CHECKS_NAME} here or above (say where with ROCKETPROOF_SPEC_ROOT)"
    )
