"""What a slave hears of a master of RocketMQ, put right before the core takes it.

Its master cuts a batch at the end of an epoch, and names in the header the epoch that begins behind
it: bytes of epoch 1 come as the beginning of epoch 2, from an offset on that they do not reach.
A slave of RocketMQ notes the epochs in the right places all the same, but for those that had their
bytes in one batch; ours takes no header that cannot be. The epochs of the master are in its answer
to the handshake, so the header can name the one that the bytes are of.

Source: AutoSwitchHAConnection.AbstractWriteSocketService.transferToSlave
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from rocketha.formats.ha_packets import HandshakeReply, Transfer
from rocketha.ha.events import PacketReceived
from rocketha.types import Epoch, Offset

__all__ = ["RepairedInbox"]


class _Inbox(Protocol):
    def feed(self, data: bytes) -> None: ...

    def next_event(self) -> PacketReceived | None: ...


class RepairedInbox:
    """The inbox of a slave's connection, with headers that name the epoch of their bytes."""

    def __init__(self, inbox: _Inbox) -> None:
        """Take the inbox of the core."""
        self._inbox = inbox
        self._starts: dict[Epoch, Offset] = {}

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self._inbox.feed(data)

    def next_event(self) -> PacketReceived | None:
        """Take the next whole packet. Raises: PacketError"""
        event = self._inbox.next_event()
        if event is None:
            return None
        match event.packet:
            case HandshakeReply(entries=entries):
                self._starts = {entry.epoch: entry.start_offset for entry in entries}
            case Transfer() as transfer:
                return replace(event, packet=self._repaired(transfer))
            case _:
                pass
        return event

    def _repaired(self, transfer: Transfer) -> Transfer:
        begins_behind = transfer.epoch_start_offset == transfer.offset + len(transfer.body)
        if not transfer.body or not begins_behind:
            return transfer
        self._starts[transfer.epoch] = transfer.epoch_start_offset
        own = [epoch for epoch, start in self._starts.items() if start <= transfer.offset]
        if not own:
            return transfer
        epoch = max(own)
        return replace(transfer, epoch=epoch, epoch_start_offset=self._starts[epoch])
