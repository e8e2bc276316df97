"""Is there what released RocketMQ needs: a JDK, Maven, the jars of each release?"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from rocketmq_peer.errors import PeerError
from rocketmq_peer.jars import find_jars
from rocketmq_peer.proxy import OUTBOUND_HOST
from rocketmq_peer.toolchain import Jdk, find_jdk, find_maven
from rocketmq_peer.versions import PINNED

__all__ = ["Finding", "examine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is needed, and what was found of it."""

    name: str
    found: bool
    version: str = ""
    where: str = ""
    note: str = ""
    """If it is missing: what to do."""

    def as_json(self) -> dict[str, str | bool]:
        """Return the members."""
        return asdict(self)


def examine(
    look_for_jdk: Callable[[], Jdk] = find_jdk, home: Path | None = None
) -> tuple[Finding, ...]:
    """Look for everything; `home` is the folder of all releases, if not the usual one."""
    try:
        jdk = look_for_jdk()
    except PeerError as error:
        needs = "Maven and the releases are looked for when there is a JDK"
        return (
            Finding(name="JDK", found=False, note=str(error)),
            Finding(name="Maven", found=False, note=needs),
        )
    found = [
        Finding(name="JDK", found=True, version=jdk.version, where=str(jdk.home)),
        _second_address(),
    ]

    def look(name: str, finder: Callable[[], Finding]) -> None:
        try:
            found.append(finder())
        except PeerError as error:
            found.append(Finding(name=name, found=False, note=str(error)))

    look("Maven", partial(_maven, jdk))
    for version in PINNED:
        look(f"RocketMQ {version}", partial(_release, version, jdk, home))
    return tuple(found)


def _second_address() -> Finding:
    """Look whether connections may come from the address that proxies use."""
    name = f"address {OUTBOUND_HOST}"
    try:
        with socket.create_server((OUTBOUND_HOST, 0)):
            return Finding(name=name, found=True, where="of this machine")
    except OSError:
        note = f"proxies connect from it (macOS: sudo ifconfig lo0 alias {OUTBOUND_HOST})"
        return Finding(name=name, found=False, note=note)


def _maven(jdk: Jdk) -> Finding:
    maven = find_maven(jdk)
    where = str(maven.program)
    return Finding(name="Maven", found=True, version=maven.version, where=where)


def _release(version: str, jdk: Jdk, home: Path | None) -> Finding:
    folder = str(find_jars(version, jdk=jdk, home=home).folder)
    return Finding(name=f"RocketMQ {version}", found=True, version=version, where=folder)
