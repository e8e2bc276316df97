"""Processes of DLedger nodes for tests, and their client."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
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
from rocketha.formats.properties import push_properties
from rocketha.types import LogIndex
from tests.free_ports import free_port
from tests.source_files import SOURCE_ROOTS

__all__ = ["DLedgerGroup", "NodeRun"]

_TIMEOUT_S: Final = 60.0


class NodeRun:
    """The process of one node."""

    def __init__(self, folder: Path, name: str, settings: Mapping[str, str]) -> None:
        """Write its file; `settings` are in it, too."""
        self.name = name
        self.output = folder / f"{name}.txt"
        self.configuration = folder / f"{name}.conf"
        self.configuration.write_bytes(push_properties({"selfId": name, **settings}))
        self._popen: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, without waiting."""
        with self.output.open("ab") as file:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "rocketha.process.dledger", "-c", str(self.configuration)],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCE_ROOTS))},
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def end(self, how: signal.Signals = signal.SIGKILL) -> int | None:
        """End it, if it runs; return its exit code."""
        if self._popen is None:
            return None
        if self._popen.poll() is None:
            self._popen.send_signal(how)
        try:
            return self._popen.wait(_TIMEOUT_S)
        finally:
            self._popen = None

    def said(self) -> str:
        """Return what it has printed."""
        return self.output.read_text() if self.output.exists() else ""


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
        self.nodes = {name: NodeRun(folder, name, values) for name in self.ports}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for node in self.nodes.values():
            node.end()

    def start(self, names: Iterable[str] | None = None) -> None:
        """Start nodes, all unless some are named."""
        for name in names or self.nodes:
            self.nodes[name].start()

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
