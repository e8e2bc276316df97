"""What is to be refused by a slave that acts, masters of other groups and a producer, and how.

| obligation        | by when                                                                      |
|-------------------|------------------------------------------------------------------------------|
| outsiders refused | in the step, with the code that says why, or by saying nothing to what is    |
|                   | sent one way; nothing is stored, appended or sent                            |
| pops refused      | in the step in which it is asked: a consumer by a slave that does not act or |
|                   | knows no master, while another one pops, or when all messages are given;     |
|                   | and for nothing else                                                         |

Source: remoting `NettyRemotingAbstract.processRequestCommand`; broker/processor
`SendMessageProcessor`, `EndTransactionProcessor`, `PopMessageProcessor`, `AckMessageProcessor`;
client/impl `ClientRemotingProcessor.checkTransactionState`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.offset_tables import TableKind
from rocketha.formats.put_requests import PutCode
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, due_in_step
from rocketha.obligations.outsiders import Heard, answered, outsiders_answered
from rocketha.obligations.seen import Seen, seen_of
from rocketha.recording.record import STOPPED

__all__ = ["REFUSALS"]

_POPS: Final = (PutCode.POP_MESSAGE, PutCode.ACK_MESSAGE)
_NOT_SUPPORTED: Final = BrokerResponse.REQUEST_CODE_NOT_SUPPORTED
_NOT_FOUND: Final = BrokerResponse.PULL_NOT_FOUND
_NOT_AVAILABLE: Final = BrokerResponse.SERVICE_NOT_AVAILABLE


def _outsiders_refused(run: RecordedRun) -> Iterator[Due]:
    for kind, wanted in _ANSWERS.items():
        yield from outsiders_answered(run, kind, wanted)


def _of_slave(seen: Seen, asked: Heard) -> dict[str, Any]:
    if asked["code"] not in _POPS:
        return answered(_NOT_SUPPORTED)
    return answered(BrokerResponse.SYSTEM_ERROR if seen.before["acts"] else _NOT_AVAILABLE)


def _of_master(seen: Seen, asked: Heard) -> dict[str, Any] | None:
    del seen
    if asked["code"] == BrokerCode.SEND_MESSAGE_V2:
        return answered(BrokerResponse.MESSAGE_ILLEGAL)
    return None if asked["code"] == PutCode.END_TRANSACTION else answered(_NOT_SUPPORTED)


def _of_producer(seen: Seen, asked: Heard) -> dict[str, Any] | None:
    del seen
    return None if asked["code"] == PutCode.CHECK_TRANSACTION_STATE else answered(_NOT_SUPPORTED)


_ANSWERS: Final = {"slave": _of_slave, "master": _of_master, "producer": _of_producer}


def _pops_refused(run: RecordedRun) -> Iterator[Due]:
    """A consumer that is refused in the step in which it asks has a reason for it, and else none.

    How many messages are given is known by who was told, and after a stop by what is on the disk.
    """
    ((name, settings),) = run.nodes_of("slave").items()
    given, waiting = 0, 0
    for one in seen_of(run, name):
        if one.record.event == STOPPED:
            given, waiting = _given_on_disk(one, settings), 0
        asked = {"is": "ConsumerAsked", "is_ack": False} in one.record.heard
        told = [x for x in one.record.answered if x["is"] == "ConsumerTold" and not x["is_ack"]]
        if asked:
            wanted = _at_once(one, settings, given, waiting)
            code = told[0]["code"] if told else None
            what = f"answer a consumer that pops: {wanted}"
            yield due_in_step(one.record, what, is_done=code == wanted, of="pops")
        waiting += asked - len(told)
        for answer in told:
            if answer["code"] == BrokerResponse.SUCCESS:
                given = int(answer["pop"].split("@")[2]) + 1


def _given_on_disk(stopped: Seen, settings: dict[str, Any]) -> int:
    table = dict(stopped.state["left"])[TableKind.CONSUMER]
    offsets = [] if table is None else table["offsets"]
    return next((at for key, at in offsets if key == settings["popped"]), 0)


def _at_once(seen: Seen, settings: dict[str, Any], given: int, waiting: int) -> int | None:
    """Return with what a consumer that pops is answered at once; None: it is not yet."""
    state = seen.state
    if not state["acts"]:
        return _NOT_AVAILABLE
    if waiting or given >= state["messages"]:
        return _NOT_FOUND
    groups = dict(settings["groups"])
    known = {groups[name] for name in state["known"]}
    targets = known if settings["remote_escape"] else known & set(settings["local"])
    return None if targets else _NOT_AVAILABLE


REFUSALS: Final = (
    Obligation(name="outsiders refused", dues=_outsiders_refused),
    Obligation(name="pops refused", dues=_pops_refused),
)
"""All that is to be refused."""
