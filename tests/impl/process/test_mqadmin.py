"""What mqadmin of two releases sent to a controller, sent again, and what is answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import pull_request, push_request
from rocketha.formats.controller_responses import (
    ControllerSettings,
    Elected,
    MetadataInfo,
    ReplyContent,
    SyncStateData,
    pull_reply,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command
from tests.impl.process.controller_peers import GROUP, Broker, ControllerRun
from tests.impl.process.node_run import until
from tests.source_files import ROOT

GOLDEN: Final = ROOT / "tests" / "golden" / "java"
VERSIONS: Final = ("5.3.3", "5.5.0")


def sent(version: str) -> Mapping[str, tuple[RemotingCommand, ...]]:
    """Return what each command of mqadmin sent."""
    lines = (GOLDEN / f"mqadmin-{version}.jsonl").read_text().splitlines()
    rows = map(json.loads, lines)
    return {row["command"]: tuple(frames(bytes.fromhex(row["sent"]))) for row in rows}


def frames(data: bytes) -> Iterator[RemotingCommand]:
    while (pulled := pull_command(data)) is not None:
        yield pulled[0]
        data = data[pulled[1] :]
    assert not data


@pytest.fixture
def run(tmp_path: Path) -> Iterator[ControllerRun]:
    with ControllerRun(tmp_path) as made:
        made.start()
        yield made


def asked(
    run: ControllerRun, commands: tuple[RemotingCommand, ...]
) -> tuple[int, ReplyContent | None]:
    """Send what a command sent; return the last answer's code, and what it shows."""
    with run.connect() as connection:
        answers = [connection.command(command) for command in commands]
    assert [answer.opaque for answer in answers] == [command.opaque for command in commands]
    assert all(answer.is_response for answer in answers)
    reply = pull_reply(answers[-1], RequestCode(commands[-1].code))
    return reply.code, reply.content


@pytest.mark.parametrize("version", VERSIONS)
def test_what_mqadmin_asks_is_read_and_written_back(version: str) -> None:
    commands = sent(version)
    assert len(commands) == 9
    for command in (one for several in commands.values() for one in several):
        again = push_request(pull_request(command), opaque=command.opaque)
        assert (again.code, again.body) == (command.code, command.body)
        assert again.ext_fields.items() >= command.ext_fields.items()


@pytest.mark.parametrize("version", VERSIONS)
def test_mqadmin_is_answered(version: str, run: ControllerRun) -> None:
    first, second = (Broker(run, number) for number in (1, 2))
    for broker in (first, second):
        broker.join()
    assert first.elect().code == 0
    assert second.told().master_address == first.address
    assert first.propose(1, 2, epoch=1).code == 0
    commands = sent(version)

    code, content = asked(run, commands["getControllerMetaData"])
    assert isinstance(content, MetadataInfo)
    assert (code, content.leader_address) == (0, f"127.0.0.1:{run.port}")
    assert (content.is_leader, content.peers) == (True, f"n0:127.0.0.1:{run.port};")

    for name in ("getSyncStateSet -b g", "getSyncStateSet -c rocketproof"):
        code, content = asked(run, commands[name])
        assert isinstance(content, SyncStateData)
        info = content.groups[GROUP]
        assert (code, info.master_broker_id, info.sync_state_set_epoch) == (0, 1, 2)
        assert [one.broker_address for one in info.in_sync] == [first.address, second.address]
        assert all(one.alive for one in info.in_sync)

    code, content = asked(run, commands["getControllerConfig"])
    assert isinstance(content, ControllerSettings)
    assert (code, content.settings["enableElectUncleanMaster"]) == (0, "false")
    assert content.settings["controllerType"] == "rocketha"
    update = "updateControllerConfig -k enableElectUncleanMaster -v true"
    assert asked(run, commands[update]) == (ResponseCode.NO_PERMISSION, None)

    code, content = asked(run, commands["electMaster -b 2 -bn g -c rocketproof"])
    assert isinstance(content, Elected)
    assert content.group is not None
    assert (code, content.master.address, content.master.epoch) == (0, second.address, 2)
    assert content.group.addresses == {1: first.address, 2: second.address}
    assert second.told().master_address == second.address
    nobody = asked(run, commands["electMaster -b 9 -bn g -c rocketproof"])
    assert nobody == (ResponseCode.ELECT_MASTER_FAILED, None)

    living = asked(run, commands["cleanBrokerMetadata -c rocketproof -bn g"])
    assert living == (ResponseCode.INVALID_CLEAN_BROKER_METADATA, None)
    first.gone()
    until(lambda: "BrokerEvicted(broker_name='g', broker_id=1" in run.said(), "it is gone")
    assert asked(run, commands["cleanBrokerMetadata -c rocketproof -bn g -b 1"]) == (0, None)
    assert "DataCleaned(broker_name='g'" in run.said()
    for broker in (first, second):
        broker.close()
