"""Whom a broker registers with: controllers of which one leads, and name servers."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from rocketha.formats.broker_requests import BrokerCode, NameServerRegistration
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_responses import MetadataInfo, Reply, push_reply
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import command_stream, push_command
from rocketha.process.calls import ask_once
from rocketha.process.clock import ProcessClock
from rocketha.process.controller_channel import ControllerChannel
from rocketha.process.controller_channels import ControllerChannels
from rocketha.process.event_loop import EventLoop, Link
from rocketha.process.name_server_channel import NameServerChannel
from rocketha.process.packets import PacketHandler
from rocketha.process.replication_sockets import ReplicationSockets
from rocketha.types import MASTER, ConnectionId, HaAddress


class Server:
    """Somebody who answers commands, in the loop of the test."""

    def __init__(self, loop: EventLoop) -> None:
        self.heard: list[int] = []
        self.links: list[Link] = []
        self.answer: Callable[[RemotingCommand], RemotingCommand | None] = lambda _: None
        self.listener = loop.listen("127.0.0.1:0", self._accept)
        self.address = self.listener.address

    def _accept(self, link: Link) -> PacketHandler[RemotingCommand]:
        self.links.append(link)
        return PacketHandler(command_stream(), received=self._hear, lost=lambda *_: None)

    def _hear(self, link: Link, command: RemotingCommand) -> None:
        self.heard.append(command.code)
        answer = self.answer(command)
        if answer is not None:
            link.send(push_command(answer))


@pytest.fixture
def loop() -> EventLoop:
    made = EventLoop(log=lambda _: None)
    made.after(20, lambda: pytest.fail("it never was so"))
    return made


def play(loop: EventLoop, *stages: tuple[Callable[[], bool], Callable[[], object]]) -> None:
    """Run the loop; each time that something holds, do the next thing; then end."""
    left = list(stages)

    def look() -> None:
        while left and left[0][0]():
            left.pop(0)[1]()
        if left:
            loop.after(0.01, look)
        else:
            loop.stop()

    look()
    loop.run()


def leads(leader: str) -> Callable[[RemotingCommand], RemotingCommand | None]:
    """Answer who leads, and nothing else."""

    def answer(command: RemotingCommand) -> RemotingCommand | None:
        if command.code != RequestCode.GET_METADATA_INFO:
            return None
        said = MetadataInfo(
            group="g", leader_id="n", leader_address=leader, is_leader=False, peers=""
        )
        reply = Reply(code=ResponseCode.SUCCESS, content=said)
        return push_reply(reply, command)

    return answer


def test_frames_go_to_whoever_leads_and_then_to_the_next(loop: EventLoop) -> None:
    asked, first, second = Server(loop), Server(loop), Server(loop)
    heard: list[RemotingCommand] = []
    for server in (asked, first):
        server.answer = leads(first.address)
    channel = ControllerChannel(loop, [asked.address], heard.append)
    frame = push_command(RemotingCommand(code=904, opaque=7))
    channel.ask(frame)  # lost: nobody is known
    channel.start()

    def change() -> None:
        for server in (asked, second):
            server.answer = leads(second.address)
        refusal = RemotingCommand(code=ResponseCode.NOT_LEADER, opaque=7, flag=1)
        first.links[0].send(push_command(refusal))

    play(
        loop,
        (lambda: channel.leader == first.address, lambda: channel.ask(frame)),
        (lambda: 904 in first.heard, change),
        (lambda: channel.leader == second.address, lambda: channel.ask(frame)),
        (lambda: 904 in second.heard, lambda: None),
    )
    assert first.heard.count(904) == 1
    assert [command.code for command in heard] == [ResponseCode.NOT_LEADER]


def test_a_leader_that_says_another_one_is_left(loop: EventLoop) -> None:
    first, second = Server(loop), Server(loop)
    first.answer = leads(first.address)
    second.answer = leads(second.address)
    channel = ControllerChannel(loop, [first.address], lambda _: None)
    channel.start()

    def change() -> None:
        first.answer = leads(second.address)

    play(
        loop,
        (lambda: channel.leader == first.address, change),
        (lambda: channel.leader == second.address, lambda: None),
    )


def echo(command: RemotingCommand) -> RemotingCommand:
    return RemotingCommand(code=0, opaque=command.opaque, flag=1)


def test_of_several_controllers_each_hears_what_is_for_it(loop: EventLoop) -> None:
    servers = [Server(loop), Server(loop)]
    for server in servers:
        server.answer = echo
    heard: list[RemotingCommand] = []
    addresses = [server.address for server in servers]
    channels = ControllerChannels(loop, addresses, heard.append, patience_s=9)
    channels.start()

    def ask(controller: int, opaque: int) -> Callable[[], None]:
        frame = push_command(RemotingCommand(code=opaque, opaque=opaque))
        return lambda: channels.ask(frame, controller=controller)

    play(
        loop,
        (lambda: True, ask(1, 71)),
        (lambda: len(heard) == 1, ask(0, 72)),
        (lambda: len(heard) == 2, ask(1, 73)),
        (lambda: len(heard) == 3, lambda: None),
    )
    assert [server.heard for server in servers] == [[72], [71, 73]]
    assert [len(server.links) for server in servers] == [1, 1]
    assert [command.opaque for command in heard] == [71, 72, 73]


def test_a_controller_that_is_lost_or_silent_is_connected_with_anew(loop: EventLoop) -> None:
    server, gone = Server(loop), Server(loop)
    gone.listener.close()
    heard: list[RemotingCommand] = []
    addresses = [server.address, gone.address]
    channels = ControllerChannels(loop, addresses, heard.append, patience_s=0.1)

    def ask() -> None:
        for controller in (0, 1):
            frame = push_command(RemotingCommand(code=9, opaque=len(server.heard)))
            channels.ask(frame, controller=controller)

    def answer_from_now_on() -> None:
        server.answer = echo
        ask()

    def lose_and_ask() -> None:
        server.links[1].close()
        loop.after(0.05, ask)

    started = time.monotonic()
    play(
        loop,
        (lambda: True, ask),
        (lambda: time.monotonic() > started + 0.2, answer_from_now_on),
        (lambda: len(heard) == 1, lose_and_ask),
        (lambda: len(heard) == 2, lambda: None),
    )
    assert len(server.links) == 3
    assert len(server.heard) == 3


def said() -> NameServerRegistration:
    return NameServerRegistration(
        cluster_name="c",
        broker_name="g",
        broker_address="127.0.0.1:1",
        ha_address="127.0.0.1:2",
        broker_id=MASTER,
        master_epoch=1,
        changes=1,
        topics={},
    )


def test_a_broker_registers_again_when_its_connection_is_lost(loop: EventLoop) -> None:
    server = Server(loop)
    known: list[NameServerRegistration] = []
    channel = NameServerChannel(
        loop,
        ProcessClock(),
        [server.address],
        says=lambda: known[0] if known else None,
        period_s=60,
    )
    channel.start()  # it has nothing to say yet

    def begin() -> None:
        assert server.heard == []
        known.append(said())
        channel.register()

    play(
        loop,
        (lambda: True, begin),
        (lambda: server.heard == [103], channel.register),
        (lambda: server.heard == [103, 103], lambda: server.links[0].close()),
        (lambda: server.heard == [103, 103, 103], lambda: None),
    )
    assert len(server.links) == 2


class Hearer:
    """Notes what becomes of the connections of a slave."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def connected(self, conn: ConnectionId) -> None:
        self.noted.append(f"connected {conn}")

    def received(self, conn: ConnectionId, data: bytes) -> None:
        self.noted.append(f"received {conn} {data!r}")

    def lost(self, conn: ConnectionId) -> None:
        self.noted.append(f"lost {conn}")

    def accepted(self, conn: ConnectionId, host: HaAddress | None) -> bool:
        pytest.fail(f"{host} connected as {conn}")


def test_a_slave_connects_to_no_broker_that_does_not_say_it_is_master(loop: EventLoop) -> None:
    master, zombie, replicating = Server(loop), Server(loop), Server(loop)
    fields = {"masterHaAddress": replicating.address}
    master.answer = lambda c: RemotingCommand(code=0, opaque=c.opaque, flag=1, ext_fields=fields)
    zombie.answer = lambda c: RemotingCommand(code=0, opaque=c.opaque, flag=1)
    sockets = ReplicationSockets(loop)
    sockets.hearer = hearer = Hearer()
    sockets.connect(HaAddress(zombie.address))
    play(
        loop,
        (
            lambda: hearer.noted == ["lost 1"],
            lambda: sockets.connect(HaAddress(master.address)),
        ),
        (lambda: hearer.noted[1:] == ["connected 2"], lambda: None),
    )
    assert zombie.heard == master.heard == [BrokerCode.EXCHANGE_BROKER_HA_INFO]
    assert len(replicating.links) == 1


def test_a_question_has_one_answer_or_none(loop: EventLoop) -> None:
    server, silent = Server(loop), Server(loop)
    server.answer = lambda command: RemotingCommand(code=0, opaque=command.opaque, flag=1)
    answers: list[int | None] = []

    def heard(command: RemotingCommand | None) -> None:
        answers.append(None if command is None else command.opaque)

    question = RemotingCommand(code=1, opaque=5)
    ask_once(loop, server.address, question, heard)
    ask_once(loop, silent.address, question, heard, patience_s=0.1)
    ask_once(loop, "127.0.0.1:0", question, heard)
    ask_once(loop, server.address, question, lambda _: pytest.fail("it was given up"))()
    assert answers == []
    play(loop, (lambda: len(answers) == 3, lambda: None))
    assert sorted(answers, key=str) == [5, None, None]
