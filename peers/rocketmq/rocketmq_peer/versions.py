"""The releases of RocketMQ that these processes may be."""

from __future__ import annotations

from typing import Final

from rocketmq_peer.errors import PeerError

__all__ = ["BYTE_BUDDY", "PINNED", "SUPPORTED", "checked_version"]

PINNED: Final = ("5.3.3", "5.5.0")
"""The releases that runs are recorded of: the oldest that the specifications speak of, and the
newest."""

SUPPORTED: Final = ("5.3.3", "5.4.0", "5.5.0")
"""All whose jars Maven Central has completely; of 5.3.4 it lacks some."""

BYTE_BUDDY: Final = "1.14.18"
"""What the agent rewrites classes with; `pom.xml` says it, too."""


def checked_version(text: str) -> str:
    """Return a release that is supported. Raises: PeerError"""
    if text not in SUPPORTED:
        raise PeerError(f"RocketMQ {text}: only {', '.join(SUPPORTED)} are supported")
    return text
