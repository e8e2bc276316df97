"""Members of a DLedger group that do not do at once what they must, or do it too soon."""

from __future__ import annotations

from typing import Any

import pytest

from rocketha.dledger import entry_dispatcher, node, transfer, votes
from rocketha.dledger.push_state import PusherStepped
from rocketha.dledger.state import ElectorStepped
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged, recorded
from tlatrace.judgement.verdict import Diverges

PLUG = PROTOCOLS["dledger"]


def waits_for_all(state: Any, round_: Any) -> bool:
    """Let a round go on until everybody has answered."""
    return len(round_.answers) == len(state.config.peers)


@pytest.mark.java
@pytest.mark.parametrize(
    ("action", "seed", "module", "function", "otherwise"),
    [
        ("LeaveBehind", 9, entry_dispatcher, "last_of_term", lambda *_: -1),
        ("KeepRound", 0, votes, "_decided", waits_for_all),
        ("StayFollower", 2, transfer, "_take_when_ready", lambda s, *_, **__: ElectorStepped(s)),
        ("SaveLate", 0, node, "save_snapshot", lambda state, _: PusherStepped(state)),
        ("RepeatEarly", 0, entry_dispatcher, "_after_error", lambda dispatcher, _: dispatcher),
    ],
)
def test_what_is_not_done_at_once_or_too_soon_is_no_behaviour(
    action: str,
    seed: int,
    module: Any,
    function: str,
    otherwise: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, function, otherwise)
    run = recorded.__wrapped__("dledger", seed)

    (verdict,) = judged([PLUG.trace_of_records(run.logs)])

    assert isinstance(verdict, Diverges)
    assert verdict.action == action
