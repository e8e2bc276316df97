"""A group of three nodes, some of DLedger's and some of ours, each behind links that can be cut."""

from __future__ import annotations

import base64
import contextlib
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from dledger_peer.by_specification import RECORDS
from dledger_peer.client import GROUP, append_once, ask_leader
from dledger_peer.jars import DLedgerJars
from dledger_peer.judging import Append, LogEntry
from rocketha.dledger.store import DLedgerStore
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import PacketError, RockethaError
from rocketha.formats.dledger_entry import EntryCheck
from rocketha.formats.properties import push_properties
from rocketha.storage.disk import RealDisk
from rocketha.types import LogIndex, SizeBytes
from rocketmq_peer.errors import PeerError
from rocketmq_peer.ports import HIGHEST, LOWEST, is_free
from rocketmq_peer.processes import Process, run_program
from rocketmq_peer.proxy import Proxies
from rocketmq_peer.rocketha_program import with_rocketha

__all__ = ["OURS", "RECORDS_FOLDER", "MixedGroup"]

OURS: Final = "rocketha"

RECORDS_FOLDER: Final = "records"
_HEARTBEAT_MS: Final = 400
_MIN_VOTE_MS: Final = 100
_MAX_VOTE_MS: Final = 400
_DATA_FILE: Final = 64 * 1024
_INDEX_FILE: Final = 32 * 1000
_START_S: Final = 60.0
_DUMP_S: Final = 60.0
_TRIES: Final = 200


def _free_ports(count: int, rng: random.Random) -> list[int]:
    """Draw ports that nobody has now. Raises: PeerError"""
    for _ in range(_TRIES):
        ports = rng.sample(range(LOWEST, HIGHEST), count)
        if all(map(is_free, ports)):
            return ports
    raise PeerError(f"no {count} free ports were found")


class MixedGroup:
    """The processes and links of one run; a context manager, which ends them."""

    def __init__(self, folder: Path, members: Mapping[str, str], jars: DLedgerJars) -> None:
        """Choose ports, and make the links; `members` says whose each node is."""
        self.members = dict(members)
        self.folder = folder
        self.records = folder / RECORDS_FOLDER
        """Where members of ours write what they do."""
        self.records.mkdir()
        self._jars = jars
        self._legacy = not jars.version.startswith("0.4")
        rng = random.Random()
        pairs = list(permutations(members, 2))
        ports = _free_ports(len(members) + len(pairs), rng)
        self.ports = dict(zip(members, ports, strict=False))
        self._links = dict(zip(pairs, ports[len(members) :], strict=True))
        self._proxies = Proxies()
        for (caller, callee), listen in self._links.items():
            self._proxies.add(f"{caller}.{callee}", listen=listen, target=self.ports[callee])
        self._running: dict[str, Process] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name in list(self._running):
            self.kill(name)
        self._proxies.close()

    @property
    def ours(self) -> list[str]:
        """Return the members that are ours."""
        return [name for name, whose in self.members.items() if whose == OURS]

    # ---- nodes ----

    def start(self, name: str) -> None:
        """Start a node, and wait until it listens. Raises: ProcessError"""
        ours = self.members[name] == OURS
        process = Process(
            name,
            self._our_command(name) if ours else self._java_command("serve", name, self.folder),
            folder=self.folder,
            output=self.folder / f"{name}.txt",
            environment=with_rocketha(os.environ) if ours else None,
            talks=not ours,  # it ends with its standard input
        )
        self._running[name] = process
        process.wait_for_port(self.ports[name], _START_S)

    def _peers(self, name: str) -> str:
        return ";".join(
            f"{one}-127.0.0.1:{self.ports[one] if one == name else self._links[name, one]}"
            for one in self.members
        )

    def _java_command(self, what: str, name: str, store: Path) -> list[str]:
        numbers = (_HEARTBEAT_MS, _MIN_VOTE_MS, _MAX_VOTE_MS, _DATA_FILE, _INDEX_FILE)
        return [
            *(str(self._jars.jdk.java), "-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *("-cp", self._jars.class_path, "Node", what, name, self._peers(name), str(store)),
            *map(str, numbers),
        ]

    def _our_command(self, name: str) -> list[str]:
        settings = {
            "group": GROUP,
            "selfId": name,
            "peers": self._peers(name),
            "storeBaseDir": str(self.folder),
            "heartBeatTimeIntervalMs": str(_HEARTBEAT_MS),
            "minVoteIntervalMs": str(_MIN_VOTE_MS),
            "maxVoteIntervalMs": str(_MAX_VOTE_MS),
            "mappedFileSizeForEntryData": str(_DATA_FILE),
            "mappedFileSizeForEntryIndex": str(_INDEX_FILE),
            "legacyPush": str(self._legacy).lower(),
            "recordsPath": str(self.records / f"{name}{RECORDS}"),
            "recordsPeers": ",".join(self.ours),
        }
        path = self.folder / f"{name}.conf"
        path.write_bytes(push_properties(settings))
        return [sys.executable, "-m", "rocketha.process.dledger", "-c", str(path)]

    def kill(self, name: str) -> None:
        """End a node at once (SIGKILL)."""
        process = self._running.pop(name, None)
        if process is not None:
            process.kill()

    @property
    def up(self) -> list[str]:
        """The nodes that run. Raises: PeerError if one has ended by itself"""
        for name, process in self._running.items():
            if process.ended not in (None, -signal.SIGKILL):
                raise PeerError(f"{name} has ended with {process.ended}: {process.output}")
        return list(self._running)

    def pause(self, name: str) -> None:
        """Let a node stand still."""
        self._running[name].pause()

    def resume(self, name: str) -> None:
        """Let it go on."""
        if name in self._running:
            self._running[name].resume()

    # ---- links ----

    def part(self, one: str, other: str) -> None:
        """Let nothing pass between two nodes."""
        for link in (f"{one}.{other}", f"{other}.{one}"):
            self._proxies.refuse(link)
            self._proxies.cut(link)

    def isolate(self, name: str) -> None:
        """Part a node from all others."""
        for other in self.members:
            if other != name:
                self.part(name, other)

    def join_all(self) -> None:
        """Let all reach all."""
        for caller, callee in self._links:
            self._proxies.refuse(f"{caller}.{callee}", on=False)

    # ---- what becomes of it ----

    def leader(self) -> str | None:
        """Return a node that says that it leads."""
        for name in self.up:
            with contextlib.suppress(OSError, PacketError):
                if ask_leader(name, self.ports[name]) == name:
                    return name
        return None

    def views(self) -> str:
        """Say who leads, as each node has it."""
        said = []
        for name in self.up:
            try:
                said.append(f"{name}: {ask_leader(name, self.ports[name])}")
            except (OSError, PacketError) as error:
                said.append(f"{name}: {error}")
        return ", ".join(said)

    def append_at_last(self, bodies: Iterable[str], limit_s: float) -> list[Append]:
        """Append until something is acknowledged, and no longer than that. Raises: PeerError"""
        calls: list[Append] = []
        deadline = time.monotonic() + limit_s
        for body in bodies:
            for name in self.members:
                call, _ = append_once("last", name, self.ports[name], f"{body}-{name}")
                calls.append(call)
                if call.is_acknowledged:
                    return calls
            if time.monotonic() > deadline:
                break
            time.sleep(0.2)
        raise PeerError(
            f"nothing was acknowledged in the {limit_s:.0f} s after all was healed;"
            f" who leads, as each has it: {self.views()}"
        )

    def wait_for_equal_logs(self, limit_s: float) -> float | None:
        """Wait until all nodes have as many entries; return how long, None if they never had.

        Files of nodes that run are copied and read: where a copy is torn it is made again.
        """
        begun = time.monotonic()
        while time.monotonic() - begun < limit_s:
            with contextlib.suppress(RockethaError, OSError):
                ends = {len(self._read_by_us(name, self._copied(name))) for name in self.members}
                if len(ends) == 1:
                    return time.monotonic() - begun
            time.sleep(0.5)
        return None

    def _copied(self, name: str) -> Path:
        copy = self.folder / f"copy-{name}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / f"dledger-{name}", copy / f"dledger-{name}")
        return copy / f"dledger-{name}"

    def read_files(self, say: Callable[[str], None]) -> dict[str, list[LogEntry]]:
        """Read the logs of all nodes, which have ended, and hold both readers against each other.

        Each log is read by us and, from a copy, by DLedger. Raises: PeerError, DLedgerFileError
        """
        logs: dict[str, list[LogEntry]] = {}
        for name, whose in self.members.items():
            by_dledger = self._read_by_dledger(name)
            logs[name] = self._read_by_us(name, self.folder / f"dledger-{name}")
            if logs[name] != by_dledger:
                raise PeerError(f"DLedger reads another log of {name} than we: see {self.folder}")
            say(f"{name} ({whose}): {len(logs[name])} entries, read alike by both")
        return logs

    def _read_by_us(self, name: str, store: Path) -> list[LogEntry]:
        ours = self.members[name] == OURS
        options = StoreOptions(
            mapped_file_size_for_entry_data=SizeBytes(_DATA_FILE),
            mapped_file_size_for_entry_index=SizeBytes(_INDEX_FILE),
            check=EntryCheck.CHECKED if ours else EntryCheck.ORIGINAL,
        )
        log = DLedgerStore.open(RealDisk(store), options)
        entries = [log.entry(LogIndex(at)) for at in range(log.end_index + 1)]
        return [
            LogEntry(index=one.index, term=one.term, pos=one.pos, body=one.body.decode())
            for one in entries
        ]

    def _read_by_dledger(self, name: str) -> list[LogEntry]:
        copy = self._copied(name).parent
        command = self._java_command("dump", name, copy)
        ended = run_program(command, folder=self.folder, timeout_s=_DUMP_S)
        lines = [line.split() for line in ended.output.splitlines()]
        if ended.code != 0 or ["end"] not in lines:
            raise PeerError(f"DLedger does not read the log of {name}: {ended.output[-400:]}")
        return [
            LogEntry(
                index=int(words[1]),
                term=int(words[2]),
                pos=int(words[3]),
                body=base64.b64decode(words[4]).decode(),
            )
            for words in lines
            if len(words) == 5 and words[0] == "entry"
        ]
