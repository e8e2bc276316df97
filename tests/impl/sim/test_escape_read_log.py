"""What of a node's log is on its disk, as whoever watches a run reads it: never what was there."""

from __future__ import annotations

from typing import Any

import pytest

from rocketha.formats.message import Message
from rocketha.known_bugs import NO_BUGS
from rocketha.runtime.broker_files import BrokerFiles, FileOptions
from rocketha.sim.engine.node import Node
from rocketha.sim.escape.logged import logged
from rocketha.sim.escape.nodes import ReadLog
from rocketha.storage.commit_log import CommitLogOptions
from rocketha.types import BrokerId, Offset, SizeBytes

OPTIONS = CommitLogOptions(directory="commitlog", segment_size=SizeBytes(400))


class Watched:
    """A node with a log, and who reads it."""

    def __init__(self) -> None:
        node: Node[Any] = Node(BrokerId(1), NO_BUGS)
        node.files = BrokerFiles(node.disk, FileOptions(log=OPTIONS))
        self.node, self.files = node, node.files
        self.read = ReadLog(node)

    def has(self, *bodies: str) -> None:
        """Tell that these messages are read, and that it is so however often it is looked."""
        for _ in range(2):
            shown = self.read()
            assert [one.body.decode() for one in self.read.messages] == list(bodies)
            assert shown.items == tuple(map(logged, self.read.messages))

    def put(self, *bodies: str) -> None:
        for body in bodies:
            self.files.append(Message(topic="t", body=body.encode()))


@pytest.fixture
def watched() -> Watched:
    one = Watched()
    one.put("a0", "a1")
    one.has()
    one.files.flush()
    one.has("a0", "a1")
    return one


def test_it_grows_when_the_log_is_written_through(watched: Watched) -> None:
    watched.put("a2", "a3")
    watched.has("a0", "a1")
    watched.files.flush()
    watched.has("a0", "a1", "a2", "a3")


def test_what_is_cut_and_written_again_is_read_again(watched: Watched) -> None:
    watched.files.truncate(Offset(watched.files.log.record_offsets()[1]))
    watched.put("b1")
    watched.files.flush()
    watched.has("a0", "b1")


def test_what_a_power_cut_has_taken_is_not_read(watched: Watched) -> None:
    watched.put("a2")
    watched.node.lose_power(None)
    watched.files.recover()
    watched.put("b2")
    watched.files.flush()
    watched.has("a0", "a1", "b2")
