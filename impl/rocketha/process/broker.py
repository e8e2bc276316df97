"""A broker of a group as a process: the cores and performers with sockets, files and a clock.

```
python -m rocketha.process.broker -c broker.conf
```

The file is one of RocketMQ's (`broker_configuration`). It registers with the controllers, which may
be RocketMQ's, follows the master or is it, and serves RocketMQ's producers and consumers as master,
as far as `client_service` does. It writes what happens to its standard output, ends in order at
SIGTERM and SIGINT, and with 1 where a file fails it, 2 where it cannot start.

Source: broker `BrokerStartup`, `BrokerController`
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Final

from rocketha.broker.connections import GroupCore
from rocketha.broker.core import new_broker
from rocketha.broker.effects import GroupAction
from rocketha.broker.events import CommandReceived, GroupEvent, Started
from rocketha.broker.options import GroupOptions
from rocketha.broker.state import GroupBroker, Registration
from rocketha.errors import RequestError, RockethaError
from rocketha.formats.broker_requests import (
    AUTO_CREATE_TOPIC,
    BrokerCode,
    BrokerResponse,
    NameServerRegistration,
)
from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.epoch_entry_cache import EpochEntryCache, push_epoch_entry_cache
from rocketha.formats.message import Host, RecordCheck
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import command_stream
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.process.broker_configuration import BrokerConfiguration
from rocketha.process.client_service import ClientService, respond
from rocketha.process.clock import ProcessClock
from rocketha.process.controller_channel import ControllerChannel
from rocketha.process.controller_channels import ControllerChannels
from rocketha.process.event_loop import EventLoop, Link, Log
from rocketha.process.name_server_channel import NameServerChannel
from rocketha.process.node_timers import NodeTimers
from rocketha.process.packets import PacketHandler
from rocketha.process.replication_sockets import ReplicationSockets
from rocketha.process.rocketmq_master import RepairedInbox
from rocketha.process.store_lock import lock_store
from rocketha.runtime.broker_files import BrokerFiles, BrokerName, FileOptions
from rocketha.runtime.core import Inbox
from rocketha.runtime.events import TimerFired, TransferDue
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.performers import (
    ClientPerformer,
    ConnectionPerformer,
    ControllerPerformer,
    FilePerformer,
)
from rocketha.storage.commit_log import CommitLogOptions
from rocketha.storage.disk import RealDisk
from rocketha.types import MASTER, ConnectionId, HaAddress

__all__ = ["BrokerProcess", "log_to", "main"]

_FAST_PORT: Final = -2
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_PRINTED: Final = (
    ActionName.BECOME_MASTER,
    ActionName.BECOME_SLAVE,
    ActionName.HANDSHAKE,
    ActionName.RECEIVE_HANDSHAKE,
    ActionName.DISCONNECT,
)


class BrokerProcess:
    """A broker, as long as its process runs. `loop.run()` moves it."""

    def __init__(self, config: BrokerConfiguration, loop: EventLoop) -> None:
        """Recover the files, and listen. Raises: RockethaError"""
        self.config = config
        self._loop = loop
        self._lock = lock_store(config.store)
        self._clock = ProcessClock()
        self._changes = 0
        self._topics: set[str] = set()
        self._last: tuple[object, ...] = ()
        self._files = _open_files(config)
        self._sockets = ReplicationSockets(loop)
        self._controllers = _channels(loop, config.group, self._controller_says)
        self._names = NameServerChannel(
            loop,
            self._clock,
            config.name_servers,
            says=self._said,
            period_s=config.register_ms / 1e3,
        )
        self._clients = ClientService(
            loop,
            Host(bytes(map(int, config.host.split("."))), config.port),
            log=lambda: self._files.log,
            take=self._take,
            topic_used=self._topic_used,
        )
        core = GroupCore()
        self._connections: ConnectionPerformer[GroupEvent, SpecAction | GroupAction] = (
            ConnectionPerformer(_inboxes(core), transport=self._sockets, recorder=self)
        )
        self._sockets.hearer = self._connections
        self._flushes = FilePerformer(self._files, flushing=self)
        self.host: NodeHost[GroupBroker, GroupEvent, SpecAction | GroupAction] = NodeHost(
            core,
            (
                self._connections,
                self._flushes,
                ControllerPerformer(self._controllers),
                ClientPerformer(self._clients),
            ),
            clock=self._clock,
            recorder=self,
            see=self._flushes.log,
            timers=NodeTimers(
                loop,
                self._clock,
                timer=lambda: self._take(TimerFired()),
                transfer=self._transfer,
                backlog=self._sockets.backlog,
            ),
        )
        self._listen()

    def _listen(self) -> None:
        config = self.config
        for port in (config.port, config.port + _FAST_PORT):
            self._loop.listen(f"{config.host}:{port}", self._accept)
        self._loop.listen(config.ha_address, self._sockets.accept)

    # ---- its life ----

    def start(self) -> None:
        """Begin, with what the files say. Raises: RockethaError"""
        start = self._files.identity.begin()
        address = HaAddress(self.config.address)
        self.host.state = new_broker(address=address, options=self.config.group)
        self._controllers.start()
        self._take(
            Started(
                incarnation=start.incarnation,
                entries=self._files.load_epochs(),
                identity=self._files.identity.load(),
                log_torn=start.log_torn,
            )
        )
        self._names.start()
        self._flush_again()

    def close(self) -> None:
        """End: write the log through to the disk, and let another process have the files."""
        if self.host.is_up:
            self._files.flush()
            self.host.stop()
        self._lock.close()

    def _take(self, event: GroupEvent) -> None:
        if self.host.is_up:
            self.host.take(event)

    def _transfer(self, conn: ConnectionId) -> None:
        self._take(TransferDue(conn=conn))

    # ---- ports: flush service, recorders ----

    def request(self) -> None:
        """Write the log through to the disk soon (rocketha.runtime.ports.FlushService)."""
        self._loop.soon(self._flushes.flush)

    def _flush_again(self) -> None:
        self._flushes.flush()
        self._loop.after(self.config.flush_ms / 1000, self._flush_again)

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        """Note nothing (rocketha.runtime.ports.PacketRecorder)."""

    def received(self, conn: ConnectionId) -> None:
        """Note nothing."""

    def stepped(self, event: GroupEvent, action: SpecAction | GroupAction | None) -> None:
        """Tell what the operator wants to know, and name servers what has changed."""
        del event
        state = self.host.state
        assert state is not None
        if isinstance(action, SpecAction) and action.name in _PRINTED:
            end = self._files.log.max_phy_offset
            self._loop.log(f"{_words(action)}; the log ends at {end}")
        now = (state.ha.role, state.ha.known_epoch, state.registration)
        if now != self._last:
            self._last = now
            self._changes += 1
            self._clients.index.clear()
            self._loop.soon(self._names.register)

    # ---- what others say ----

    def _controller_says(self, command: RemotingCommand) -> None:
        self._take(CommandReceived(command=command))

    def _accept(self, link: Link) -> PacketHandler[RemotingCommand]:
        del link
        return PacketHandler(command_stream(), received=self._serve, lost=lambda *_: None)

    def _serve(self, link: Link, command: RemotingCommand) -> None:
        if command.is_response:
            return
        try:
            self._answer(link, command)
        except RequestError as error:
            respond(link, command, BrokerResponse.SYSTEM_ERROR, remark=str(error))

    def _answer(self, link: Link, command: RemotingCommand) -> None:
        """Answer a request. Raises: RequestError"""
        match command.code:
            case RequestCode.NOTIFY_BROKER_ROLE_CHANGED:
                self._take(CommandReceived(command=command))
                respond(link, command, BrokerResponse.SUCCESS)
            case BrokerCode.EXCHANGE_BROKER_HA_INFO:
                fields = {}
                if self.host.state is not None and self.host.state.is_master:
                    fields = {
                        "masterHaAddress": self.config.ha_address,
                        "masterAddress": self.config.address,
                    }
                respond(link, command, BrokerResponse.SUCCESS, fields=fields)
            case RequestCode.GET_BROKER_EPOCH_CACHE:
                respond(link, command, BrokerResponse.SUCCESS, body=self._epochs())
            case _:
                if self._clients.serve(link, command):
                    return
                remark = f"{command.code} is not supported"
                respond(link, command, BrokerResponse.REQUEST_CODE_NOT_SUPPORTED, remark=remark)

    def _epochs(self) -> bytes:
        """Say which epochs there are. Source: AdminBrokerProcessor.getBrokerEpochCache"""
        state, group = self.host.state, self.config.group
        assert state is not None
        return push_epoch_entry_cache(
            EpochEntryCache(
                cluster_name=group.cluster_name,
                broker_name=group.broker_name,
                broker_id=MASTER if state.is_master else state.broker_id,
                entries=state.ha.cache.entries,
                max_offset=self._files.log.max_phy_offset,
            )
        )

    # ---- name servers ----

    def _topic_used(self, topic: str) -> None:
        if topic not in self._topics:
            self._topics.add(topic)
            self._changes += 1
            self._loop.soon(self._names.register)

    def _said(self) -> NameServerRegistration | None:
        state, config = self.host.state, self.config
        if state is None or state.registration is not Registration.REGISTERED:
            return None
        if state.is_master:
            self._clients.index.read(self._files.log)
        own = (AUTO_CREATE_TOPIC, config.group.broker_name, *self._topics)
        topics = dict.fromkeys(own, config.queues)
        for topic, queues in self._clients.index.topics().items():
            topics[topic] = max(queues, topics.get(topic, 0))
        return NameServerRegistration(
            cluster_name=config.group.cluster_name,
            broker_name=config.group.broker_name,
            broker_address=config.address,
            ha_address=config.ha_address,
            broker_id=MASTER if state.is_master else state.broker_id,
            master_epoch=max(0, state.ha.known_epoch),
            changes=self._changes,
            topics=topics,
        )


def _channels(
    loop: EventLoop, options: GroupOptions, received: Callable[[RemotingCommand], None]
) -> ControllerChannel | ControllerChannels:
    if len(options.controllers) == 1:
        return ControllerChannel(loop, options.controllers, received)
    # So long it may be until a controller is asked something again; heartbeats have no answer.
    asked_ms = max(options.sync_controller_metadata_ms, options.sync_metadata_ms)
    patience_s = (asked_ms + options.request_timeout_ms) / 1e3
    return ControllerChannels(loop, options.controllers, received, patience_s=patience_s)


def _inboxes(core: GroupCore) -> Callable[..., Inbox[GroupEvent]]:
    def inbox(conn: ConnectionId, *, accepted: bool) -> Inbox[GroupEvent]:
        own = core.inbox(conn, accepted=accepted)
        return own if accepted else RepairedInbox(own)

    return inbox


def _words(action: SpecAction) -> str:
    said = [action.name.value]
    said += [] if action.slave is None else [f"slave {action.slave}"]
    said += [] if action.epoch is None else [f"epoch {action.epoch}"]
    said += [] if action.offset is None else [f"offset {action.offset}"]
    return ", ".join(said)


def _open_files(config: BrokerConfiguration) -> BrokerFiles:
    """Recover the files of a broker. Raises: CommitLogError, DiskError"""
    files = BrokerFiles(
        RealDisk(config.store),
        FileOptions(log=CommitLogOptions(segment_size=config.segment_size, check=RecordCheck.BODY)),
        name=BrokerName(
            cluster_name=config.group.cluster_name, broker_name=config.group.broker_name
        ),
    )
    if _BOOT_ID.exists():
        files.boot = _BOOT_ID.read_text("ascii").strip()
    return files


def log_to(file: IO[str]) -> Log:
    """Return what writes lines with the time before them."""

    def log(line: str) -> None:
        now = time.time()
        clock = time.strftime("%H:%M:%S", time.localtime(now))
        print(f"{clock}.{int(now * 1000) % 1000:03d} {line}", file=file, flush=True)

    return log


def main(arguments: Sequence[str]) -> int:
    """Run a broker until a signal ends it; return the exit code."""
    parser = argparse.ArgumentParser(prog="rocketha.process.broker", description=__doc__)
    parser.add_argument("-c", metavar="FILE", type=Path, required=True, help="its configuration")
    options = parser.parse_args(arguments)
    loop = EventLoop(log=log_to(sys.stdout))
    try:
        process = BrokerProcess(BrokerConfiguration.read(options.c), loop)
        process.start()
    except RockethaError as error:
        loop.log(f"cannot start: {error}")
        return 2
    loop.stop_on_signals(signal.SIGTERM, signal.SIGINT)
    loop.log(f"process {os.getpid()} serves at {process.config.address}")
    try:
        loop.run()
        process.close()
    except RockethaError as error:
        loop.log(f"cannot go on: {error}")
        return 1
    loop.log("ended")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
