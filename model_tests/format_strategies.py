"""Hypothesis strategies for RocketMQ's bytes: epochs, packets, messages, commands; always valid."""

from __future__ import annotations

from hypothesis import strategies as st

from rocketha.formats.ha_packets import (
    INCARNATION_MAX,
    Ack,
    Handshake,
    HandshakeReply,
    MasterPacket,
    SlavePacket,
    Transfer,
)
from rocketha.formats.legacy_ha_packets import LegacyTransfer
from rocketha.formats.message import CRC_PROPERTY, Host, Message, properties_text
from rocketha.formats.remoting_command import Language, RemotingCommand, Serialization
from rocketha.types import (
    INT32_MAX,
    INT64_MAX,
    BrokerId,
    Epoch,
    EpochEntry,
    Offset,
    TimestampMs,
    chain_epochs,
)


def epochs() -> st.SearchStrategy[Epoch]:
    """Epochs of every size."""
    return st.integers(0, INT32_MAX).map(Epoch)


def offsets(*, min_value: int = 0, max_value: int = INT64_MAX) -> st.SearchStrategy[Offset]:
    """Offsets in a CommitLog, in bytes."""
    return st.integers(min_value, max_value).map(Offset)


def epoch_entries(*, max_size: int = 6) -> st.SearchStrategy[tuple[EpochEntry, ...]]:
    """The entries of an epoch cache, in order and without gaps."""

    def chained(size: int) -> st.SearchStrategy[tuple[EpochEntry, ...]]:
        numbers = st.lists(epochs(), min_size=size, max_size=size, unique=True).map(sorted)
        starts = st.lists(offsets(), min_size=size, max_size=size, unique=True).map(sorted)
        pairs = st.tuples(numbers, starts).map(lambda both: list(zip(*both, strict=True)))
        return pairs.map(chain_epochs)

    return st.integers(0, max_size).flatmap(chained)


def handshakes() -> st.SearchStrategy[Handshake]:
    """Handshakes of slaves, with flags or with an incarnation."""
    ids = st.integers(1, INT64_MAX).map(BrokerId)
    flagged = st.builds(
        Handshake, broker_id=ids, sync_from_last_file=st.booleans(), async_learner=st.booleans()
    )
    restarted = st.builds(Handshake, broker_id=ids, incarnation=st.integers(1, INCARNATION_MAX))
    return flagged | restarted


def acks() -> st.SearchStrategy[Ack]:
    """Reports of slaves."""
    return st.builds(Ack, max_phy_offset=offsets())


def handshake_replies() -> st.SearchStrategy[HandshakeReply]:
    """Handshakes of masters."""
    return st.builds(HandshakeReply, max_phy_offset=offsets(), entries=epoch_entries())


def transfers() -> st.SearchStrategy[Transfer]:
    """Batches and heartbeats."""
    return st.builds(
        Transfer,
        offset=offsets(),
        epoch=epochs(),
        epoch_start_offset=offsets(),
        confirm_offset=offsets(min_value=-1),
        body=st.binary(max_size=80),
    )


def slave_sessions() -> st.SearchStrategy[list[SlavePacket]]:
    """All that a slave sends in one connection: a handshake, perhaps repeated, then reports."""
    sessions = st.tuples(handshakes(), st.integers(1, 3), st.lists(acks(), max_size=4))
    return sessions.map(lambda s: [*[s[0]] * s[1], *s[2]])


def master_sessions() -> st.SearchStrategy[list[MasterPacket]]:
    """All that a master sends in one connection: a handshake, then batches."""
    sessions = st.tuples(handshake_replies(), st.lists(transfers(), max_size=4))
    return sessions.map(lambda s: [s[0], *s[1]])


def legacy_transfers() -> st.SearchStrategy[LegacyTransfer]:
    """Batches and heartbeats of the legacy service."""
    begins, bodies = offsets(max_value=INT64_MAX - 80), st.binary(max_size=80)
    return st.builds(LegacyTransfer, offset=begins, body=bodies)


def hosts() -> st.SearchStrategy[Host]:
    """Addresses of both families with a port."""
    addresses = st.binary(min_size=4, max_size=4) | st.binary(min_size=16, max_size=16)
    return st.builds(Host, addresses, st.integers(0, 65535))


def _words(max_size: int) -> st.SearchStrategy[str]:
    alphabet = st.characters(exclude_categories=["Cs"], exclude_characters="\x01\x02")
    return st.text(alphabet, max_size=max_size)


def properties() -> st.SearchStrategy[str]:
    """Properties of a message as RocketMQ keeps them."""
    texts = st.dictionaries(_words(8), _words(8), max_size=3).map(properties_text)
    return texts.filter(lambda text: CRC_PROPERTY not in text)


def messages(*, max_body: int = 60) -> st.SearchStrategy[Message]:
    """Messages with topics short and long, hosts of both families, and properties."""
    ints = st.integers(-INT32_MAX - 1, INT32_MAX)
    times = st.integers(0, INT64_MAX).map(TimestampMs)
    topics = _words(20) | st.integers(120, 300).map("t".__mul__)
    return st.builds(
        Message,
        topic=topics,
        body=st.binary(max_size=max_body),
        queue_id=ints,
        queue_offset=st.integers(0, INT64_MAX),
        flag=ints,
        sys_flag=st.sampled_from((0, 1, 2, 4, 8, 1 << 8, 1 << 30)),
        born_timestamp_ms=times,
        born_host=hosts(),
        store_timestamp_ms=times,
        store_host=hosts(),
        reconsume_times=ints,
        prepared_transaction_offset=offsets(),
        properties=properties(),
    )


def cuts(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """Ways to cut a stream of bytes into pieces that arrive one after the other."""
    places = st.lists(st.integers(0, len(data)), max_size=8).map(sorted)
    return places.map(
        lambda at: [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]
    )


def remoting_commands(*, max_body: int = 60) -> st.SearchStrategy[RemotingCommand]:
    """Commands that both headers can carry."""
    shorts = st.integers(-(2**15), 2**15 - 1)
    ints = st.integers(-INT32_MAX - 1, INT32_MAX)
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    return st.builds(
        RemotingCommand,
        code=shorts,
        opaque=ints,
        flag=ints,
        language=st.sampled_from(Language),
        version=shorts,
        remark=text.map(lambda remark: remark or None),
        ext_fields=st.dictionaries(text.filter(bool), text, max_size=4),
        body=st.binary(max_size=max_body),
        serialization=st.sampled_from(Serialization),
    )
