"""The epoch cache by tables: entries are written `epoch@start..end`, `*` is no end."""

from __future__ import annotations

import pytest

from rocketha.epoch.cache import NOTHING_KNOWN, EpochCache, recover_epochs
from rocketha.epoch.consistent_point import consistent_point
from rocketha.known_bugs import NO_BUGS, Bug
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.types import UNBOUNDED, Epoch, EpochEntry, Offset, chain_epochs


def cache(text: str) -> EpochCache:
    """Read `1@0 2@100`: epochs and their starts."""
    pairs = [entry.split("@") for entry in text.split()]
    return EpochCache(chain_epochs([(Epoch(int(e)), Offset(int(s))) for e, s in pairs]))


def text_of(of: EpochCache) -> str:
    """Write `1@0..100 2@100..*`."""
    return " ".join(_entry_text(entry) for entry in of.entries)


def _entry_text(entry: EpochEntry | None) -> str:
    if entry is None:
        return "none"
    end = "*" if entry.end_offset == UNBOUNDED else str(entry.end_offset)
    return f"{entry.epoch}@{entry.start_offset}..{end}"


@pytest.mark.parametrize(
    ("before", "epoch", "start", "after"),
    [
        ("", 1, 0, "1@0..*"),
        ("", 3, 50, "3@50..*"),
        ("1@0", 2, 100, "1@0..100 2@100..*"),
        ("1@0", 2, 0, "2@0..*"),
        ("1@0 2@100", 3, 100, "1@0..100 3@100..*"),
        ("1@0 2@100", 7, 101, "1@0..100 2@100..101 7@101..*"),
        ("1@0 2@100 3@200", 4, 100, "1@0..100 4@100..*"),
        ("1@0 2@100 3@200", 4, 0, "4@0..*"),
    ],
    ids=[
        "the first",
        "the first, in the middle of a log",
        "the next",
        "instead of an empty first one",
        "instead of an empty last one",
        "one byte later",
        "instead of two",
        "instead of all",
    ],
)
def test_an_epoch_without_records_gives_way_to_the_next(
    before: str, epoch: int, start: int, after: str
) -> None:
    """Mirrors the empty-epoch cases of Kafka's LeaderEpochFileCache (KAFKA-10706)."""
    assert text_of(cache(before).append_epoch(Epoch(epoch), Offset(start))) == after


@pytest.mark.parametrize(
    ("before", "epoch", "start", "after"),
    [
        ("1@0", 2, 0, "1@0..*"),
        ("1@0 2@100", 3, 100, "1@0..100 2@100..*"),
        ("1@0 2@100", 2, 200, "1@0..100 2@100..*"),
        ("1@0 2@100", 3, 101, "1@0..100 2@100..101 3@101..*"),
    ],
)
def test_b03_refuses_an_epoch_where_the_empty_one_began(
    before: str, epoch: int, start: int, after: str
) -> None:
    rules = ha_rules(frozenset({Bug.B03}))
    with_bug = rules.append_epoch(cache(before), Epoch(epoch), Offset(start))
    assert text_of(with_bug) == after


@pytest.mark.parametrize(
    ("before", "offset", "after"),
    [
        ("", 0, ""),
        ("1@0 2@100 3@200", 300, "1@0..100 2@100..200 3@200..*"),
        ("1@0 2@100 3@200", 201, "1@0..100 2@100..200 3@200..*"),
        ("1@0 2@100 3@200", 200, "1@0..100 2@100..*"),
        ("1@0 2@100 3@200", 150, "1@0..100 2@100..*"),
        ("1@0 2@100 3@200", 1, "1@0..*"),
        ("1@0 2@100 3@200", 0, ""),
        ("5@40 6@50", 40, ""),
    ],
)
def test_truncation_by_offset_drops_what_begins_there_or_later(
    before: str, offset: int, after: str
) -> None:
    assert text_of(cache(before).truncate_suffix_by_offset(Offset(offset))) == after


@pytest.mark.parametrize(
    ("before", "epoch", "after"),
    [
        ("", 1, ""),
        ("1@0 2@100 4@200", 5, "1@0..100 2@100..200 4@200..*"),
        ("1@0 2@100 4@200", 4, "1@0..100 2@100..*"),
        ("1@0 2@100 4@200", 3, "1@0..100 2@100..*"),
        ("1@0 2@100 4@200", 1, ""),
    ],
)
def test_truncation_by_epoch_drops_that_one_and_newer_ones(
    before: str, epoch: int, after: str
) -> None:
    assert text_of(cache(before).truncate_suffix_by_epoch(Epoch(epoch))) == after


def test_b04_leaves_the_old_end_on_the_new_last_entry() -> None:
    rules = ha_rules(frozenset({Bug.B04}))
    before = cache("1@0 2@100 3@200")

    by_offset = rules.truncate_suffix_by_offset(before, Offset(200))
    by_epoch = rules.truncate_suffix_by_epoch(before, Epoch(3))

    assert text_of(by_offset) == text_of(by_epoch) == "1@0..100 2@100..200"
    assert by_offset.find_epoch_entry_by_offset(Offset(200)) is None
    right = before.truncate_suffix_by_offset(Offset(200))
    assert _entry_text(right.find_epoch_entry_by_offset(Offset(200))) == "2@100..*"


@pytest.mark.parametrize(
    ("of", "offset", "found"),
    [
        ("", 0, "none"),
        ("1@0", 0, "1@0..*"),
        ("1@0", 10**12, "1@0..*"),
        ("1@0 2@100 3@200", 99, "1@0..100"),
        ("1@0 2@100 3@200", 100, "2@100..200"),
        ("1@0 2@100 3@200", 199, "2@100..200"),
        ("1@0 2@100 3@200", 200, "3@200..*"),
        ("5@40 6@50", 39, "none"),
        ("5@40 6@50", 40, "5@40..50"),
    ],
)
def test_an_offset_belongs_to_the_entry_around_it(of: str, offset: int, found: str) -> None:
    assert _entry_text(cache(of).find_epoch_entry_by_offset(Offset(offset))) == found


@pytest.mark.parametrize(
    ("own", "own_end", "others", "others_end", "point"),
    [
        ("", 0, "1@0", 100, 0),
        ("", 70, "1@0", 100, 0),
        ("1@0", 100, "", 0, 0),
        ("1@0", 100, "1@0", 100, 100),
        ("1@0", 100, "1@0", 60, 60),
        ("1@0", 60, "1@0", 100, 60),
        ("1@0", 100, "2@0", 100, 0),
        ("1@0 2@100", 150, "1@0 3@100", 150, 100),
        ("1@0 2@100", 150, "1@0 3@80", 150, 80),
        ("1@0 2@80", 150, "1@0 3@100", 150, 80),
        ("1@0 2@100 3@200", 250, "1@0 2@100 4@180", 300, 180),
        ("1@0 2@100 3@200", 250, "1@0 3@200", 300, 250),
        ("1@0 2@100", 100, "1@0 2@100", 180, 100),
        ("1@0 2@100", 180, "1@0 2@100", 100, 100),
        ("1@0 5@100", 180, "1@0 2@50 3@60 4@70", 100, 50),
        ("1@0 2@100 3@150", 180, "1@0 4@120", 300, 100),
        ("3@500", 600, "1@0 2@100 3@500", 550, 550),
    ],
    ids=[
        "the slave has nothing",
        "the slave has records without epochs",
        "the master has nothing",
        "equal",
        "the master is shorter",
        "the slave is shorter",
        "no epoch is common",
        "the last epochs differ",
        "the master's common epoch ends earlier",
        "the slave's common epoch ends earlier",
        "two common epochs",
        "an epoch that the other never saw",
        "the slave has the common epoch without records",
        "the master has the common epoch without records",
        "the master has three more",
        "the slave has two more",
        "a log that begins in the middle",
    ],
)
def test_logs_agree_up_to_the_nearer_end_of_the_last_common_epoch(
    own: str, own_end: int, others: str, others_end: int, point: int
) -> None:
    found = consistent_point(cache(own), Offset(own_end), cache(others), Offset(others_end))
    assert found == point


def test_min_end_takes_the_own_end() -> None:
    own, others = cache("1@0 2@100"), cache("1@0 3@80")
    rules = ha_rules(frozenset({Bug.MIN_END}))
    assert consistent_point(own, Offset(150), others, Offset(150), rules) == 100


@pytest.mark.parametrize(("bugs", "point"), [(NO_BUGS, 60), (frozenset({Bug.B83}), 300)])
def test_b83_takes_the_masters_end_for_a_log_that_lost_its_last_epoch(
    bugs: frozenset[Bug], point: int
) -> None:
    own, others = cache("1@0 2@100"), cache("1@0 2@100")
    rules = ha_rules(bugs)
    recovered = rules.recover_epochs(own, Offset(60))
    assert consistent_point(recovered, Offset(60), others, Offset(300), rules) == point


@pytest.mark.parametrize(
    ("before", "log_end", "after"),
    [
        ("", 0, ""),
        ("1@0 2@100 3@200", 250, "1@0..100 2@100..200 3@200..*"),
        ("1@0 2@100 3@200", 200, "1@0..100 2@100..200 3@200..*"),
        ("1@0 2@100 3@200", 199, "1@0..100 2@100..*"),
        ("1@0 2@100 3@200", 0, "1@0..*"),
        ("3@200", 0, ""),
    ],
)
def test_recovery_drops_what_begins_behind_the_log(before: str, log_end: int, after: str) -> None:
    assert text_of(recover_epochs(cache(before), Offset(log_end))) == after


def test_b83_keeps_what_begins_behind_the_log() -> None:
    kept = ha_rules(frozenset({Bug.B83})).recover_epochs(cache("1@0 2@100"), Offset(60))
    assert text_of(kept) == "1@0..100 2@100..*"


def test_an_empty_cache_knows_no_epoch() -> None:
    assert cache("").last_epoch == NOTHING_KNOWN
    assert cache("4@0 9@1").last_epoch == 9
    assert cache("4@0 9@1").starts() == ((4, 0), (9, 1))
