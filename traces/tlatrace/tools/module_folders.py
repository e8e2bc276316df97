"""Where modules are looked for, by SANY, by TLC and by all that shows their text: one order.

The module's own folder; the libraries that the user names; the folder `common` of the
specifications that one of these belongs to, as `spec/common` is for `spec/replica_group`; the
community modules in our own words. The first that has a module counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tlatrace.tools.spec_root import is_spec_root

__all__ = ["COMMUNITY", "library_folders", "module_folders"]

COMMUNITY: Final = Path(__file__).parents[1] / "community"
"""The community modules in our own words: SANY and TLC look there when no other folder has one."""

_COMMON: Final = "common"


def module_folders(module: Path, libraries: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the folders in which a module and what it extends may lie, in the order of search."""
    return (module.parent, *library_folders(module, libraries))


def library_folders(module: Path, libraries: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the folders besides the module's own: what TLC calls the library."""
    homes = [folder.resolve().parent for folder in (module.parent, *libraries)]
    common = [home / _COMMON for home in homes if is_spec_root(home)]
    found = [*libraries, *[folder for folder in common if folder.is_dir()], COMMUNITY]
    return tuple(dict.fromkeys(found))
