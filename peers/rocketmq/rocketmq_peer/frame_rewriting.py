"""Addresses in frames of remoting, replaced on the way by others of the same length.

RocketMQ's processes tell each other where they listen. Whoever stands between them says instead
where *he* does. Lengths in a frame stay right because the texts are equally long, and so does the
checksum that a registration has of its body, as addresses are in headers; see
`rocketha.formats.remoting_frame` for the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocketha.errors import PacketError
from rocketha.formats.remoting_command import FRAME_MAX

__all__ = ["FrameRewriter", "Rewrite", "address"]

_LENGTH_SIZE = 4


def address(port: int) -> str:
    """Return what a process of this machine says of where it listens."""
    return f"127.0.0.1:{port}"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A text that is replaced by another one."""

    old: bytes
    new: bytes

    def __post_init__(self) -> None:
        """Refuse texts of which a frame would grow or shrink."""
        if len(self.old) != len(self.new) or not self.old:
            raise ValueError(f"{self.old!r} and {self.new!r} are not equally long texts")

    @classmethod
    def of_ports(cls, old: int, new: int) -> Rewrite:
        """Replace the address with one port by that with another."""
        return cls(address(old).encode(), address(new).encode())


class FrameRewriter:
    """Takes a stream apart into frames, and gives those that are complete, rewritten."""

    def __init__(self, rewrites: Sequence[Rewrite]) -> None:
        """Rewrite in this order; no text may come of another one's replacement.

        Raises: ValueError
        """
        if {one.old for one in rewrites} & {one.new for one in rewrites}:
            raise ValueError("what one rewrites, another one would rewrite again")
        self._rewrites = tuple(rewrites)
        self._pending = bytearray()

    @property
    def pending(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._pending)

    def take(self, data: bytes) -> bytes:
        """Take bytes; return all complete frames, rewritten.

        Raises: PacketError: a length is none that a frame may have.
        """
        self._pending += data
        end = 0
        while len(self._pending) - end >= _LENGTH_SIZE:
            length = int.from_bytes(self._pending[end : end + _LENGTH_SIZE], signed=True)
            if not _LENGTH_SIZE <= length <= FRAME_MAX - _LENGTH_SIZE:
                raise PacketError("frame length", offset=end, reason=f"is {length}")
            if len(self._pending) - end < _LENGTH_SIZE + length:
                break
            end += _LENGTH_SIZE + length
        whole = bytes(self._pending[:end])
        del self._pending[:end]
        for one in self._rewrites:
            whole = whole.replace(one.old, one.new)
        return whole
