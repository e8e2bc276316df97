"""Clients of a DLedger group: each appends one entry after the other where it thinks they go."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections.abc import Mapping
from typing import Final

from dledger_peer.judging import Append
from rocketha.errors import PacketError
from rocketha.formats.dledger_codes import DLedgerRequestCode
from rocketha.formats.dledger_request_codec import pull_response, push_request
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    AppendEntryResponse,
    DLedgerRequest,
    DLedgerResponse,
    GetEntriesRequest,
    GetEntriesResponse,
    MetadataRequest,
    MetadataResponse,
)
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import LogIndex

__all__ = ["GROUP", "Client", "append_once", "ask_leader", "ask_node"]

GROUP: Final = "g"

_ANSWER_S: Final = 4.0
_LOST_PAUSE_S: Final = 0.1
_READ_EVERY: Final = 5


def ask_node(port: int, code: DLedgerRequestCode, message: DLedgerRequest) -> DLedgerResponse:
    """Ask a node. Raises: OSError, PacketError"""
    with socket.create_connection(("127.0.0.1", port), timeout=_ANSWER_S) as sock:
        sock.sendall(push_command(push_request(message, opaque=1)))
        data = b""
        while (pulled := pull_command(data)) is None:
            more = sock.recv(1 << 16)
            if not more:
                raise ConnectionResetError("the connection ended")
            data += more
        return pull_response(pulled[0], code)


def ask_leader(node: str, port: int) -> str | None:
    """Ask a node who leads. Raises: OSError, PacketError"""
    message = MetadataRequest(group=GROUP, remote_id=node)
    answer = ask_node(port, DLedgerRequestCode.METADATA, message)
    assert isinstance(answer, MetadataResponse)
    return answer.leader_id


def append_once(client: str, node: str, port: int, body: str) -> tuple[Append, str | None]:
    """Append at a node; return the call, and who leads as the answer has it."""
    begun = time.monotonic_ns()
    message = AppendEntryRequest(group=GROUP, remote_id=node, body=body.encode())
    answer: DLedgerResponse | None = None
    with contextlib.suppress(OSError, PacketError):  # nobody knows
        answer = ask_node(port, DLedgerRequestCode.APPEND, message)
    ended = time.monotonic_ns()
    if not isinstance(answer, AppendEntryResponse):
        return (
            Append(client=client, node=node, body=body, begun_ns=begun, ended_ns=ended, code=None),
            None,
        )
    call = Append(
        client=client,
        node=node,
        body=body,
        begun_ns=begun,
        ended_ns=ended,
        code=answer.code,
        index=answer.index,
        term=answer.term,
    )
    return call, answer.leader_id


class Client(threading.Thread):
    """Appends until it is told to stop; every fifth time it reads what was acknowledged last."""

    def __init__(
        self, name: str, ports: Mapping[str, int], *, seed: int, padding: int, pause_s: float
    ) -> None:
        """Take where the nodes are, the size of bodies at most, and how long to rest at most."""
        super().__init__(name=name, daemon=True)
        self.calls: list[Append] = []
        self.reads = 0
        """Reads that gave what was appended."""
        self.odd_reads: list[str] = []
        """Reads that gave something else: GET of DLedger asks no majority."""
        self._ports = ports
        self._rng = random.Random(seed)
        self._padding = padding
        self._pause_s = pause_s
        self._is_over = threading.Event()

    def stop(self) -> None:
        """End after the call under way."""
        self._is_over.set()
        self.join()

    def run(self) -> None:
        """Append."""
        node = self._rng.choice(list(self._ports))
        number = 0
        while not self._is_over.is_set():
            number += 1
            body = f"{self.name}-{number}-".ljust(self._rng.randrange(12, self._padding), ".")
            call, leader = append_once(self.name, node, self._ports[node], body)
            self.calls.append(call)
            if call.is_acknowledged:
                if number % _READ_EVERY == 0:
                    self._read(call)
                self._is_over.wait(self._rng.uniform(0, self._pause_s))
                continue
            others = [one for one in self._ports if one != node]
            node = leader if leader in others else self._rng.choice(list(self._ports))
            self._is_over.wait(_LOST_PAUSE_S)

    def _read(self, call: Append) -> None:
        message = GetEntriesRequest(
            group=GROUP, remote_id=call.node, begin_index=LogIndex(call.index)
        )
        try:
            answer = ask_node(self._ports[call.node], DLedgerRequestCode.GET, message)
        except (OSError, PacketError):
            return
        assert isinstance(answer, GetEntriesResponse)
        if answer.entries and answer.entries[0].body == call.body.encode():
            self.reads += 1
        else:
            self.odd_reads.append(f"{call}: {answer}")
