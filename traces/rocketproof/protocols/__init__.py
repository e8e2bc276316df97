"""The protocols, a folder each: what a projection makes of a run, and how a timeline tells it.

A protocol is here because its folder is; nothing lists them. Its modules are loaded when it is
asked for: all of them take a second, and a worker needs those of one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from rocketproof.plug import ProtocolPlug

__all__ = ["PROTOCOLS"]


class _Plugs(Mapping[str, ProtocolPlug[Any]]):
    """The plugs by their names, in the order of the names; each is loaded once."""

    def __init__(self) -> None:
        folders = (folder.name for folder in pkgutil.iter_modules(__path__) if folder.ispkg)
        self._loaded: dict[str, ProtocolPlug[Any] | None] = dict.fromkeys(folders)

    def __getitem__(self, name: str) -> ProtocolPlug[Any]:
        plug = self._loaded[name]
        if plug is None:
            plug = import_module(f"{__name__}.{name}.plug").PLUG
            assert isinstance(plug, ProtocolPlug), name
            assert plug.name == name, f"{name} calls itself {plug.name}"
            self._loaded[name] = plug
        return plug

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)


PROTOCOLS: Final[Mapping[str, ProtocolPlug[Any]]] = _Plugs()
"""By name, in the order of the names."""
