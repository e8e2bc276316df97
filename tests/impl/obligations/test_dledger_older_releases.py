"""What members owe that push as releases up to 0.3.2 do: each omission is noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from rocketha.dledger import entry_dispatcher
from rocketha.obligations.dledger import DLEDGER
from rocketha.obligations.obligation import check_obligations
from tests.impl.obligations.test_dledger_obligations import recorded, saying

SEED: Final = 8
"""A run of such a group."""


def test_who_pushes_a_channel_as_older_releases_do_not_is_noticed() -> None:
    run = recorded(SEED)
    assert any(header.settings["legacy_push"] for header in run.headers.values())
    change = saying('"channel":0,', '"channel":-1,', asks=True)

    missed = check_obligations(DLEDGER, replace(run, records=[*map(change, run.records)])).missed

    assert {one.obligation for one in missed} == {"entries as written"}


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ('"beginIndex":0,', '"beginIndex":1,'),
        ('"endIndex":1', '"endIndex":91'),
        ('"count":1,', '"count":2,'),
    ],
)
def test_who_says_of_its_log_what_is_not_so_is_noticed(said: str, instead: str) -> None:
    run = recorded(SEED)
    records = [*map(saying(said, instead), run.records)]

    missed = check_obligations(DLEDGER, replace(run, records=records)).missed

    assert "pushes answered" in {one.obligation for one in missed}


def test_a_leader_of_an_older_release_that_cuts_where_nothing_is_to_be_cut_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entry_dispatcher, "_with_nothing_to_cut", lambda dispatcher, *_: dispatcher)

    missed = check_obligations(DLEDGER, recorded(SEED)).missed

    assert {one.obligation for one in missed} == {"pushes go on"}
