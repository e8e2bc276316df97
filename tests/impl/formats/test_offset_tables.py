"""Tables of offsets, held against what released RocketMQ writes, and what a broker is told."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import PacketError, RequestError
from rocketha.formats.ha_info import BrokerSyncInfo, pull_ha_info, push_ha_info
from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.offset_tables import (
    OffsetTable,
    QueueKey,
    TableKind,
    pull_offsets,
    push_offsets,
)
from rocketha.types import INT32_MAX, INT64_MAX, HaAddress, Offset, TimestampMs

VERSION = DataVersion(3, 7, TimestampMs(1_700_000_000_000))
CONSUMERS = OffsetTable(
    offsets={("orders@audit", 0): 5, ("orders@audit", 1): 9_007_199_254_740_993}, version=VERSION
)
DELAYS = OffsetTable(offsets={("", 1): 4, ("", 3): 0}, version=VERSION)
SAID = '{"dataVersion":{"counter":7,"stateVersion":3,"timestamp":1700000000000},'

# Printed by ConsumerOffsetManager.encode(false) of 5.3.3, DelayOffsetSerializeWrapper.toJson(false)
# of both releases, and by both with `true` of 5.5.0 (there without pullOffsetTable).
CONSUMERS_5_3_3 = (
    SAID + '"groupTopicMap":{"audit":["orders"]},'
    '"offsetTable":{"orders@audit":{0:5,1:9007199254740993}}}'
)
CONSUMERS_5_5_0 = CONSUMERS_5_3_3[:-1] + ',"pullOffsetTable":{}}'
DELAYS_5_3_3 = SAID + '"offsetTable":{1:4,3:0}}'
VERSION_LINES = (
    '{\n\t"dataVersion":{\n\t\t"counter":7,\n\t\t"stateVersion":3,\n\t\t"timestamp":1700000000000'
    "\n\t},\n"
)
CONSUMERS_FILE = (
    VERSION_LINES + '\t"groupTopicMap":{\n\t\t"audit":[\n\t\t\t"orders"\n\t\t]\n\t},\n'
    '\t"offsetTable":{\n\t\t"orders@audit":{\n\t\t\t0:5,\n\t\t\t1:9007199254740993\n\t\t}\n\t}\n}'
)
DELAYS_FILE = VERSION_LINES + '\t"offsetTable":{\n\t\t1:4,\n\t\t3:0\n\t}\n}'
DELAYS_FILE_5_3_3 = VERSION_LINES + '\t"offsetTable":{1:4,3:0\n\t}\n}'


@pytest.mark.parametrize(
    ("kind", "table", "body", "file"),
    [
        (TableKind.CONSUMER, CONSUMERS, CONSUMERS_5_3_3, CONSUMERS_FILE),
        (TableKind.DELAY, DELAYS, DELAYS_5_3_3, DELAYS_FILE),
    ],
)
def test_a_table_is_written_as_released_brokers_write_it(
    kind: TableKind, table: OffsetTable, body: str, file: str
) -> None:
    assert push_offsets(kind, table).decode() == body
    assert push_offsets(kind, table, is_file=True).decode() == file


@pytest.mark.parametrize("text", [CONSUMERS_5_3_3, CONSUMERS_5_5_0, CONSUMERS_FILE])
def test_consumers_offsets_of_each_release_are_read(text: str) -> None:
    assert pull_offsets(TableKind.CONSUMER, text.encode()) == CONSUMERS


@pytest.mark.parametrize("text", [DELAYS_5_3_3, DELAYS_FILE, DELAYS_FILE_5_3_3])
def test_offsets_of_delays_of_each_release_are_read(text: str) -> None:
    assert pull_offsets(TableKind.DELAY, text.encode()) == DELAYS


def test_a_table_without_a_version_is_older_than_all() -> None:
    table = pull_offsets(TableKind.DELAY, b'{"offsetTable":{1:4}}')

    assert table == OffsetTable(offsets={("", 1): 4}, version=DataVersion(0, 0, TimestampMs(0)))
    assert table.version < VERSION


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (TableKind.CONSUMER, b"", "is not JSON"),
        (TableKind.CONSUMER, b"\xff", "is not UTF-8"),
        (TableKind.CONSUMER, b"[]", "not an object"),
        (TableKind.CONSUMER, b"{}", "offsetTable .*missing"),
        (TableKind.CONSUMER, b'{"offsetTable":{"t@g":4}}', "not an object"),
        (
            TableKind.CONSUMER,
            b'{"offsetTable":{"t@g":{0:-1}}}',
            "is -1, not in 0",
        ),
        (TableKind.CONSUMER, b'{"offsetTable":{"t@g":{0:"1"}}}', "not an integer"),
        (TableKind.CONSUMER, b'{"offsetTable":{"t@g":{-1:1}}}', "has the queue"),
        (TableKind.CONSUMER, b'{"offsetTable":{"t@g":{01:1}}}', "has the queue"),
        (TableKind.CONSUMER, b'{"offsetTable":{"t@g":{0:1,"0":2}}}', "a name twice"),
        (TableKind.CONSUMER, b'{"offsetTable":{},"dataVersion":3}', "not an object"),
        (TableKind.CONSUMER, b'{"offsetTable":{},"dataVersion":{"counter":1}}', "missing"),
        (TableKind.DELAY, b'{"offsetTable":{"x":1}}', "has the queue"),
        (
            TableKind.DELAY,
            b'{"offsetTable":{1:9223372036854775808}}',
            "is 9223372036854775808, not in 0",
        ),
        (TableKind.DELAY, b'{"offsetTable":{2147483648:1}}', "has the queue"),
    ],
)
def test_what_is_no_table_is_refused(kind: TableKind, data: bytes, words: str) -> None:
    with pytest.raises(PacketError, match=words):
        pull_offsets(kind, data)


@given(st.binary(max_size=60), st.sampled_from(list(TableKind)))
def test_whatever_arrives_is_a_table_or_refused(data: bytes, kind: TableKind) -> None:
    try:
        table = pull_offsets(kind, data)
    except PacketError:
        return
    assert pull_offsets(kind, push_offsets(kind, table)) == table


NUMBERS = st.integers(0, INT32_MAX)
OFFSETS = st.integers(0, INT64_MAX)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VERSIONS = st.builds(DataVersion, OFFSETS, OFFSETS, st.builds(TimestampMs, OFFSETS))


@given(st.dictionaries(st.tuples(NAMES, NUMBERS), OFFSETS, max_size=6), VERSIONS)
def test_what_is_written_is_read(offsets: dict[QueueKey, int], version: DataVersion) -> None:
    table = OffsetTable(offsets=MappingProxyType(offsets), version=version)
    for is_file in (False, True):
        data = push_offsets(TableKind.CONSUMER, table, is_file=is_file)
        assert pull_offsets(TableKind.CONSUMER, data) == table


def test_a_kind_of_table_has_a_request_and_a_file() -> None:
    assert [(int(kind.code), kind.value) for kind in TableKind] == [
        (43, "config/consumerOffset.json"),
        (45, "config/delayOffset.json"),
    ]


# ---- where a master replicates ----


def test_a_master_says_where_it_replicates() -> None:
    info = BrokerSyncInfo(
        master_ha_address=HaAddress("b0:ha"),
        master_flush_offset=Offset(12),
        master_address="b0",
    )
    fields = {"masterHaAddress": "b0:ha", "masterFlushOffset": "12", "masterAddress": "b0"}

    assert push_ha_info(info) == fields
    assert pull_ha_info(fields) == info
    assert pull_ha_info({}) is None, "who asks says nothing"
    least = pull_ha_info({"masterHaAddress": "b0:ha"})
    assert least == BrokerSyncInfo(
        master_ha_address=HaAddress("b0:ha"), master_flush_offset=Offset(0)
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"masterHaAddress": " "},
        {"masterHaAddress": "b0:ha", "masterFlushOffset": "-1"},
        {"masterHaAddress": "b0:ha", "masterFlushOffset": "many"},
        {"masterHaAddress": "b" * 70_000},
    ],
)
def test_what_says_nothing_that_can_be_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(RequestError):
        pull_ha_info(fields)
