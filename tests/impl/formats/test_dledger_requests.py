"""Requests and answers of DLedger: what fastjson wrote of each, and what is no such thing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import EncodingError, PacketError, RequestError
from rocketha.formats import dledger_requests as requests
from rocketha.formats.dledger_codes import (
    DLedgerEntryType,
    DLedgerRequestCode,
    DLedgerResponseCode,
    PushType,
    VoteResult,
)
from rocketha.formats.dledger_entry import DLedgerEntry, sealed
from rocketha.formats.dledger_entry_json import PUSHED_BODY_MAX, PUSHED_MAX, pushed_size
from rocketha.formats.dledger_request_codec import (
    pull_request,
    pull_response,
    push_request,
    push_response,
)
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    AppendEntryResponse,
    DLedgerRequest,
    DLedgerResponse,
    GetEntriesRequest,
    GetEntriesResponse,
    HeartBeatRequest,
    HeartBeatResponse,
    InstallSnapshotRequest,
    InstallSnapshotResponse,
    LeadershipTransferRequest,
    LeadershipTransferResponse,
    LegacyPushEntryRequest,
    LegacyPushEntryResponse,
    MetadataRequest,
    MetadataResponse,
    PullEntriesRequest,
    PullEntriesResponse,
    PushEntryRequest,
    PushEntryResponse,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, FRAME_MAX, Language, RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import INT32_MAX, INT32_MIN, INT64_MAX, LogIndex, Offset, Term
from tests.golden.generate_dledger import GOLDEN

OF_CLASS: Final = {
    "Metadata": DLedgerRequestCode.METADATA,
    "AppendEntry": DLedgerRequestCode.APPEND,
    "GetEntries": DLedgerRequestCode.GET,
    "Vote": DLedgerRequestCode.VOTE,
    "HeartBeat": DLedgerRequestCode.HEART_BEAT,
    "PullEntries": DLedgerRequestCode.PULL,
    "PushEntry": DLedgerRequestCode.PUSH,
    "LeadershipTransfer": DLedgerRequestCode.LEADERSHIP_TRANSFER,
    "InstallSnapshot": DLedgerRequestCode.INSTALL_SNAPSHOT,
}
# Texts that fastjson escapes and JSON need not: read, and written in another spelling.
ESCAPED: Final = "\\u007F"


def lines(release: str) -> list[tuple[str, str]]:
    text = (GOLDEN / f"original/bodies-{release}.tsv").read_text("utf-8")
    pairs = [line.partition("\t") for line in text.split("\n") if line]
    return [(name, body) for name, _, body in pairs]


GOLDEN_BODIES: Final = [
    (f"{release}-{number}-{name}", name, body)
    for release in ("0.3.1.2", "0.4.0")
    for number, (name, body) in enumerate(lines(release))
    if not name.startswith("frame")
]
golden_bodies = pytest.mark.parametrize(
    ("name", "body"), [row[1:] for row in GOLDEN_BODIES], ids=[row[0] for row in GOLDEN_BODIES]
)


def command_of(name: str, body: bytes) -> tuple[RemotingCommand, DLedgerRequestCode]:
    what, is_request = (
        (name.removesuffix("Request"), True)
        if name.endswith("Request")
        else (name.removesuffix("Response"), False)
    )
    code = OF_CLASS[what]
    if is_request:
        return RemotingCommand(code=code, opaque=1, body=body), code
    return RemotingCommand(code=200, opaque=1, flag=FLAG_RESPONSE, body=body), code


def read(name: str, body: bytes) -> DLedgerRequest | DLedgerResponse:
    command, code = command_of(name, body)
    return pull_response(command, code) if command.is_response else pull_request(command)


def written(message: object) -> RemotingCommand:
    if type(message).__name__.endswith("Request"):
        return push_request(message, opaque=1)  # type: ignore[arg-type]
    return push_response(message, opaque=1)  # type: ignore[arg-type]


def entry(index: int, body: bytes) -> DLedgerEntry:
    return DLedgerEntry(index=LogIndex(index), term=Term(2), pos=Offset(64 * index), body=body)


def test_every_kind_has_golden_bodies() -> None:
    classes = {type(read(name, body.encode())).__name__ for _, name, body in GOLDEN_BODIES}
    assert classes == set(requests.__all__) - {
        "DLedgerRequest",
        "DLedgerResponse",
        "RequestOrResponse",
    }


@golden_bodies
def test_what_fastjson_writes_is_read_and_written_again(name: str, body: str) -> None:
    message = read(name, body.encode())
    again = written(message).body.decode()
    if ESCAPED in body:
        assert json.loads(again) == json.loads(body)
    else:
        assert again == body
    assert type(message).__name__.removeprefix("Legacy") == name


@golden_bodies
def test_every_truncation_of_a_body_is_refused(name: str, body: str) -> None:
    data = body.encode()
    for size in range(len(data)):
        with pytest.raises(PacketError):
            read(name, data[:size])


@golden_bodies
def test_the_order_of_members_and_unknown_ones_do_not_matter(name: str, body: str) -> None:
    members = json.loads(body)
    turned = {"zz": None, **{key: members[key] for key in reversed(members)}, "new": {"a": [1]}}
    assert read(name, json.dumps(turned).encode()) == read(name, body.encode())


@golden_bodies
def test_a_number_or_name_that_is_missing_or_no_number_is_refused(name: str, body: str) -> None:
    """But for those that DLedger itself does not read, and those that may be null."""
    not_read = {"batch", "firstEntryIndex", "lastEntryIndex", "lastEntryTerm", "totalSize"}
    if name == "PushEntryRequest":
        not_read.add("count")
    nullable = {"beginIndex", "index"} if name != "AppendEntryResponse" else set()
    if name == "PushEntryResponse":
        nullable.remove("beginIndex")
    elif name == "PushEntryRequest":
        nullable.clear()
    members = json.loads(body)
    for key, value in members.items():
        if not isinstance(value, int) or key in not_read:
            continue
        others: list[object] = ["7", True, 1.5, 2**63, -(2**63) - 1, [], {}]
        if key not in nullable:
            others.append(None)
        for other in others:
            with pytest.raises(PacketError):
                read(name, json.dumps({**members, key: other}).encode())
        if key not in nullable | {"xIndex"}:
            rest = {other: members[other] for other in members if other != key}
            with pytest.raises(PacketError):
                read(name, json.dumps(rest).encode())


def test_frames_are_those_of_rocketmq_s_remoting() -> None:
    for release in ("0.3.1.2", "0.4.0"):
        frames = {name: bytes.fromhex(body) for name, body in lines(release) if "frame" in name}
        pulled = pull_command(frames["frame.request"])
        assert pulled is not None
        vote = pull_request(pulled[0])
        assert isinstance(vote, VoteRequest)
        assert (vote.ledger_end_index, vote.ledger_end_term, vote.leader_id) == (9, 2, "n0")
        ours = push_request(vote, opaque=7)
        version = pulled[0].version
        assert (
            push_command(replace(ours, language=Language.JAVA, version=version))
            == (frames["frame.request"])
        )
        pulled = pull_command(frames["frame.response"])
        assert pulled is not None
        voted = pull_response(pulled[0], DLedgerRequestCode.VOTE)
        assert isinstance(voted, VoteResponse)
        assert voted.vote_result is VoteResult.REJECT_TERM_NOT_READY
        ours = push_response(voted, opaque=7)
        assert (
            push_command(replace(ours, language=Language.JAVA, version=version))
            == (frames["frame.response"])
        )


def test_both_generations_of_a_push_are_told_apart() -> None:
    old = LegacyPushEntryRequest(entry=entry(5, b"abc"))
    new = PushEntryRequest(entries=(entry(5, b"abc"),))
    assert pull_request(push_request(old, opaque=1)) == old
    assert pull_request(push_request(new, opaque=1)) == new
    assert old.entries == new.entries
    batch = replace(old, batch_entry=(entry(7, b""), entry(8, b"")))
    assert batch.entries == batch.batch_entry
    asked = DLedgerRequestCode.PUSH
    for answer in (LegacyPushEntryResponse(count=1), PushEntryResponse(count=1)):
        assert pull_response(push_response(answer, opaque=1), asked) == answer


PUSH: Final = json.loads(push_request(PushEntryRequest(entries=(entry(5, b"abc"),)), opaque=1).body)
ENTRY: Final = PUSH["entries"][0]
LEGACY: Final = json.loads(
    push_request(LegacyPushEntryRequest(batch_entry=(entry(5, b"abc"),)), opaque=1).body
)


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"entries": None}, "entries.*not an array"),
        ({"entries": [5]}, "entry.*not an object"),
        ({"entries": [{"$ref": "$.entries[0]"}]}, "magic.*missing"),
        ({"entries": [{**ENTRY, "magic": 4}]}, "magic.*is 4"),
        ({"entries": [{**ENTRY, "size": 52}]}, "size.*is 52, the body has 3"),
        ({"entries": [{**ENTRY, "index": -1}]}, "index"),
        ({"entries": [{**ENTRY, "term": -1}]}, "term"),
        ({"entries": [{**ENTRY, "pos": -1}]}, "pos"),
        ({"entries": [{**ENTRY, "channel": 2**31}]}, "channel"),
        ({"entries": [{**ENTRY, "chainCrc": 2**31}]}, "chainCrc"),
        ({"entries": [{**ENTRY, "bodyCrc": 5}]}, "bodyCrc.*is 5, the body has"),
        ({"entries": [{**ENTRY, "body": None}]}, "body.*missing"),
        ({"entries": [{**ENTRY, "body": "YW"}]}, "body.*is not base64"),
        ({"entries": [{**ENTRY, "body": "Y!Jj"}]}, "body.*is not base64"),
        ({"entries": [{**ENTRY, "body": "YWJ="}]}, "body.*in another spelling"),
        ({"entries": [{**ENTRY, "body": "\u00e4WJj"}]}, "body.*is not base64"),
        ({"entries": [ENTRY, ENTRY]}, "index 5 behind 5"),
        ({"entries": [ENTRY, {**ENTRY, "index": 7}]}, "index 7 behind 5"),
        ({"type": "NEVER"}, "type.*'NEVER', which is none"),
        ({"type": 0}, "type.*not a text"),
        ({"type": None}, "type.*missing"),
        ({"commitIndex": -2}, "commitIndex"),
        ({"code": 2**31}, "code"),
        ({"group": 7}, "group.*not a text"),
        ({"batchEntry": [], "type": "INSTALL_SNAPSHOT"}, "INSTALL_SNAPSHOT, with a batchEntry"),
    ],
)
def test_a_push_that_cannot_be_is_refused(members: Mapping[str, object], reason: str) -> None:
    body = json.dumps({**PUSH, **members}).encode()
    with pytest.raises(PacketError, match=reason):
        pull_request(RemotingCommand(code=51004, opaque=1, body=body))


@pytest.mark.parametrize(
    ("code", "body", "reason"),
    [
        (50000, b"", "is not JSON"),
        (50000, b"[]", "not an object"),
        (50000, b"{}", "code.*missing"),
        (50001, b'{"code":200,"term":-1}', "body.*missing"),
        (50002, b'{"code":200,"term":1,"maxSize":0,"indexList":7}', "not an array"),
        (50002, b'{"code":200,"term":1,"maxSize":0,"indexList":[null]}', "indexList.*missing"),
        (50002, b'{"code":200,"term":1,"maxSize":-1}', "maxSize"),
        (
            51006,
            b'{"code":200,"term":1,"lastIncludedIndex":-1,"lastIncludedTerm":0,"data":""}',
            "-1",
        ),
    ],
)
def test_a_request_that_cannot_be_is_refused(code: int, body: bytes, reason: str) -> None:
    with pytest.raises(PacketError, match=reason):
        pull_request(RemotingCommand(code=code, opaque=1, body=body))


@pytest.mark.parametrize("code", [0, 50003, 51000, 59999, -1])
def test_a_code_that_nobody_answers_is_none(code: int) -> None:
    with pytest.raises(RequestError, match="not supported"):
        pull_request(RemotingCommand(code=code, opaque=1, body=b"{}"))


@pytest.mark.parametrize(
    ("asked", "body", "reason"),
    [
        (DLedgerRequestCode.VOTE, b'{"code":200,"term":1,"voteResult":"MAYBE"}', "MAYBE"),
        (DLedgerRequestCode.VOTE, b'{"code":200,"term":1}', "voteResult.*missing"),
        (DLedgerRequestCode.METADATA, b'{"code":200,"term":1,"peers":["n0"]}', "peers"),
        (DLedgerRequestCode.METADATA, b'{"code":200,"term":1,"peers":{"n0":1}}', "peers"),
        (DLedgerRequestCode.GET, b'{"code":200,"term":1}', "entries.*missing"),
        (DLedgerRequestCode.HEART_BEAT, b"null", "not an object"),
    ],
)
def test_an_answer_that_cannot_be_is_refused(
    asked: DLedgerRequestCode, body: bytes, reason: str
) -> None:
    command = RemotingCommand(code=200, opaque=1, flag=FLAG_RESPONSE, body=body)
    with pytest.raises(PacketError, match=reason):
        pull_response(command, asked)


@pytest.mark.parametrize(("code", "flag"), [(200, 0), (1, FLAG_RESPONSE), (51002, FLAG_RESPONSE)])
def test_a_frame_that_is_no_answer_is_refused(code: int, flag: int) -> None:
    command = RemotingCommand(code=code, opaque=1, flag=flag, body=b'{"code":200,"term":1}')
    with pytest.raises(PacketError, match="has the code"):
        pull_response(command, DLedgerRequestCode.HEART_BEAT)


def test_codes_are_known_or_unknown() -> None:
    assert HeartBeatResponse(code=409).response_code is DLedgerResponseCode.INCONSISTENT_LEADER
    assert HeartBeatResponse(code=12345).response_code is DLedgerResponseCode.UNKNOWN
    assert HeartBeatResponse().response_code is DLedgerResponseCode.SUCCESS
    assert len(DLedgerResponseCode) == 38
    assert len(VoteResult) == 12


@pytest.mark.parametrize(
    "message",
    [
        VoteRequest(group="\ud800"),
        VoteRequest(ledger_end_index=LogIndex(2**63)),
        VoteRequest(term=Term(2**63)),
        VoteRequest(code=2**31),
        PushEntryRequest(entries=(replace(entry(1, b""), pos=Offset(2**64)),)),
    ],
)
def test_what_does_not_fit_is_not_written(message: DLedgerRequest) -> None:
    with pytest.raises(EncodingError):
        push_request(message, opaque=1)


texts = st.none() | st.text(max_size=4)
indexes = st.integers(-1, INT64_MAX)
header: Final[Mapping[str, st.SearchStrategy[object]]] = {
    "group": texts,
    "local_id": texts,
    "remote_id": texts,
    "code": st.integers(INT32_MIN, INT32_MAX),
    "leader_id": texts,
    "term": indexes,
}
entries = st.builds(
    DLedgerEntry,
    kind=st.sampled_from(DLedgerEntryType),
    index=st.integers(0, INT64_MAX),
    term=st.integers(0, INT64_MAX),
    pos=st.integers(0, INT64_MAX),
    channel=st.integers(0, INT32_MAX),
    body=st.binary(max_size=9),
).flatmap(lambda one: st.sampled_from([one, sealed(one, 7)]))
many = st.lists(entries, max_size=3).map(tuple)
batches = st.tuples(many, st.integers(0, 2**62)).map(
    lambda pair: tuple([replace(one, index=LogIndex(pair[1] + n)) for n, one in enumerate(pair[0])])
)
FIELDS: Final[Mapping[Callable[..., object], Mapping[str, st.SearchStrategy[object]]]] = {
    MetadataRequest: {},
    MetadataResponse: {"peers": st.none() | st.dictionaries(st.text(max_size=3), st.text())},
    AppendEntryRequest: {"body": st.binary()},
    AppendEntryResponse: {"index": indexes, "pos": indexes},
    GetEntriesRequest: {
        "begin_index": st.none() | indexes,
        "max_size": st.integers(0, INT32_MAX),
        "index_list": st.none() | st.lists(indexes, max_size=3).map(tuple),
    },
    GetEntriesResponse: {"entries": many},
    VoteRequest: {"ledger_end_index": indexes, "ledger_end_term": indexes},
    VoteResponse: {"vote_result": st.sampled_from(VoteResult)},
    HeartBeatRequest: {},
    HeartBeatResponse: {},
    PullEntriesRequest: {"node_id": texts, "begin_index": st.none() | indexes},
    PullEntriesResponse: {"entries": many},
    PushEntryRequest: {
        "kind": st.sampled_from(PushType),
        "commit_index": indexes,
        "pre_log_index": indexes,
        "pre_log_term": indexes,
        "entries": batches,
    },
    PushEntryResponse: {
        "index": st.none() | indexes,
        "begin_index": indexes,
        "end_index": indexes,
        "count": st.integers(0, INT32_MAX),
        "x_term": indexes,
        "x_index": indexes,
    },
    LegacyPushEntryRequest: {
        "kind": st.sampled_from([t for t in PushType if t is not PushType.INSTALL_SNAPSHOT]),
        "commit_index": indexes,
        "entry": st.none() | entries,
        "batch_entry": batches,
    },
    LegacyPushEntryResponse: {
        "index": st.none() | indexes,
        "begin_index": indexes,
        "end_index": indexes,
        "count": st.integers(0, INT32_MAX),
    },
    LeadershipTransferRequest: {
        "transfer_id": texts,
        "transferee_id": texts,
        "take_leadership_ledger_index": indexes,
    },
    LeadershipTransferResponse: {},
    InstallSnapshotRequest: {
        "last_included_index": st.integers(0, INT64_MAX),
        "last_included_term": st.integers(0, INT64_MAX),
        "data": st.binary(),
    },
    InstallSnapshotResponse: {},
}
messages = st.one_of([st.builds(kind, **{**header, **fields}) for kind, fields in FIELDS.items()])


@given(messages)
def test_what_is_written_is_read(message: object) -> None:
    command = written(message)
    pulled = pull_command(push_command(command))
    assert pulled is not None
    name = type(message).__name__.removeprefix("Legacy")
    assert read(name, pulled[0].body) == message
    assert pulled[0].code == command_of(name, b"")[0].code


@given(st.sampled_from(GOLDEN_BODIES), st.data())
def test_a_changed_byte_raises_nothing_but_the_typed_error(
    row: tuple[str, str, str], data: st.DataObject
) -> None:
    _, name, text = row
    body = bytearray(text.encode())
    at = data.draw(st.integers(0, len(body) - 1))
    body[at] = data.draw(st.integers(0, 255))
    try:
        read(name, bytes(body))
    except PacketError:
        return


@given(st.binary(max_size=200))
def test_an_entry_in_a_frame_has_at_most_the_bytes_that_are_counted(body: bytes) -> None:
    entry = DLedgerEntry(
        index=LogIndex(INT64_MAX),
        term=Term(INT64_MAX),
        pos=Offset(INT64_MAX),
        channel=INT32_MIN,
        chain_crc=INT32_MIN,
        body_crc=INT32_MIN,
        body=body,
    )
    pushed = requests.PushEntryRequest(kind=PushType.APPEND, entries=(entry,))
    one, two = (
        len(push_command(push_request(message, opaque=1)))
        for message in (pushed, replace(pushed, entries=(entry, entry)))
    )

    assert two - one <= pushed_size(entry)
    assert one - pushed_size(entry) < FRAME_MAX - PUSHED_MAX


def test_a_body_that_a_push_has_room_for_is_pushed() -> None:
    for size in (PUSHED_BODY_MAX, PUSHED_BODY_MAX + 3):
        entry = DLedgerEntry(
            index=LogIndex(0), term=Term(0), pos=Offset(0), body=bytes(size), body_crc=0
        )
        assert (pushed_size(entry) <= PUSHED_MAX) is (size == PUSHED_BODY_MAX)
