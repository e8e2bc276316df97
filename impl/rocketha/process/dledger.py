"""A DLedger node as a process: `python -m rocketha.process.dledger -c CONFIGURATION`.

It votes, leads or follows in its group, and serves clients of DLedger (METADATA, APPEND, GET,
LEADERSHIP_TRANSFER) over remoting. What it agrees on it keeps; there is no state machine that would
do anything with it. Killed and started again, it goes on from its files.

The configuration is that of `dledger_configuration`. It says who leads on its standard output. It
ends with 0 when it is told to (SIGTERM, SIGINT), with 1 when its disk fails or is damaged, with 2
when it cannot begin.

Source: DLedger, DLedgerServer, DLedgerRpcNettyService
"""

from __future__ import annotations

import secrets
import sys

from rocketha.dledger import node as core
from rocketha.dledger.client_requests import CLIENT_CODES, ClientRequest, appended, ask
from rocketha.dledger.connections import DLedgerCore, peer_number
from rocketha.dledger.node_state import (
    AnswerApplied,
    AppendAsked,
    NodeAction,
    NodeHears,
    NodeState,
    RefuseClient,
    Started,
)
from rocketha.dledger.performers import (
    DLedgerFiles,
    LedgerPerformer,
    MachinePerformer,
    RolePerformer,
)
from rocketha.dledger.state import RoleChanged
from rocketha.formats.dledger_request_codec import pull_request, push_response
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    DLedgerResponse,
    GetEntriesRequest,
    MetadataRequest,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.process.clock import ProcessClock
from rocketha.process.command_line import serve
from rocketha.process.dledger_configuration import DLedgerConfiguration, read_configuration
from rocketha.process.dledger_records import DLedgerRecords
from rocketha.process.dledger_remoting import DLedgerRemoting
from rocketha.process.event_loop import EventLoop, Log
from rocketha.process.node_timers import NodeTimers, has_no_backlog, transfers_nothing
from rocketha.process.store_lock import lock_store
from rocketha.recording.dledger_parts import MemberParts, reported_on_disk
from rocketha.runtime.effects import AnswerClient, Respond
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived, TimerFired
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.performers import ClientPerformer, RequestPerformer
from rocketha.storage.disk import Disk, RealDisk
from rocketha.types import RequestId, RequestReference

__all__ = ["DLedgerProcess", "main"]

_Event = NodeHears | RequestEvent


class _LogAlone:
    """The state machine of a node that has none (rocketha.dledger.performers.AppliedMachine)."""

    def on_apply(self, entry: bytes) -> None:
        """Do nothing: the log is all that there is."""

    def on_snapshot_save(self) -> bytes:
        """Have nothing."""
        return b""

    def on_snapshot_load(self, data: bytes) -> None:
        """Take nothing."""


class DLedgerProcess:
    """A node, and the ports that it has in a process."""

    def __init__(self, configuration: DLedgerConfiguration, *, log: Log) -> None:
        """Recover the files, and listen. Raises: RockethaError"""
        self._configuration = configuration
        self._log = log
        self._clock = ProcessClock()
        self.loop = EventLoop(log=log)
        self._lock = lock_store(configuration.store)
        config, machine = configuration.node, _LogAlone()
        disk = RealDisk(configuration.store)
        self._files = DLedgerFiles.open(disk, configuration.files, machine)
        others = {peer_number(config, peer): configuration.addresses[peer] for peer in config.peers}
        self._records = self._recorded(disk)
        self._remoting = DLedgerRemoting(
            self.loop,
            others,
            asked=self._asked,
            answered=self._answered,
            records=self._records,
        )
        ledger = LedgerPerformer(lambda: self._files)
        applying = MachinePerformer(
            lambda: self._files, lambda: machine, config, self._remoting.request
        )
        performers = (
            RequestPerformer(self._remoting),
            ClientPerformer(self),
            ledger,
            applying,
            RolePerformer(self._role_changed),
        )
        self.host: NodeHost[NodeState, _Event, NodeAction] = NodeHost(
            DLedgerCore(),
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
        self._listener = self.loop.listen(configuration.address, self._remoting.accept)

    def run(self) -> None:
        """Serve until it is told to stop. Raises: RockethaError"""
        store, config = self._files.store, self._configuration.node
        self.host.state = core.started(
            config,
            store.kept,
            store,
            snapshot_index=self._files.snapshot_index,
            seed=secrets.randbits(64),
            now_ms=self._clock.now_ms(),
        )
        self._log(f"serves {self._listener.address}, the log ends at {store.end_index}")
        if self._records is not None:
            self._records.started()
        try:
            self._take(Started())
            self.loop.run()
            store.close()
        finally:
            self.host.stop()
            self._lock.close()
            if self._records is not None:
                self._records.close()

    @property
    def state(self) -> NodeState:
        """What it knows; it runs."""
        assert self.host.state is not None
        return self.host.state

    def _take(self, event: _Event) -> None:
        if self.host.is_up:
            self.host.take(event)

    # ---- the recorder, and alarms ----

    def stepped(self, event: _Event, action: NodeAction | None) -> None:
        """Write the step where records are kept, and send what it says."""
        if self._records is not None:
            self._records.stepped(event, action)
            self._remoting.release()

    def _recorded(self, disk: Disk) -> DLedgerRecords | None:
        """Open the records, if there shall be some. Raises: RecordError, OSError"""
        configuration = self._configuration
        if configuration.records is None:
            return None
        options, files = configuration.files, self._files
        seen = MemberParts(lambda: files, lambda: reported_on_disk(disk, options, files))
        return DLedgerRecords(
            configuration.records,
            configuration.node,
            parts=lambda: seen.of(self.state),
            shows_ms=self._clock.now_ms,
        )

    def after(self, wait_ms: int, event: _Event) -> None:
        """Let the node hear an event in a while."""
        self.loop.after(wait_ms / 1000, lambda: self._take(event))

    def _role_changed(self, changed: RoleChanged) -> None:
        member = self.state.elector.member
        self._log(f"{changed.role.value} of term {member.curr_term}, leader {member.leader_id}")

    # ---- requests and answers ----

    def _answered(self, reference: RequestReference, command: RemotingCommand | None) -> None:
        if self.host.is_up:
            self.host.hear(ResponseArrived(reference=reference, command=command))

    def _asked(self, request: RequestId, command: RemotingCommand) -> None:
        if command.code not in CLIENT_CODES:
            self._take(RequestArrived(request=request, command=command))
            return
        message = pull_request(command)
        assert isinstance(message, MetadataRequest | AppendEntryRequest | GetEntriesRequest)
        self._client_asks(request, message)

    def _client_asks(self, request: RequestId, message: ClientRequest) -> None:
        answer = ask(
            self.state,
            message,
            ticket=request,
            log=self._files.store,
            addresses=self._configuration.addresses,
        )
        if isinstance(answer, AppendAsked):
            self._take(answer)
        else:
            self._respond(request, answer)
            self._remoting.release()

    def answer(self, answer: AnswerClient) -> None:
        """Answer a client (rocketha.runtime.ports.Clients)."""
        assert isinstance(answer, AnswerApplied | RefuseClient)
        said = appended(self.state, answer, self._files.store)
        self._respond(RequestId(answer.ticket), said)

    def _respond(self, request: RequestId, answer: DLedgerResponse) -> None:
        command = push_response(answer, opaque=0)
        said = Respond(request=request, code=command.code, body=command.body)
        self._remoting.respond(said)


def main(arguments: list[str]) -> int:
    """Run a node; return its exit code."""
    return serve(
        "dledger", arguments, lambda path, log: DLedgerProcess(read_configuration(path), log=log)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
