"""A slave that acts, for its tests: how it is set up, what it is told, and what it does."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rocketha.acting.state import ActingOptions
from rocketha.escape.events import ServeDue, SlaveEvent
from rocketha.escape.slave import SlaveCore, fresh
from rocketha.escape.state import SlaveOptions, SlaveState
from rocketha.formats.broker_requests import BrokerResponse, QueueName
from rocketha.formats.due_messages import (
    committed,
    delayed,
    half,
    op_message,
)
from rocketha.formats.message import (
    Message,
    Record,
    RecordCheck,
    properties_of,
    properties_text,
    pull_record,
)
from rocketha.formats.offset_tables import OffsetTable, TableKind
from rocketha.formats.put_requests import (
    AckMessage,
    PopMessage,
    PutCode,
    push_ack_message,
    push_pop_message,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import After, Respond, SendRequest
from rocketha.runtime.events import RequestArrived, ResponseArrived
from rocketha.types import BrokerId, Offset, RequestId, SizeBytes, TimestampMs

CORE = SlaveCore()
NOW = TimestampMs(100_000)
MASTERS = {"group-b11": BrokerId(11), "group-b12": BrokerId(12)}
DELAYED, HALVES = 0, 1
ROOM = SizeBytes(1 << 20)


def message(key: str, topic: str = "bills", stored_ms: int = 0) -> Message:
    return Message(
        topic=topic,
        body=key.encode(),
        store_timestamp_ms=TimestampMs(stored_ms),
        properties=properties_text({"UNIQ_KEY": key, "PGROUP": "shop"}),
    )


def prepared(key: str) -> Message:
    of = message(key)
    return half(replace(of, properties=of.properties + "TRAN_MSG\x01true\x02"))


LOG = (
    message("m1", "orders"),
    message("m2", "orders"),
    *(delayed(message(f"d{at}", stored_ms=90_000 + at), 3) for at in (0, 1, 2)),
    prepared("h1"),
    prepared("h2"),
    committed(prepared("h1")),
    op_message((0,)),
)


def options(**changes: Any) -> SlaveOptions:
    acting = ActingOptions(
        cluster_name="cluster",
        broker_name="group-b2",
        address="b2",
        own_id=BrokerId(2),
        ha_address="b2:ha",
        name_servers=(BrokerId(201),),
        topics=MappingProxyType({}),
        acting=True,
    )
    values: dict[str, Any] = {
        "acting": acting,
        "masters": MASTERS,
        "enable_remote_escape": True,
        "topic": "orders",
        "consumers": "audit",
    }
    return SlaveOptions(**{**values, **changes})


def slave(files: dict[TableKind, OffsetTable | None] | None = None, **changes: Any) -> SlaveState:
    """Return a slave that acts, and knows both masters."""
    state = fresh(options(**changes), LOG, files or {}, now_ms=NOW)
    return replace(state, acts=True, known=frozenset(MASTERS))


def step(state: SlaveState, event: SlaveEvent, now_ms: int = NOW) -> tuple[SlaveState, list[Any]]:
    done = CORE.step(state, event, now_ms=TimestampMs(now_ms))
    return done.state, [one for one in done.effects if not isinstance(one, After)]


def answered(request: SendRequest, code: int | None = BrokerResponse.SUCCESS) -> ResponseArrived:
    command = None if code is None else RemotingCommand(code=code, opaque=1)
    return ResponseArrived(reference=request.reference, command=command)


def serve(state: SlaveState, service: int, now_ms: int = NOW) -> tuple[SlaveState, list[Any]]:
    return step(state, ServeDue(service), now_ms)


def keys(effects: list[Any]) -> list[str]:
    return [properties_of(one.ext_fields["i"])["UNIQ_KEY"] for one in effects]


def asked(code: int, fields: Any, request: int = 1) -> RequestArrived:
    command = RemotingCommand(code=code, opaque=1, ext_fields=dict(fields))
    return RequestArrived(request=RequestId(request), command=command)


QUEUE = QueueName(topic="orders", queue_id=0)
POP = asked(
    PutCode.POP_MESSAGE,
    push_pop_message(PopMessage(group="audit", queue=QUEUE, invisible_ms=500, born_ms=NOW)),
)


def popped(state: SlaveState) -> tuple[SlaveState, str, SendRequest]:
    """Let a consumer pop; return what it is to give back, and the put of the check point."""
    state, (put,) = step(state, POP)
    state, effects = step(state, answered(put))
    says = effects[-1]
    assert isinstance(says, Respond)
    assert says.code == BrokerResponse.SUCCESS
    record = pull_record(
        says.body, offset=Offset(0), room=SizeBytes(1 << 20), check=RecordCheck.BODY
    )
    assert isinstance(record, Record)
    return state, properties_of(record.message.properties)["POP_CK"], put


def ack(extra_info: str) -> RequestArrived:
    says = AckMessage(group="audit", queue=QUEUE, offset=0, extra_info=extra_info)
    return asked(PutCode.ACK_MESSAGE, push_ack_message(says), 2)
