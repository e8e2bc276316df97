"""The records of a group's nodes: who writes them, and what the harness adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from rocketha.recording.record import Json
from rocketmq_peer.configuration import ControllerKind, Value
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.jvm import AgentOptions
from rocketmq_peer.node_files import NodeFile

__all__ = ["GroupRecords"]


class GroupRecords:
    """The files below `records/` of a run, and below `members/`."""

    def __init__(self, folder: Path, options: GroupOptions, *, broker_name: str) -> None:
        """Take the folder of the run, whose brokers are called so together."""
        self._folder = folder
        self._options = options
        self._broker_name = broker_name

    def begun(self, node: str) -> NodeFile:
        """Return the file of a node, with its header. Raises: OSError"""
        file = self._of(node)
        if not file.path.exists():
            file.begin(self._options.protocol, self._options.settings_of(node))
        return file

    def agent(self, node: str, jar: Path, gates: Path, *, is_consumer: bool) -> AgentOptions:
        """Return what the agent of a node is told. Raises: RecordError, OSError"""
        file = self.begun(node)
        return AgentOptions(
            jar=jar,
            records=file.path,
            node=node,
            incarnation=file.next_incarnation(),
            names=self._folder / "names",
            is_consumer=is_consumer,
            gates=gates,
        )

    def settings_of_controller(self, node: str) -> dict[str, Value]:
        """Return what tells rocketha's controller where its records go. Raises: OSError"""
        options = self._options
        if options.controller_kind is not ControllerKind.ROCKETHA or not options.agent:
            return {}
        more: dict[str, Value] = {}
        if options.controllers > 1:
            self._members.mkdir(exist_ok=True)
            more["recordsMemberPath"] = NodeFile(self._members, node).path
        return {
            "recordsPath": self.begun(node).path,
            "recordsNode": node,
            "recordsBrokerName": self._broker_name,
            "recordsNames": self._folder / "names",
            **more,
        }

    def stopped(self, node: str, left: Callable[[], Mapping[str, Json]]) -> None:
        """Write that a node has ended, if it has records. Raises: RecordError, OSError"""
        file = self._of(node)
        if file.path.exists():
            file.stopped(left)
        of_member = NodeFile(self._members, node)
        if of_member.path.exists():
            of_member.cut_torn()

    @property
    def _members(self) -> Path:
        """Where controllers of rocketha write what their DLedger nodes do."""
        return self._folder / "members"

    def _of(self, node: str) -> NodeFile:
        return NodeFile(self._folder / "records", node)
