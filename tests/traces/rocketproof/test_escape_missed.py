"""What is missed of a slave that acts, of masters and a producer is no behaviour of Escape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.escape.events import CheckDue, PersistDue, PoppedHere, ReviveDue, RouteDue, ServeDue
from rocketha.escape.master import MasterCore
from rocketha.escape.producer import ProducerCore
from rocketha.escape.slave import SlaveCore
from rocketha.formats.broker_requests import BrokerResponse
from rocketha.recording.record import RecordError
from rocketha.runtime.effects import RequestFlush, Respond, SendOneWay
from rocketha.runtime.events import LogFlushed, RequestArrived, ResponseArrived
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from tests.impl.escape.omissions import (
    accepts_at_once,
    counts_one_more,
    denies_pops,
    drops_the_table_of_consumers,
    gives_without_a_check_point,
    learns_nothing,
    leaves_a_place_free,
    leaves_signs_unanswered,
    never_acts,
    puts_again_at_once,
    puts_half_messages_as_others,
    refuses_acks,
    takes_no_end,
    waits_for_what_is_answered,
)
from tests.impl.omissions import Patch, changes, drops, sleeps
from tests.source_files import ROOT
from tests.traces.rocketproof.recorded_runs import judged, recorded, with_settings
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.trace import Trace

PROTOCOL: Final = "escape"


def _denies_acks(event: Any, one: Any) -> Any:
    is_ack = isinstance(event, ResponseArrived) and isinstance(one, Respond) and not one.body
    return replace(one, code=BrokerResponse.SYSTEM_ERROR) if is_ack else one


SEEDS: Final = range(6)
OMISSIONS: Final[dict[str, Patch]] = {
    "NoAsk": sleeps(SlaveCore, RouteDue, when=lambda state: state.acts),
    "NoLearn": learns_nothing,
    "NoAct": never_acts,
    "NoPut": sleeps(SlaveCore, ServeDue),
    "PutPart": changes(SlaveCore, puts_half_messages_as_others),
    "PutEarly": puts_again_at_once,
    "NoSave": sleeps(SlaveCore, PersistDue),
    "NoKeep": changes(SlaveCore, drops_the_table_of_consumers),
    "LeaveConsumer": drops(SlaveCore, Respond, after=ResponseArrived),
    "GiveUnheld": gives_without_a_check_point,
    "GivePart": changes(SlaveCore, counts_one_more),
    "NoSign": changes(MasterCore, leaves_signs_unanswered),
    "RefuseAck": refuses_acks,
    "Deny": denies_pops,
    "SkipAck": accepts_at_once,
    "WaitFor": waits_for_what_is_answered,
    "NoPlace": changes(MasterCore, leaves_a_place_free),
    "NoFlush": drops(MasterCore, RequestFlush, after=PoppedHere),
    "NoAnswer": drops(MasterCore, Respond, after=LogFlushed),
    "NoCheck": sleeps(MasterCore, CheckDue),
    "NoRevive": sleeps(MasterCore, ReviveDue),
    "NoWord": drops(ProducerCore, SendOneWay),
    "NoRefusal": drops(ProducerCore, Respond, after=RequestArrived),
}


def traces_of(seed: int) -> tuple[Trace, ...]:
    options = SimOptions()
    scheduled = Scheduled(protocol=PROTOCOL, seed=seed, options=options, schedule=UNRESTRICTED)
    return PROTOCOLS[PROTOCOL].recorded_traces(scheduled)


@pytest.mark.parametrize("action", OMISSIONS)
def test_what_is_missed_is_no_behaviour(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    OMISSIONS[action](monkeypatch)

    assert any(
        isinstance(one, Diverges) and one.action == action
        for seed in SEEDS
        for one in judged(traces_of(seed))
    )


def test_an_ack_that_is_refused_though_a_master_has_it_is_no_behaviour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes(SlaveCore, _denies_acks)(monkeypatch)

    def diverging() -> Iterator[tuple[str | None, object]]:
        for denied in map(traces_of, SEEDS):
            for trace, one in zip(denied, judged(denied), strict=True):
                if isinstance(one, Diverges) and trace.events[one.step].params:
                    yield one.action, trace.events[one.step].params[-1]

    assert ("Deny", "ack") in diverging()


def test_who_does_not_take_it_that_a_half_message_has_ended_is_no_behaviour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    takes_no_end(monkeypatch)

    verdicts = judged(traces_of(SEEDS[0]))

    assert "NoCheck" in {one.action for one in verdicts if isinstance(one, Diverges)}


def test_correct_runs_miss_nothing() -> None:
    traces = [trace for seed in SEEDS for trace in traces_of(seed)]

    assert all(isinstance(one, Conforms) for one in judged(traces))
    assert not (OMISSIONS.keys() - {"RefuseAck"}) & {
        event.action for trace in traces for event in trace.events
    }


def test_all_that_may_be_missed_stands_in_the_text_and_changes_nothing() -> None:
    text = (ROOT / "spec" / "escape" / "Escape.tla").read_text("utf-8")
    _, _, missed = text.partition("\\* ---- What is missed ----")
    missed, _, after = missed.partition("Next ==")

    assert missed.count(" /\\ UNCHANGED vars\n") == len(OMISSIONS)
    for action in OMISSIONS:
        assert f"\n{action}" in missed
        assert action not in after, "finite models leave it out"


def test_settings_without_a_period_are_an_error() -> None:
    logs = recorded(PROTOCOL, 0).logs
    broken = with_settings(logs, "b2", route_ms="soon")

    with pytest.raises(RecordError, match="what nodes owe cannot be told"):
        PROTOCOLS[PROTOCOL].traces_of_records(broken)
