"""A controller of a controller group, as a process (`rocketha.process.controller` starts it).

Members and brokers reach it at one address, as RocketMQ's: requests of DLedger go to its node, all
others to the controller above it, which serves while it leads. Killed and started again, it goes on
from its files.

Source: controller/impl `DLedgerController`, controller `ControllerManager`; DLedgerRpcNettyService
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from rocketha.controller.core import (
    ChannelGone,
    EntryActed,
    FrameReceived,
    LeadingController,
    ScanDue,
)
from rocketha.controller.dispatch import Close, ControllerOptions, read_frame
from rocketha.controller.dledger_controller import (
    ControllerMachinePerformer,
    DLedgerController,
    DLedgerControllerCore,
    DLedgerControllerMachine,
)
from rocketha.controller.host import ChannelPerformer
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.dledger import node as core
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import peer_number
from rocketha.dledger.node_state import Started
from rocketha.dledger.performers import DLedgerFiles, LedgerPerformer, RolePerformer
from rocketha.dledger.state import RoleChanged
from rocketha.dledger.store_options import StoreOptions
from rocketha.formats.dledger_codes import DLedgerRequestCode
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import frame_stream
from rocketha.process.clock import ProcessClock
from rocketha.process.controller_configuration import ControllerConfiguration
from rocketha.process.controller_records import ControllerRecords
from rocketha.process.dledger_records import DLedgerRecords
from rocketha.process.dledger_remoting import DLedgerRemoting
from rocketha.process.event_loop import EventLoop, Link, Log
from rocketha.process.node_timers import NodeTimers, has_no_backlog, transfers_nothing
from rocketha.process.packets import PacketHandler
from rocketha.process.server_links import ServerLinks
from rocketha.process.store_lock import lock_store
from rocketha.recording.dledger_parts import MemberParts, reported_on_disk
from rocketha.runtime.events import RequestArrived, ResponseArrived, TimerFired
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.performers import RequestPerformer
from rocketha.storage.disk import Disk, RealDisk
from rocketha.types import ConnectionId, RequestId, RequestReference

__all__ = ["ControllerGroupProcess"]

_OF_MEMBERS: Final = frozenset(DLedgerRequestCode)


class ControllerGroupProcess:
    """A member of a controller group, and the ports that it has in a process."""

    def __init__(
        self, configuration: ControllerConfiguration, node: DLedgerConfig, *, log: Log
    ) -> None:
        """Recover the files, and listen. Raises: RockethaError, OSError"""
        self._configuration = configuration
        self._node = node
        self._log = log
        self._clock = ProcessClock()
        self.loop = EventLoop(log=log)
        self._lock = lock_store(configuration.store)
        self._machine = DLedgerControllerMachine(ControllerStateMachine())
        disk = RealDisk(configuration.store)
        options = StoreOptions(discard_damaged_log=configuration.discard_damaged_log)
        self._files = DLedgerFiles.open(disk, options, self._machine)
        self._member_records = self._of_member(disk)
        addresses = configuration.addresses
        self._remoting = DLedgerRemoting(
            self.loop,
            {peer_number(node, peer): addresses[peer] for peer in node.peers},
            asked=self._asked,
            answered=self._answered,
            records=self._member_records,
        )
        self._links = ServerLinks(
            self.loop, self._clock, received=self._frame_received, gone=self._gone
        )
        self._scans_soon = False
        self._records = self._of_controller()
        ledger = LedgerPerformer(lambda: self._files)
        performers = (
            RequestPerformer(self._remoting),
            ledger,
            ControllerMachinePerformer(
                lambda: self._files, lambda: self._machine, node, self._remoting.request
            ),
            RolePerformer(self._role_changed),
            ChannelPerformer(self._links, self),
        )
        rules = ControllerOptions(
            metadata=configuration.metadata,
            settings=configuration.said,
            elect_unclean=configuration.elect_unclean,
        )
        self.host: NodeHost[DLedgerController, Any, Any] = NodeHost(
            DLedgerControllerCore(rules, addresses),
            performers,
            clock=self._clock,
            recorder=self,
            see=ledger.view,
            timers=NodeTimers(
                self.loop,
                self._clock,
                timer=lambda: self._take(TimerFired()),
                transfer=transfers_nothing,
                backlog=has_no_backlog,
            ),
            alarms=self,
        )
        self._listener = self.loop.listen(configuration.address, self._accept)

    def run(self) -> None:
        """Serve until it is told to stop. Raises: RockethaError"""
        store = self._files.store
        node = core.started(
            self._node,
            store.kept,
            store,
            snapshot_index=self._files.snapshot_index,
            seed=secrets.randbits(64),
            now_ms=self._clock.now_ms(),
        )
        controller = LeadingController(self._machine.machine.state)
        self.host.state = DLedgerController(node=node, controller=controller)
        self._log(f"serves {self._listener.address}, {len(controller.state.groups)} groups")
        self._scan_later()
        if self._records is not None:
            self._records.started()
        if self._member_records is not None:
            self._member_records.started()
        try:
            self._take(Started())
            self.loop.run()
            store.close()
        finally:
            self.host.stop()
            self._lock.close()
            for records in (self._records, self._member_records):
                if records is not None:
                    records.close()

    @property
    def _state(self) -> DLedgerController:
        """What it knows; it runs."""
        assert self.host.state is not None
        return self.host.state

    def _take(self, event: object) -> None:
        if self.host.is_up:
            self.host.take(event)

    # ---- the recorder, and alarms ----

    def _of_controller(self) -> ControllerRecords | None:
        """Open the records of elections and sets. Raises: RecordError, OSError"""
        configuration = self._configuration
        if configuration.records is None:
            return None
        return ControllerRecords(
            configuration.records,
            elect_unclean=configuration.elect_unclean,
            state=lambda: self._state.controller.state,
            shows_ms=self._clock.now_ms,
            applies_again=True,
        )

    def _of_member(self, disk: Disk) -> DLedgerRecords | None:
        """Open the records of the node beneath. Raises: RecordError, OSError"""
        records = self._configuration.member_records
        if records is None:
            return None
        options, files = StoreOptions(), self._files
        seen = MemberParts(lambda: files, lambda: reported_on_disk(disk, options, files))
        return DLedgerRecords(
            records,
            self._node,
            parts=lambda: seen.of(self._state.node),
            shows_ms=self._clock.now_ms,
        )

    def stepped(self, event: object, action: object) -> None:
        """Write what an entry has done, say it if this member serves, and let it leave."""
        if self._records is not None:
            self._records.stepped(event, action)
        if self._member_records is not None:
            self._member_records.stepped(event, None if isinstance(action, EntryActed) else action)
        if isinstance(action, EntryActed) and self._state.serves_in is not None:
            for happened in action.events:
                self._log(str(happened))
        self._remoting.release()
        self._links.release()

    def after(self, wait_ms: int, event: object) -> None:
        """Let the member hear an event in a while."""
        self.loop.after(wait_ms / 1000, lambda: self._take(event))

    def _role_changed(self, changed: RoleChanged) -> None:
        member = self._state.node.elector.member
        self._log(f"{changed.role.value} of term {member.curr_term}, leader {member.leader_id}")

    # ---- whoever connects ----

    def _accept(self, link: Link) -> PacketHandler[bytes]:
        """Hear a member, a broker or a tool: each request says what it is for."""
        channel = self._links.opened(link)

        def received(link: Link, frame: bytes) -> None:
            command = read_frame(frame)
            if isinstance(command, Close) or command.code not in _OF_MEMBERS:
                self._links.received(channel, frame)
            else:
                self._links.heard(channel)
                self._remoting.received(link, command)

        def lost(link: Link, reason: str) -> None:
            self._remoting.lost(link, reason)
            self._links.lost(channel)

        return PacketHandler(frame_stream(), received=received, lost=lost)

    def _asked(self, request: RequestId, command: RemotingCommand) -> None:
        self._take(RequestArrived(request=request, command=command))

    def _answered(self, reference: RequestReference, command: RemotingCommand | None) -> None:
        if self.host.is_up:
            self.host.hear(ResponseArrived(reference=reference, command=command))

    def _frame_received(self, channel: ConnectionId, frame: bytes) -> None:
        self._take(FrameReceived(channel, frame))

    def _gone(self, channel: ConnectionId) -> None:
        self._take(ChannelGone(channel))

    # ---- time ----

    def scan_soon(self) -> None:
        """Scan right after what is done now (rocketha.controller.host.ScanTimer)."""
        if not self._scans_soon:
            self._scans_soon = True
            self.loop.soon(self._scan)

    def _scan(self) -> None:
        self._scans_soon = False
        self._take(ScanDue())

    def _scan_later(self) -> None:
        def scan() -> None:
            self._scan_later()
            self._links.close_silent()
            self._take(ScanDue())

        self.loop.after(self._configuration.scan_ms / 1000, scan)
