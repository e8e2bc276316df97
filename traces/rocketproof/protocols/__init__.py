"""The protocols, a folder each: what a projection makes of a run, and how a timeline tells it.

A protocol is here because its folder is; nothing lists them.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from rocketproof.plug import ProtocolPlug

__all__ = ["PROTOCOLS"]


def _plugs() -> Iterator[ProtocolPlug[Any]]:
    for folder in pkgutil.iter_modules(__path__):
        if folder.ispkg:
            plug = import_module(f"{__name__}.{folder.name}.plug").PLUG
            assert isinstance(plug, ProtocolPlug), folder.name
            assert plug.name == folder.name, f"{folder.name} calls itself {plug.name}"
            yield plug


PROTOCOLS: Final[Mapping[str, ProtocolPlug[Any]]] = MappingProxyType(
    {plug.name: plug for plug in _plugs()}
)
"""By name, in the order of the names."""
