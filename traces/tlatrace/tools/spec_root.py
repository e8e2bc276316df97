"""Find the folder of specifications: the one that holds `manifest.toml`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tlatrace.errors import SpecError

__all__ = ["MANIFEST_NAME", "find_spec_root", "spec_root_for"]

MANIFEST_NAME: Final = "manifest.toml"


def find_spec_root(wish: Path | None = None) -> Path:
    """Find the folder `spec` for this process.

    Order: the wish (an option), ROCKETPROOF_SPEC_ROOT, the nearest parent of the working directory
    with `spec/manifest.toml`, the checkout that this package was installed from in editable mode.

    Raises: SpecError when there is none, or when the one that was named has no manifest.
    """
    checkout = Path(__file__).resolve().parents[3]
    return spec_root_for(wish, environment=os.environ, working=Path.cwd(), checkout=checkout)


def spec_root_for(
    wish: Path | None, *, environment: Mapping[str, str], working: Path, checkout: Path
) -> Path:
    """Find the folder `spec` by the order of `find_spec_root`, from given places.

    Raises: SpecError when there is none, or when the one that was named has no manifest.
    """
    variable = environment.get("ROCKETPROOF_SPEC_ROOT")
    named = wish or (Path(variable) if variable else None)
    if named is not None:
        if not (named / MANIFEST_NAME).is_file():
            raise SpecError(named, f"there is no {MANIFEST_NAME} in this folder")
        return named.resolve()
    for folder in (working, *working.parents, checkout):
        if (folder / "spec" / MANIFEST_NAME).is_file():
            return (folder / "spec").resolve()
    raise SpecError(
        working, f"no spec/{MANIFEST_NAME} here or above (say where with ROCKETPROOF_SPEC_ROOT)"
    )
