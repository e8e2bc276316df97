"""128 bits that stand for a state or a transition: BLAKE2b over canonical texts.

They are computed by whoever reads a text and never read from a corpus. Equal texts have equal
fingerprints, and others have different ones but for a chance of 2^-64 in a corpus of 2^32.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

__all__ = ["KEY_BYTES", "TransitionKey", "call_bytes", "digest", "digest_of_bytes", "fingerprint"]

KEY_BYTES: Final = 16

TransitionKey = tuple[bytes | None, str | None, str, bytes]
"""(digest of the state before or None, action, params, digest of the state after)."""


def digest(text: str) -> bytes:
    """Return the fingerprint of a text, 16 bytes."""
    return digest_of_bytes(text.encode("utf-8", "surrogatepass"))


def digest_of_bytes(text: bytes | memoryview) -> bytes:
    """Return the fingerprint of a text in UTF-8."""
    return blake2b(text, digest_size=KEY_BYTES).digest()


def fingerprint(key: TransitionKey) -> bytes:
    """Return the fingerprint of a transition, 16 bytes."""
    pre, action, params, post = key
    return digest_of_bytes((pre or b"") + call_bytes(action, params) + post)


def call_bytes(action: str | None, params: str) -> bytes:
    """Return what stands between the digests of two states in what is digested of a transition."""
    # The digests have one length each, and no canonical text or name holds a control character.
    name = "\1" if action is None else action
    return f"\0{name}\0{params}\0".encode("utf-8", "surrogatepass")
