"""Damaged frames of RocketMQ: each is refused by a typed error, or answered."""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter
from dataclasses import replace
from typing import Final

import pytest

from rocketha.errors import PacketError
from rocketha.formats.name_server_codec import push_notification
from rocketha.formats.name_server_codes import NameServerCode, NameServerResponse
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.nameserver.core import NameServerCore, TellMinBrokerId
from rocketha.nameserver.state import NameServerOptions, NameServerState
from rocketha.runtime.effects import Respond
from rocketha.runtime.events import RequestArrived
from rocketha.types import ConnectionId, RequestId, TimestampMs
from tests.source_files import ROOT

_OPTIONS: Final = NameServerOptions(support_acting_master=True, notify_min_broker_id_changed=True)
_PREFIX: Final = 8
_TEXTS: Final = (
    *("\\ud800", '"', "\\u0000", "\x00", "{", "}", "[]", "{}", ":", ",", "中", "\\\\", "-1"),
    *("null", "true", "0", "1e400", "9223372036854775807", "99999999999999999999"),
)


def requests_of(release: str) -> list[bytes]:
    rows = (ROOT / f"tests/golden/name_server/frames-{release}.tsv").read_text().splitlines()
    cells = [cell for row in rows if not row.startswith("#") for cell in row.split("\t")[1:]]
    frames = [bytes.fromhex(cell) for cell in cells if cell]
    found = [(frame, pull_command(frame)) for frame in frames]
    return [frame for frame, pulled in found if pulled is not None and not pulled[0].is_response]


def damaged(frame: bytes, chance: random.Random) -> bytes:
    """Change some bytes behind the prefix, and have the prefix fit, most of the time."""
    data = bytearray(frame)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(_PREFIX, len(data))
        match chance.randrange(4):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                text = chance.choice(_TEXTS).encode()
                data[at : at + chance.choice((0, 1, len(text)))] = text
            case 2:
                del data[at : at + chance.randrange(1, 6)]
            case _:
                again = chance.randrange(_PREFIX, len(data))
                data[at:at] = data[again : again + chance.randrange(1, 30)]
    if chance.random() < 0.9:
        data[5:8] = min(header_size(data), len(data) - _PREFIX).to_bytes(3, "big")
        data[0:4] = (len(data) - 4).to_bytes(4, "big")
    return bytes(data)


def header_size(data: bytearray) -> int:
    """Return where the header ends, if it is JSON still; else where it did."""
    try:
        text = data[_PREFIX:].decode()
        return len(text[: json.JSONDecoder().raw_decode(text)[1]].encode())
    except ValueError:
        return int.from_bytes(data[5:8], "big")


def with_its_sum(command: RemotingCommand) -> RemotingCommand:
    """Let a damaged body have the right CRC, or hardly any would be read."""
    if command.code != NameServerCode.REGISTER_BROKER or "bodyCrc32" not in command.ext_fields:
        return command
    sum_ = str(zlib.crc32(command.body) & 0x7FFFFFFF)
    return replace(command, ext_fields={**command.ext_fields, "bodyCrc32": sum_})


@pytest.mark.parametrize("release", ["5.3.3", "5.5.0"])
def test_a_frame_is_refused_or_answered_and_the_answer_can_be_sent(release: str) -> None:
    frames, chance, codes = requests_of(release), random.Random(release), Counter[str]()
    assert frames
    state = NameServerState(options=_OPTIONS)
    for number in range(6_000):
        if number % 40 == 0:
            state = NameServerState(options=_OPTIONS)
        frame = chance.choice(frames)
        try:
            pulled = pull_command(damaged(frame, chance) if chance.random() < 0.7 else frame)
        except PacketError:
            codes["no frame"] += 1
            continue
        if pulled is None:
            continue
        command = with_its_sum(pulled[0]) if chance.random() < 0.7 else pulled[0]
        conn = ConnectionId(chance.randrange(1, 4))
        event = RequestArrived(request=RequestId(1), command=command, conn=conn)
        done = NameServerCore().step(state, event, now_ms=TimestampMs(number))
        (answer,) = [effect for effect in done.effects if isinstance(effect, Respond)]
        push_command(
            replace(
                command,
                code=answer.code,
                remark=answer.remark,
                ext_fields=answer.ext_fields,
                body=answer.body,
            )
        )
        if answer.code != NameServerResponse.SUCCESS:
            assert done.state is state, "a refusal changes nothing"
        for effect in done.effects:
            if isinstance(effect, TellMinBrokerId):
                push_command(push_notification(effect.notice.says, opaque=0))
        codes[NameServerResponse(answer.code).name] += 1
        state = done.state

    assert set(codes) == {"no frame", *(code.name for code in NameServerResponse)}
    assert min(codes.values()) > 20, codes
