"""The epochs that a broker shows to who asks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.controller_strategies import broker_ids, texts
from model_tests.format_strategies import epoch_entries, offsets
from rocketha.errors import PacketError
from rocketha.formats.epoch_entry_cache import (
    EpochEntryCache,
    pull_epoch_entry_cache,
    push_epoch_entry_cache,
)
from rocketha.types import BrokerId, Epoch, Offset, chain_epochs

CACHE = EpochEntryCache(
    cluster_name="c",
    broker_name="b",
    broker_id=BrokerId(1),
    entries=chain_epochs([(Epoch(1), Offset(0)), (Epoch(2), Offset(100))]),
    max_offset=Offset(150),
)
BODY = (
    b'{"brokerId":1,"brokerName":"b","clusterName":"c","epochList":['
    b'{"endOffset":100,"epoch":1,"startOffset":0},'
    b'{"endOffset":9223372036854775807,"epoch":2,"startOffset":100}],"maxOffset":150}'
)


def test_the_body_has_rocketmqs_members() -> None:
    assert push_epoch_entry_cache(CACHE) == BODY
    assert pull_epoch_entry_cache(BODY) == CACHE


@pytest.mark.parametrize(
    ("good", "wrong", "said"),
    [
        (b'"brokerId":1', b'"brokerId":-1', "brokerId at byte 0: is -1"),
        (b'"brokerName":"b"', b'"brokerName":1', "brokerName at byte 0: is 1, not a text"),
        (b'"epoch":2', b'"epoch":1', "has epoch 1 after 1"),
        (b'"epoch":2', b'"epoch":2147483648', "epoch at byte 0: is 2147483648"),
        (b'"startOffset":100', b'"startOffset":99', "or they overlap"),
        (b'"endOffset":100', b'"endOffset":-1', "endOffset at byte 0: is -1, not in 0"),
        (b'"maxOffset":150', b'"maxOffset":null', "maxOffset at byte 0: is missing or null"),
        (b'"epochList":[', b'"epochList":[1,', "epochList at byte 0: is 1, not an object"),
    ],
)
def test_a_wrong_body_is_a_packet_error(good: bytes, wrong: bytes, said: str) -> None:
    assert good in BODY
    with pytest.raises(PacketError, match=re.escape(said)):
        pull_epoch_entry_cache(BODY.replace(good, wrong))


@given(
    st.builds(
        EpochEntryCache,
        cluster_name=texts(),
        broker_name=texts(),
        broker_id=broker_ids(),
        entries=epoch_entries(),
        max_offset=offsets(min_value=-1),
    )
)
def test_epochs_survive_their_body(cache: EpochEntryCache) -> None:
    assert pull_epoch_entry_cache(push_epoch_entry_cache(cache)) == cache
