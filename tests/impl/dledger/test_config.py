"""The settings of elections: defaults and what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from rocketha.dledger.config import DLedgerConfig
from rocketha.errors import ConfigurationError


def test_the_defaults_are_fine_for_a_node_on_its_own() -> None:
    config = DLedgerConfig()
    assert config.others == ()
    assert config.is_quorum(1)
    assert config.lease_ms == 6_000


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"peers": ("n0", "n0")}, "peers"),
        ({"peers": ("n0", "")}, "peers"),
        ({"peers": ("n1",)}, "selfId"),
        ({"heart_beat_time_interval_ms": 0}, "heartBeatTimeIntervalMs"),
        ({"max_heart_beat_leak": 0}, "maxHeartBeatLeak"),
        ({"min_vote_interval_ms": -1}, "minVoteIntervalMs"),
        ({"max_vote_interval_ms": 300}, "maxVoteIntervalMs"),
        ({"max_take_leadership_vote_interval_ms": 30}, "maxTakeLeadershipVoteIntervalMs"),
        ({"max_leadership_transfer_wait_index": -1}, "maxLeadershipTransferWaitIndex"),
        ({"leadership_transfer_wait_timeout_ms": -1}, "leadershipTransferWaitTimeout"),
        ({"apply_wait_ms": -1}, "applyWaitMs"),
    ],
)
def test_what_cannot_be_is_refused(changed: dict[str, Any], name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name}: "):
        DLedgerConfig(**changed)


@pytest.mark.parametrize(("drawn", "waits"), [(0, 300), (699, 999), (700, 300)])
def test_an_interval_is_drawn_below_its_limit(drawn: int, waits: int) -> None:
    assert DLedgerConfig().vote_interval_ms(drawn, taking=False) == waits


@pytest.mark.parametrize(("members", "needed"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_a_majority_is_of_all_members(members: int, needed: int) -> None:
    config = DLedgerConfig(peers=tuple(f"n{number}" for number in range(members)))
    assert config.is_quorum(needed)
    assert not config.is_quorum(needed - 1)
