"""What cores of Escape may leave out, for tests of who notices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocketha.escape import master, pops, services, slave
from rocketha.escape.events import Done, PoppedHere
from rocketha.formats.broker_requests import BrokerCode
from rocketha.formats.offset_tables import TableKind
from rocketha.pre_online.events import StoreTable
from rocketha.runtime.effects import AppendMessage, Respond, SendRequest
from rocketha.runtime.events import RequestArrived, ResponseArrived

__all__ = [
    "accepts_at_once",
    "counts_one_more",
    "denies_pops",
    "drops_the_table_of_consumers",
    "gives_without_a_check_point",
    "learns_nothing",
    "leaves_a_place_free",
    "leaves_signs_unanswered",
    "never_acts",
    "puts_again_at_once",
    "puts_half_messages_as_others",
    "refuses_acks",
    "takes_no_end",
    "waits_for_what_is_answered",
]


def gives_without_a_check_point(patch: pytest.MonkeyPatch) -> None:
    """Give a consumer what it pops, whatever the master says of the check point."""
    patch.setattr(pops, "is_put_ok", lambda _: True)


def accepts_at_once(patch: pytest.MonkeyPatch) -> None:
    """Tell a consumer that its ACK is stored, and send it to nobody."""
    accepted: Any = vars(pops)["_accepted"]
    patch.setattr(pops, "acknowledge", lambda state, event, **_: accepted(state, event.request))


def denies_pops(patch: pytest.MonkeyPatch) -> None:
    """Give a consumer nothing, whatever the master says of the check point."""
    patch.setattr(pops, "is_put_ok", lambda _: False)


def never_acts(patch: pytest.MonkeyPatch) -> None:
    """Stay what it is, whatever it hears of its group."""
    whole: Any = vars(slave)["_act"]

    def act(state: Any, event: Any, *, now_ms: Any) -> Any:
        done = whole(state, event, now_ms=now_ms)
        return replace(done, state=replace(done.state, acts=state.acts), action=None)

    patch.setattr(slave, "_act", act)


def learns_nothing(patch: pytest.MonkeyPatch) -> None:
    """Know the masters of before, while it acts, whatever the name server says."""
    whole: Any = vars(slave)["_knows"]

    def knows(state: Any, known: Any) -> Any:
        return Done(state) if state.acts else whole(state, known)

    patch.setattr(slave, "_knows", knows)


def leaves_signs_unanswered(event: Any, one: Any) -> Any:
    """Answer no sign of life of a producer."""
    is_sign = isinstance(event, RequestArrived) and event.command.code == BrokerCode.HEART_BEAT
    return None if is_sign and isinstance(one, Respond) else one


def takes_no_end(patch: pytest.MonkeyPatch) -> None:
    """Append nothing of what a producer says of a half message."""
    patch.setattr(master, "appended_end", lambda state, *_, **__: (state, ()))


def leaves_a_place_free(event: Any, one: Any) -> Any:
    """Give records of a master's own pops the place behind the next one."""
    if not (isinstance(event, PoppedHere) and isinstance(one, AppendMessage)):
        return one
    message = one.message
    return replace(one, message=replace(message, queue_offset=message.queue_offset + 1))


def refuses_acks(patch: pytest.MonkeyPatch) -> None:
    """Know of no master that may have an ACK."""
    patch.setattr(pops, "_takers", lambda *_: [])


def waits_for_what_is_answered(patch: pytest.MonkeyPatch) -> None:
    """Wait for the answer to a put that has come, too, until the next one of the service comes."""
    whole: Any = vars(slave)["heard_put"]

    def heard_put(state: Any, reference: Any, command: Any, *, now_ms: Any) -> Any:
        done, at = whole(state, reference, command, now_ms=now_ms), reference[1]
        waits = replace(done.state.services[at], under=state.services[at].under)
        return replace(done, state=done.state.with_service(at, waits))

    patch.setattr(slave, "heard_put", heard_put)


def puts_half_messages_as_others(event: Any, one: Any) -> Any:
    """Put half messages as those that can be read."""
    del event
    is_put = isinstance(one, SendRequest) and one.code == BrokerCode.SEND_MESSAGE_V2
    return replace(one, ext_fields={**one.ext_fields, "f": "0"}) if is_put else one


def puts_again_at_once(patch: pytest.MonkeyPatch) -> None:
    """Wait for nothing before a record is put again that could not be put."""
    whole = services.due
    patch.setattr(services, "due", lambda service, _, *, now_ms: whole(service, 0, now_ms=now_ms))


def drops_the_table_of_consumers(event: Any, one: Any) -> Any:
    """Write down nothing of what consumers are given."""
    is_consumer = isinstance(one, StoreTable) and one.kind is TableKind.CONSUMER
    return None if is_consumer and isinstance(event, ResponseArrived) else one


def counts_one_more(event: Any, one: Any) -> Any:
    """Say that one more message is left than there is."""
    del event
    if not isinstance(one, Respond) or "restNum" not in one.ext_fields:
        return one
    fields = dict(one.ext_fields)
    return replace(one, ext_fields={**fields, "restNum": str(int(fields["restNum"]) + 1)})
