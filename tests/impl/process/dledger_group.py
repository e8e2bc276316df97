"""Processes of DLedger nodes for tests, and their client."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from dledger_peer.client import GROUP, ask_node
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    AppendEntryResponse,
    GetEntriesRequest,
    GetEntriesResponse,
    MetadataRequest,
    MetadataResponse,
)
from rocketha.types import LogIndex
from tests.free_ports import free_port
from tests.impl.process.node_run import NodeRun

__all__ = ["DLedgerGroup"]

_TIMEOUT_S: Final = 60.0


class DLedgerGroup:
    """The processes of a group, in a folder; a context manager, which ends them."""

    def __init__(self, folder: Path, size: int = 3, **settings: str) -> None:
        """Configure the nodes."""
        self.ports = {f"n{i}": free_port() for i in range(size)}
        peers = ";".join(f"{name}-127.0.0.1:{port}" for name, port in self.ports.items())
        values = {
            "group": GROUP,
            "peers": peers,
            "storeBaseDir": str(folder),
            "heartBeatTimeIntervalMs": "150",
            "minVoteIntervalMs": "50",
            "maxVoteIntervalMs": "250",
            "mappedFileSizeForEntryData": "65536",
            "mappedFileSizeForEntryIndex": "32000",
            **settings,
        }
        self.nodes: dict[str, NodeRun] = {}
        for name in self.ports:
            home = folder / name
            home.mkdir()
            self.nodes[name] = NodeRun("rocketha.process.dledger", home, {"selfId": name, **values})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for node in self.nodes.values():
            node.__exit__(kind, error, traceback)

    def start(self, names: Iterable[str] | None = None) -> None:
        """Start nodes, all unless some are named."""
        for name in names or self.nodes:
            self.nodes[name].launch()

    def leader(self, *, not_this: str | None = None) -> str:
        """Wait for somebody who leads, and return it."""
        deadline = time.monotonic() + _TIMEOUT_S
        while time.monotonic() < deadline:
            for name in self.nodes:
                told = self.metadata(name)
                if told is not None and told.leader_id == name != not_this:
                    return name
            time.sleep(0.03)
        said = "".join(f"\n{name}: {node.said()}" for name, node in self.nodes.items())
        raise AssertionError(f"nobody leads{said}")

    def metadata(self, name: str) -> MetadataResponse | None:
        """Ask a node who leads; None: it does not answer."""
        try:
            message = MetadataRequest(group=GROUP, remote_id=name)
            answer = ask_node(self.ports[name], DLedgerRequestCode.METADATA, message)
        except OSError:
            return None
        assert isinstance(answer, MetadataResponse)
        return answer

    def append(self, name: str, body: bytes) -> AppendEntryResponse:
        """Append at a node. Raises: OSError"""
        message = AppendEntryRequest(group=GROUP, remote_id=name, body=body)
        answer = ask_node(self.ports[name], DLedgerRequestCode.APPEND, message)
        assert isinstance(answer, AppendEntryResponse)
        return answer

    def get(self, name: str, index: int) -> GetEntriesResponse:
        """Read an entry of a leader. Raises: OSError"""
        message = GetEntriesRequest(group=GROUP, remote_id=name, begin_index=LogIndex(index))
        answer = ask_node(self.ports[name], DLedgerRequestCode.GET, message)
        assert isinstance(answer, GetEntriesResponse)
        return answer

    def append_acknowledged(self, body: bytes) -> tuple[str, AppendEntryResponse]:
        """Append wherever somebody leads until it is acknowledged; return where."""
        deadline = time.monotonic() + _TIMEOUT_S
        while time.monotonic() < deadline:
            name = self.leader()
            try:
                answer = self.append(name, body)
            except OSError:
                continue
            if answer.response_code is DLedgerResponseCode.SUCCESS:
                return name, answer
        raise AssertionError(f"{body!r} is never acknowledged")
