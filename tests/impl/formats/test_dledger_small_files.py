"""The term file, the checkpoint and the snapshot's meta of DLedger: golden files, every damage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import CheckpointError, EncodingError, SnapshotError, TermFileError
from rocketha.formats.dledger_checkpoint import Checkpoint, decode_checkpoint, encode_checkpoint
from rocketha.formats.dledger_lines import LINES_MAX
from rocketha.formats.dledger_snapshot import (
    DataSum,
    SnapshotMeta,
    check_snapshot_data,
    data_sum,
    decode_snapshot_meta,
    encode_snapshot_meta,
    snapshot_dir,
    snapshot_dir_index,
)
from rocketha.formats.dledger_term_file import TermAndVote, decode_term_file, encode_term_file
from rocketha.types import INT32_MAX, INT32_MIN, INT64_MAX, LogIndex, SizeBytes, Term
from tests.golden.generate_dledger import (
    CHECKED_CHECKPOINT,
    CHECKED_TERM,
    GOLDEN,
    SNAPSHOT_DATA,
    checked_meta,
)

TERM: Final = b"voteLeader=n0\ncurrTerm=4\n"


@dataclass(frozen=True)
class Format:
    """One of the files: what it is, and how it is read in each mode."""

    path: str
    value: Any
    checked: Callable[[bytes], Any]
    unchecked: Callable[[bytes], Any]
    error: type[Exception]


def meta_reader(index: int, *, unchecked: bool) -> Callable[[bytes], SnapshotMeta]:
    def read(data: bytes) -> SnapshotMeta:
        return decode_snapshot_meta(data, index=LogIndex(index), accept_unchecked=unchecked)

    return read


def formats(kind: str) -> list[Format]:
    index = 3 if kind == "checked" else 2
    original_meta = SnapshotMeta(last_included_index=LogIndex(2), last_included_term=Term(0))
    original_checkpoint = Checkpoint(end_index=LogIndex(8), committed_index=LogIndex(8))
    ours = kind == "checked"
    return [
        Format(
            f"{kind}/currterm",
            CHECKED_TERM,
            decode_term_file,
            lambda data: decode_term_file(data, accept_unchecked=True),
            TermFileError,
        ),
        Format(
            f"{kind}/checkpoint",
            CHECKED_CHECKPOINT if ours else original_checkpoint,
            decode_checkpoint,
            lambda data: decode_checkpoint(data, accept_unchecked=True),
            CheckpointError,
        ),
        Format(
            f"{kind}/snapshot/snapshot_{index}/snapshot_meta",
            checked_meta() if ours else original_meta,
            meta_reader(index, unchecked=False),
            meta_reader(index, unchecked=True),
            SnapshotError,
        ),
    ]


ours = pytest.mark.parametrize("file", formats("checked"), ids=lambda f: f.path)
dledgers = pytest.mark.parametrize("file", formats("original"), ids=lambda f: f.path)


def bits(data: bytes) -> list[bytes]:
    found = []
    for bit in range(8 * len(data)):
        turned = bytearray(data)
        turned[bit // 8] ^= 1 << bit % 8
        found.append(bytes(turned))
    return found


@ours
def test_our_files_are_read(file: Format) -> None:
    data = (GOLDEN / file.path).read_bytes()
    assert file.checked(data) == file.unchecked(data) == file.value


@dledgers
def test_the_files_of_dledger_are_read_only_on_demand(file: Format) -> None:
    data = (GOLDEN / file.path).read_bytes()
    assert file.unchecked(data) == file.value
    with pytest.raises(file.error):
        file.checked(data)


def test_unchecked_files_are_those_of_dledger_to_the_byte() -> None:
    term, checkpoint, meta = (file for file in formats("original"))
    assert encode_term_file(term.value, checked=False) == (GOLDEN / term.path).read_bytes()
    written = encode_checkpoint(checkpoint.value, checked=False)
    assert written == (GOLDEN / checkpoint.path).read_bytes()
    assert encode_snapshot_meta(meta.value) == (GOLDEN / meta.path).read_bytes()


@ours
def test_every_flipped_bit_of_our_files_is_refused(file: Format) -> None:
    for turned in bits((GOLDEN / file.path).read_bytes()):
        with pytest.raises(file.error):
            file.checked(turned)


@ours
def test_every_truncation_of_our_files_is_refused(file: Format) -> None:
    data = (GOLDEN / file.path).read_bytes()
    for size in range(len(data)):
        with pytest.raises(file.error):
            file.checked(data[:size])


@ours
def test_damage_of_our_files_is_no_file_of_dledger(file: Format) -> None:
    """Where both are accepted only a cut that leaves exactly what DLedger writes is."""
    data = (GOLDEN / file.path).read_bytes()
    for turned in bits(data):
        try:
            found = file.unchecked(turned)
        except file.error:
            continue
        # A meta of which the checksum has another name is one of DLedger's.
        assert isinstance(found, SnapshotMeta)
        assert found == replace(file.value, chain_crc=None, data=None)
    for size in range(len(data)):
        try:
            assert file.unchecked(data[:size]) == file.value
        except file.error:
            continue
        assert data[size:].startswith(b"crc32=")


@dledgers
def test_what_is_not_noticed_in_the_files_of_dledger(file: Format) -> None:
    data = (GOLDEN / file.path).read_bytes()
    for at, turned in enumerate(bits(data)):
        try:
            found = file.unchecked(turned)
        except file.error:
            continue
        if found != file.value:
            before = data[: at // 8 + 1]
            assert before[-1:].isdigit() or before.startswith(b"voteLeader=n"[: len(before)])
    for size in range(len(data)):
        with pytest.raises(file.error):
            file.unchecked(data[:size])


def test_the_snapshot_data_is_what_the_meta_says() -> None:
    meta = checked_meta()
    check_snapshot_data(meta, SNAPSHOT_DATA)
    for damaged in (*bits(SNAPSHOT_DATA), *(SNAPSHOT_DATA[:n] for n in range(5)), b"sum=4\0"):
        with pytest.raises(SnapshotError, match="CRC-32"):
            check_snapshot_data(meta, damaged)
        check_snapshot_data(replace(meta, data=None, chain_crc=None), damaged)
    assert meta.point.chain_crc == meta.chain_crc


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the last line has no end"),
        (b"\n", "is none of its lines"),
        (TERM[:-1], "the last line has no end"),
        (b"voteLeader=n0\n", "has no currTerm"),
        (b"currTerm=4\n", "has no voteLeader"),
        (TERM + b"currTerm=4\n", "is none of its lines"),
        (TERM + b"other=4\n", "is none of its lines"),
        (TERM + b"#comment\n", "is none of its lines"),
        (TERM + b"crc32=1\n", "is not the checksum"),
        (TERM.replace(b"\n", b"\r\n"), "is none of its lines"),
        (TERM.replace(b"=4", b"=-1"), "currTerm is '-1'"),
        (TERM.replace(b"=4", b"=04"), "currTerm is '04'"),
        (TERM.replace(b"=4", b"=+4"), "currTerm is"),
        (TERM.replace(b"=4", b"="), "currTerm is ''"),
        (TERM.replace(b"=4", b"=9223372036854775808"), "currTerm is"),
        (TERM.replace(b"n0", b"n\\u0030"), "is none of its lines"),
        (TERM.replace(b"n0", "n\u00e9".encode()), "is none of its lines"),
        (TERM + b"\n" * LINES_MAX, "over 4096"),
    ],
)
def test_a_hostile_term_file_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(TermFileError, match=reason):
        decode_term_file(data, accept_unchecked=True)


def test_the_order_of_lines_is_a_hash_table_s() -> None:
    assert decode_term_file(b"currTerm=4\nvoteLeader=n0\n", accept_unchecked=True) == CHECKED_TERM
    nobody = decode_term_file(b"currTerm=0\nvoteLeader=\n", accept_unchecked=True)
    assert nobody == TermAndVote()


@pytest.mark.parametrize(("end", "committed"), [("-2", "-1"), ("3", "4"), ("3", "x")])
def test_a_checkpoint_that_cannot_be_is_refused(end: str, committed: str) -> None:
    data = f"committedIndex={committed}\nendIndex={end}\n".encode()
    with pytest.raises(CheckpointError, match="Index is"):
        decode_checkpoint(data, accept_unchecked=True)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{}", "lastIncludedIndex"),
        (b"[]", "not an object"),
        (b'{"lastIncludedIndex":2}', "lastIncludedTerm"),
        (b'{"lastIncludedIndex":"2","lastIncludedTerm":0}', "not an integer"),
        (b'{"lastIncludedIndex":2,"lastIncludedTerm":-1}', "lastIncludedTerm"),
        (b'{"lastIncludedIndex":3,"lastIncludedTerm":0}', "in the folder of 2"),
        (b'{"lastIncludedIndex":2,"lastIncludedTerm":0}' + b" " * 4096, "over 4096"),
        (b'{"crc32":1,"lastIncludedIndex":2,"lastIncludedTerm":0}', "lastIncludedChainCrc"),
    ],
)
def test_a_hostile_meta_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(SnapshotError, match=reason):
        decode_snapshot_meta(data, index=LogIndex(2), accept_unchecked=True)


def test_what_cannot_be_is_not_written() -> None:
    for kept in (
        TermAndVote(curr_term=Term(-1)),
        TermAndVote(vote_leader=""),
        TermAndVote(vote_leader="a b"),
        TermAndVote(vote_leader="\u00e9"),
        TermAndVote(curr_term=Term(2**63)),
        TermAndVote(curr_term=Term(3), refill_term=Term(4)),
        TermAndVote(refill_term=Term(-2)),
    ):
        with pytest.raises(EncodingError):
            encode_term_file(kept)
    with pytest.raises(EncodingError, match="4 of 3 entries"):
        encode_checkpoint(Checkpoint(end_index=LogIndex(3), committed_index=LogIndex(4)))
    meta = checked_meta()
    for wrong in (
        replace(meta, last_included_index=LogIndex(-1)),
        replace(meta, chain_crc=None),
        replace(meta, data=None),
    ):
        with pytest.raises(EncodingError):
            encode_snapshot_meta(wrong)


def test_the_name_of_a_folder_is_that_of_its_last_entry() -> None:
    assert snapshot_dir_index("snapshot_0") == 0
    others = ("tmp", "install_tmp", "snapshot_", "snapshot_01", "snapshot_-1", "snapshot_1 ")
    for name in (*others, f"snapshot_{2**63}", "snapshot_\u0663"):
        assert snapshot_dir_index(name) is None


@given(
    st.integers(0, INT64_MAX),
    st.text("abcxyz019_-.=#:!", max_size=9),
    st.booleans(),
    st.integers(-1, INT64_MAX),
)
def test_a_term_file_that_is_written_is_read(
    term: int, vote: str, checked: bool, refill: int
) -> None:
    kept = TermAndVote(
        curr_term=Term(term), vote_leader=vote or None, refill_term=Term(min(refill, term))
    )
    data = encode_term_file(kept, checked=checked)
    assert decode_term_file(data, accept_unchecked=not checked) == kept


@given(st.tuples(st.integers(-1, INT64_MAX), st.integers(-1, INT64_MAX)).map(sorted))
def test_a_checkpoint_that_is_written_is_read(numbers: list[int]) -> None:
    kept = Checkpoint(committed_index=LogIndex(numbers[0]), end_index=LogIndex(numbers[1]))
    assert decode_checkpoint(encode_checkpoint(kept)) == kept


@given(
    st.integers(0, INT64_MAX),
    st.integers(0, INT64_MAX),
    st.integers(INT32_MIN, INT32_MAX),
    st.binary(max_size=20),
)
def test_a_meta_that_is_written_is_read(index: int, term: int, chain: int, data: bytes) -> None:
    assert snapshot_dir_index(snapshot_dir(LogIndex(index))) == index
    meta = SnapshotMeta(
        last_included_index=LogIndex(index),
        last_included_term=Term(term),
        chain_crc=chain,
        data=data_sum(data),
    )
    assert decode_snapshot_meta(encode_snapshot_meta(meta), index=LogIndex(index)) == meta
    assert meta.data == DataSum(SizeBytes(len(data)), meta.data.crc32 if meta.data else 0)


@given(st.binary(max_size=60) | st.text("crutmveLad=\n0123456789", max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for file in formats("original"):
        try:
            file.unchecked(data)
        except file.error:
            continue


def test_a_log_that_was_thrown_away_is_a_line_that_others_do_not_have() -> None:
    kept = TermAndVote(curr_term=Term(4), refill_term=Term(0))
    unchecked = encode_term_file(kept, checked=False)
    assert unchecked == b"voteLeader=\ncurrTerm=4\nrefillTerm=0\n"
    assert b"refillTerm" not in encode_term_file(replace(kept, refill_term=Term(-1)))
    for wrong, reason in (
        (b"refillTerm=5", "not in 0 .. 4"),
        (b"refillTerm=-1", "not in 0 .. 4"),
        (b"refillTerm=", "not in 0 .. 4"),
        (b"refillTerms=0", "none of its lines"),
        (b"refillTerm=0\nrefillTerm=0", "none of its lines"),
    ):
        data = unchecked.replace(b"refillTerm=0", wrong)
        with pytest.raises(TermFileError, match=reason):
            decode_term_file(data, accept_unchecked=True)
