"""A group of released RocketMQ: a name server, controllers and brokers, behind proxies.

Brokers are b1, b2, ..., controllers c1, c2, ...; a broker's number is also the id that the
controller gives it, as each registers before the next one may. What is in the folder:

| path                  | what                                                                  |
|-----------------------|-----------------------------------------------------------------------|
| `records/*.jsonl`     | what each broker and controller wrote, see `traces/RECORDS.md`        |
| `members/*.jsonl`     | what DLedger nodes of several controllers of rocketha wrote           |
| `clients.ndjson`      | what clients saw, see `client`                                        |
| `harness.ndjson`      | what was done to the group: `at_ns`, `do`, and to what                |
| `wire.ndjson`         | with `capture`: what went through the proxies, see `proxy`            |
| `names`               | which node each address is of                                         |
| `gates/<node>/`       | where threads of a node wait, see `gates`                             |
| `nodes/<node>/`       | configuration, store and output of a process                          |

Its links among the proxies are those of `links`.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self, TypeVar

from rocketha.types import Offset
from rocketmq_peer.client import Client
from rocketmq_peer.configuration import (
    BrokerConfiguration,
    ControllerConfiguration,
    ControllerKind,
    NameServerConfiguration,
    Value,
)
from rocketmq_peer.controller_view import GroupView, ask_group, ask_leader
from rocketmq_peer.errors import PeerError, ProcessError
from rocketmq_peer.frame_rewriting import address
from rocketmq_peer.gates import Gates
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.group_records import GroupRecords
from rocketmq_peer.jars import PeerJars
from rocketmq_peer.jvm import AgentOptions, JavaProgram, logback, names_file
from rocketmq_peer.links import names_of, planned_links
from rocketmq_peer.node_files import broker_left, lose_tail
from rocketmq_peer.ports import choose_ports
from rocketmq_peer.processes import Process, run_program
from rocketmq_peer.proxy import Proxies, Way
from rocketmq_peer.rocketha_program import rocketha_program, with_rocketha

__all__ = ["GROUP_NAME", "NAME_SERVER", "Group", "GroupOptions"]

GROUP_NAME: Final = "g"
"""What all brokers of the group are called together (`brokerName`)."""

NAME_SERVER: Final = "namesrv"
_CONFIGURATION: Final = "node.conf"
_START_TIMEOUT_S: Final = 120.0
_ADMIN_TIMEOUT_S: Final = 60.0
_ASK_EVERY_S: Final = 0.1
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_MAIN: Final = "org.apache.rocketmq.{}"

T = TypeVar("T")


class Group:
    """The processes of a group; a context manager, which ends them."""

    def __init__(self, folder: Path, jars: PeerJars, options: GroupOptions) -> None:
        """Lay out the folder, which is new or empty, and listen with the proxies.

        Raises: PeerError, OSError
        """
        self.folder = folder.absolute()
        self.jars = jars
        self.options = options
        self.brokers = tuple(f"b{number}" for number in range(1, options.brokers + 1))
        self.controllers = options.controller_names
        self.ports = choose_ports(options.brokers, len(self.controllers), suit=options.ports_suit)
        self.links = planned_links(self.ports)
        self._records = GroupRecords(self.folder, options, broker_name=GROUP_NAME)
        self._processes: dict[str, Process] = {}
        self._clients: list[Client] = []
        self._lock = threading.Lock()
        self.folder.mkdir(parents=True, exist_ok=True)
        if any(self.folder.iterdir()):
            raise PeerError(f"{self.folder} is not empty")
        for name in ("records", "nodes"):
            (self.folder / name).mkdir()
        for name, level in (("logback.xml", "INFO"), ("logback-quiet.xml", "ERROR")):
            (self.folder / name).write_text(logback(level), "utf-8")
        (self.folder / "names").write_text(names_file(names_of(self.ports)), "utf-8")
        self.gates = Gates(self.folder / "gates")
        self.proxies = Proxies(self.folder / "wire.ndjson" if options.capture else None)
        try:
            for link in self.links:
                self.proxies.add(
                    link.name, listen=link.listen, target=link.target, options=link.options
                )
        except PeerError:
            self.proxies.close()
            raise

    # ---- starting ----

    def start(self) -> None:
        """Start all of it, and wait until the brokers are registered and serve.

        Raises: ProcessError
        """
        self.start_name_server()
        for name in self.controllers:
            self.start_controller(name, wait=False)
        for name in (NAME_SERVER, *self.controllers):
            self.wait_serving(name)
        self.start_brokers()

    def start_brokers(self) -> None:
        """Start all brokers at once; the first becomes master, the others register in order.

        Nobody reaches a controller before its turn.

        Raises: ProcessError
        """
        for name in self.brokers[1:]:
            self._let_register(name, False)
        for name in self.brokers:
            self.start_broker(name, wait=False)
        for name in self.brokers:
            self._let_register(name, True)
            self._wait_registered(name)
            if self.controllers and name == self.brokers[0]:
                self.wait_for_master()

    def _let_register(self, name: str, may: bool) -> None:
        for controller in self.controllers:
            for link in self.links_of(kind=controller, caller=name):
                for way in Way:
                    (self.proxies.release if may else self.proxies.hold)(link, way)

    def start_name_server(self) -> None:
        """Start the name server, without waiting for it. Raises: ProcessError"""
        home = self._home(NAME_SERVER)
        configuration = NameServerConfiguration(
            home=home, port=self.ports.name_server, more=self.options.more_of_name_server
        )
        if self.options.rocketha_name_server:
            self._launch_rocketha(NAME_SERVER, "name_server", configuration.text())
        else:
            main = _MAIN.format("namesrv.NamesrvStartup")
            self._launch(NAME_SERVER, main, configuration.text())

    def wait_serving(self, name: str) -> None:
        """Wait until a process that runs takes connections. Raises: PeerError, ProcessError"""
        self.process(name).wait_for_port(self._port_of(name), _START_TIMEOUT_S)
        self.note("serves", node=name)

    def start_controller(self, name: str, *, wait: bool = True) -> None:
        """Start a controller, for the first time or again. Raises: PeerError, ProcessError"""
        number = self._number(name, self.controllers)
        numbers = range(1, self.options.controllers + 1)
        configuration = ControllerConfiguration(
            home=self._home(name),
            kind=self.options.controller_kind,
            peers=[self.ports.controller(each) for each in numbers],
            own=number - 1,
            elect_unclean=self.options.elect_unclean,
            more={**self._records.settings_of_controller(name), **self.options.more_of_controllers},
        )
        if self.options.controller_kind is ControllerKind.ROCKETHA:
            self._launch_rocketha(name, "controller", configuration.text())
        else:
            main = _MAIN.format("controller.ControllerStartup")
            self._launch(name, main, configuration.text(), watched=True)
        if wait:
            self.wait_serving(name)

    def start_broker(
        self, name: str, *, wait: bool = True, more: Mapping[str, Value] = _NOTHING
    ) -> None:
        """Start a broker, for the first time or again; wait until it is registered and serves.

        `more` are settings for this broker alone, in RocketMQ's own names.

        Raises: PeerError, ProcessError
        """
        number = self._number(name, self.brokers)
        ports = self.ports.broker(number)
        configuration = BrokerConfiguration(
            home=self._home(name),
            group=GROUP_NAME,
            name_server=address(ports.to_name_server),
            controllers=[address(port) for port in ports.to_controller.values()],
            port=ports.remoting,
            ha_port=ports.ha,
            promises=self.options.promises,
            timing=self.options.timing,
            more={**self.options.role_of(number), **self.options.more_of_brokers, **more},
        )
        if number in self.options.rocketha_brokers:
            self._launch_rocketha(name, "broker", configuration.text())
        else:
            main = _MAIN.format("broker.BrokerStartup")
            self._launch(name, main, configuration.text(), watched=True)
        if wait:
            self._wait_registered(name)

    # ---- what befalls processes ----

    def kill(self, name: str) -> None:
        """End a process at once, and write what is left of it. Raises: PeerError, OSError"""
        self._end(name, "kill", Process.kill)

    def power_cut(self, name: str, kept: Callable[[], int]) -> None:
        """End a broker, of whose log only the bytes before `kept` are left; it is asked at the end.

        Raises: PeerError, OSError
        """

        def cut(process: Process) -> int:
            code = process.kill()
            lose_tail(self.store_of(name), Offset(kept()))
            return code

        self._end(name, "power_cut", cut)

    def terminate(self, name: str) -> None:
        """End a process in order, and write what is left of it. Raises: PeerError, OSError"""
        self._end(name, "terminate", Process.terminate)

    def pause(self, name: str) -> None:
        """Let a process do nothing. Raises: PeerError"""
        self.note("pause", node=name)
        self.process(name).pause()

    def resume(self, name: str) -> None:
        """Let a paused process go on. Raises: PeerError"""
        self.process(name).resume()
        self.note("resume", node=name)

    def links_of(
        self, *, kind: str | None = None, callee: str | None = None, caller: str | None = None
    ) -> tuple[str, ...]:
        """Return the names of the links of this kind, to this callee, from this caller."""
        return tuple(
            link.name
            for link in self.links
            if kind in (None, link.kind)
            and callee in (None, link.callee)
            and caller in (None, link.caller)
        )

    def isolate(self, name: str) -> None:
        """Hold all links from and to a broker, in both ways. Clients reach it. Raises: PeerError"""
        for link in self._links_with(name):
            for way in Way:
                self.proxies.hold(link, way)
        self.note("isolate", node=name)

    def rejoin(self, name: str, *, cut: bool = True) -> None:
        """Release all links of a broker; `cut` loses what was under way. Raises: PeerError"""
        for link in self._links_with(name):
            if cut:
                self.proxies.cut(link)
            for way in Way:
                self.proxies.release(link, way)
        self.note("rejoin", node=name, cut=cut)

    def _links_with(self, name: str) -> tuple[str, ...]:
        self._number(name, self.brokers)
        return (*self.links_of(caller=name), *self.links_of(callee=name))

    # ---- asking ----

    def process(self, name: str) -> Process:
        """Return a process that runs, by its name. Raises: PeerError"""
        process = self._processes.get(name)
        if process is None:
            raise PeerError(f"{name} does not run; {', '.join(self._processes) or 'nothing'} does")
        return process

    @property
    def running(self) -> tuple[str, ...]:
        """The names of the processes that were started, and not ended by us, in order."""
        return tuple(self._processes)

    def store_of(self, broker: str) -> Path:
        """Return the folder of a broker's files."""
        return self._home(broker) / "store"

    def view(self) -> GroupView | None:
        """Return what the leading controller knows of the group; None: nobody says."""
        return ask_group(self._controller_ports(), GROUP_NAME)

    def leader(self) -> str | None:
        """Return the controller that leads, as the others say."""
        port = ask_leader(self._controller_ports())
        for number, name in enumerate(self.controllers, start=1):
            if self.ports.controller(number).remoting == port:
                return name
        return None

    def wait_for_master(self, timeout_s: float = 60.0) -> str:
        """Wait until a broker that runs is master, as controllers say; return it.

        Raises: ProcessError
        """

        def master() -> str | None:
            view = self.view()
            name = None if view is None or view.master is None else f"b{view.master}"
            return name if name in self._processes else None

        return self.wait_for(master, "a master was elected", timeout_s)

    def wait_for_sync_state_set(self, *names: str, timeout_s: float = 60.0) -> GroupView:
        """Wait until these brokers are the SyncStateSet. Raises: ProcessError"""
        wanted = {self._number(name, self.brokers) for name in names}

        def there() -> GroupView | None:
            view = self.view()
            return view if view is not None and view.sync_state_set == wanted else None

        return self.wait_for(there, f"the SyncStateSet was {sorted(names)}", timeout_s)

    def wait_for(self, ask: Callable[[], T | None], what: str, timeout_s: float = 60.0) -> T:
        """Ask ten times a second until there is an answer. Raises: ProcessError"""
        deadline = time.monotonic() + timeout_s
        while (answer := ask()) is None:
            if time.monotonic() > deadline:
                raise ProcessError(f"after {timeout_s:.0f} s it was not so that {what}")
            time.sleep(_ASK_EVERY_S)
        return answer

    def client(self, name: str = "client", *, watched: bool = False) -> Client:
        """Start a client and wait until it takes requests; one that is watched keeps records.

        Raises: ProcessError
        """
        home = self._home(name)
        program = JavaProgram(
            java=self.jars.jdk.java,
            main="rocketproof.client.ClientDriver",
            arguments=[address(self.ports.name_server)],
            classpath=[self.jars.client, self.jars.library],
            home=home,
            logback=self.folder / "logback.xml",
            name_server=address(self.ports.name_server),
            agent=self._agent(name) if watched and self.options.agent else None,
        )
        process = Process(name, program.command(), folder=home, output=home / "out.txt", talks=True)
        client = Client(process, self._seen)
        self._clients.append(client)
        client.wait_started()
        return client

    def admin(self, *words: str | int, timeout_s: float = _ADMIN_TIMEOUT_S) -> str:
        """Run a command of RocketMQ's mqadmin; return what it printed. Raises: ProcessError"""
        home = self._home("admin")
        program = JavaProgram(
            java=self.jars.jdk.java,
            main=_MAIN.format("tools.command.MQAdminStartup"),
            arguments=[str(word) for word in words],
            classpath=[self.jars.library],
            home=home,
            logback=self.folder / "logback-quiet.xml",
            name_server=address(self.ports.name_server),
        )
        ended = run_program(program.command(), folder=home, timeout_s=timeout_s)
        if ended.code != 0:
            raise ProcessError(f"mqadmin {words[0]} ended with {ended.code}: {ended.output[-300:]}")
        return ended.output

    def note(self, do: str, **what: object) -> None:
        """Write a line of what was done to the group."""
        line = json.dumps({"at_ns": time.monotonic_ns(), "do": do, **what}) + "\n"
        with self._lock, (self.folder / "harness.ndjson").open("a", encoding="utf-8") as file:
            file.write(line)

    # ---- the end ----

    def close(self) -> None:
        """End everything, all brokers and controllers at one moment; write what is left of each."""
        for client in self._clients:
            client.close()
            self._write_stop(client.process.name)
        for process in self._processes.values():
            process.pause()
        with ExitStack() as stack:  # whatever fails, the others are ended
            stack.callback(self.proxies.close)
            for name in reversed(tuple(self._processes)):
                stack.callback(self.kill, name)

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End everything."""
        self.close()

    # ---- processes ----

    def _launch(self, name: str, main: str, text: str, *, watched: bool = False) -> Process:
        home = self._home(name)
        program = JavaProgram(
            java=self.jars.jdk.java,
            main=main,
            arguments=["-c", home / _CONFIGURATION],
            classpath=[self.jars.library],
            home=home,
            logback=self.folder / "logback.xml",
            name_server=address(self.ports.name_server),
            agent=self._agent(name) if watched and self.options.agent else None,
            options=[f"-Drocketmq.serialize.type={self.options.headers_of(name).name}"],
        )
        return self._begin(name, text, program.command())

    def _launch_rocketha(self, name: str, node: str, text: str) -> Process:
        command = rocketha_program(node, self._home(name) / _CONFIGURATION)
        return self._begin(name, text, command, with_rocketha(os.environ))

    def _begin(
        self,
        name: str,
        text: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """Write the configuration of a process that does not run, and start it."""
        if name in self._processes:
            raise PeerError(f"{name} runs already")
        home = self._home(name)
        (home / _CONFIGURATION).write_text(text, "utf-8")
        output = home / "out.txt"
        process = Process(name, command, folder=home, output=output, environment=environment)
        self._processes[name] = process
        self.note("start", node=name, pid=process.pid)
        return process

    def _agent(self, name: str) -> AgentOptions:
        is_consumer = name not in (*self.brokers, *self.controllers)
        gates = self.gates.of(name)
        return self._records.agent(name, self.jars.agent, gates, is_consumer=is_consumer)

    def _end(self, name: str, how: str, end: Callable[[Process], int]) -> None:
        process = self.process(name)
        self.note(how, node=name)
        code = end(process)
        del self._processes[name]
        self.note("ended", node=name, code=code)
        self._write_stop(name)

    def _write_stop(self, name: str) -> None:
        store = self.store_of(name)
        self._records.stopped(name, lambda: broker_left(store) if name in self.brokers else {})

    def _wait_registered(self, name: str) -> None:
        self.wait_serving(name)
        if not self.controllers:
            return
        identity = self.store_of(name) / "brokerIdentity"
        self.process(name).wait_until(identity.is_file, "get an id", _START_TIMEOUT_S)

    def _port_of(self, name: str) -> int:
        if name in self.brokers:
            return self.ports.broker(self._number(name, self.brokers)).remoting
        if name in self.controllers:
            return self.ports.controller(self._number(name, self.controllers)).remoting
        return self.ports.name_server

    def _controller_ports(self) -> list[int]:
        return [self._port_of(name) for name in self.controllers if name in self._processes]

    def _home(self, name: str) -> Path:
        home = self.folder / "nodes" / name
        home.mkdir(exist_ok=True)
        return home

    def _seen(self, line: str) -> None:
        with self._lock, (self.folder / "clients.ndjson").open("a", encoding="utf-8") as file:
            file.write(line)

    @staticmethod
    def _number(name: str, names: tuple[str, ...]) -> int:
        """Return which of some nodes one is, from 1. Raises: PeerError"""
        if name not in names:
            raise PeerError(f"{name} is none of {', '.join(names)}")
        return names.index(name) + 1
