"""What brokers say to each other and to their name server, as PreOnlineMessages asks it.

| on the wire                                             | in the specification         |
|---------------------------------------------------------|------------------------------|
| REGISTER_BROKER                                         | SendRegistration             |
| BROKER_HEARTBEAT                                        | SendHeartbeat                |
| GET_ALL_CONSUMER_OFFSET, GET_ALL_DELAY_OFFSET,          | AskCopy of a slave, AskTable |
| of the trace's table                                    | of the master                |
| EXCHANGE_BROKER_HA_INFO, of the master                  | TellHaInfo                   |
| the answer with a table; a refusal                      | GiveTable; GiveNoTable       |
| SUCCESS as the answer to EXCHANGE_BROKER_HA_INFO        | TakeHaInfo                   |
| no answer to these two, or another one                  | Unanswered                   |
| the answer to GET_BROKER_MEMBER_GROUP, heard by a slave | TakeGroup                    |
| a table, heard by a slave, of the trace's kind          | TakeCopy                     |

What else is in a request, such as addresses, is no part of the specification's state: that it is
complete is left to the obligations. So are answers to consumers, who keep no records.

Source: broker/out `BrokerOuterAPI`, broker/processor `AdminBrokerProcessor`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.name_server_codec import pull_name_server_reply
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import TableKind, pull_offsets
from rocketha.obligations.seen import answer_in
from rocketha.recording.record import RESPONSE, RecordError, SentMessage
from rocketproof.protocols.pre_online.seen import saved_seen
from rocketproof.protocols.pre_online.world import MASTER
from tlatrace.values import Value, record, tla_set

__all__ = ["SAID", "TABLE_SAID", "SaidOfTable", "Told"]

Told: TypeAlias = tuple[str, tuple[Value, ...]]
"""An action and its parameters."""
TABLE_SAID: Final = frozenset({"GiveTable"})
"""What is right by the table that a broker has when it says it."""
SAID: Final = TABLE_SAID | {
    "TakeCopy",
    "TakeGroup",
    "AskCopy",
    "AskTable",
    "GiveNoTable",
    "SendHeartbeat",
    "SendRegistration",
    "TakeHaInfo",
    "TellHaInfo",
}
"""What is said where it is right; nothing changes by it."""
_GROUP: Final = NameServerCode.GET_BROKER_MEMBER_GROUP
_OWN: Final = {
    NameServerCode.REGISTER_BROKER: "SendRegistration",
    NameServerCode.BROKER_HEARTBEAT: "SendHeartbeat",
}


class SaidOfTable:
    """Reads what is said in the trace of a table."""

    def __init__(
        self, kind: TableKind, queues: Sequence[str], number: Callable[[str], int]
    ) -> None:
        """Take what knows the broker that has an address, and raises RecordError of others."""
        self._kind = kind
        self._queues = queues
        self._number = number
        self._questions: dict[str, int] = {}
        """Of slaves: what a question is called, and its code."""

    def broker_says(
        self, broker: int, received: Sequence[SentMessage], sent: Sequence[SentMessage]
    ) -> Iterator[Told]:
        """Yield what a broker says in a step. Raises: RecordError"""
        answers = {message.id: message for message in sent if message.id.endswith(RESPONSE)}
        for message in received:
            if message.id.endswith(RESPONSE):
                yield from self._hears(broker, message)
            else:
                yield from self._answers(broker, message, answers.get(message.id + RESPONSE))
        for message in sent:
            if not message.id.endswith(RESPONSE):
                if broker != MASTER and message.code in (_GROUP, self._kind.code):
                    self._questions[message.id] = message.code
                yield from self._asks(broker, message)

    def _hears(self, slave: int, answer: SentMessage) -> Iterator[Told]:
        code = self._questions.pop(answer.id.removesuffix(RESPONSE), None)
        if code is None or answer.code != BrokerResponse.SUCCESS:
            return
        if code == self._kind.code:
            yield "TakeCopy", (slave, *self._given(answer))
        elif group := self._members(answer):
            yield "TakeGroup", (slave, tla_set(group))

    def _members(self, answer: SentMessage) -> list[int]:
        try:
            found = pull_name_server_reply(answer_in(answer), _GROUP).answer
        except (PacketError, RequestError) as error:
            raise RecordError(f"a group that is none: {error}") from error
        return sorted(map(int, found.addresses)) if isinstance(found, BrokerMemberGroup) else []

    def _asks(self, broker: int, message: SentMessage) -> Iterator[Told]:
        code = message.code
        if code in _OWN:
            yield _OWN[NameServerCode(code)], (broker,)
        elif code == self._kind.code and broker != MASTER:
            yield "AskCopy", (broker,)
        elif code == self._kind.code:
            yield "AskTable", (self._number(message.to or ""),)
        elif code == BrokerCode.EXCHANGE_BROKER_HA_INFO:
            yield "TellHaInfo", (self._number(message.to or ""),)

    def _answers(
        self, broker: int, request: SentMessage, answer: SentMessage | None
    ) -> Iterator[Told]:
        code = None if answer is None else answer.code
        match request.code:
            case self._kind.code if answer is not None and code == BrokerResponse.SUCCESS:
                yield "GiveTable", (broker, *self._given(answer))
            case self._kind.code if code == BrokerResponse.SYSTEM_ERROR:
                yield "GiveNoTable", (broker,)
            case BrokerCode.EXCHANGE_BROKER_HA_INFO if code == BrokerResponse.SUCCESS:
                yield "TakeHaInfo", (broker,)
            case self._kind.code | BrokerCode.EXCHANGE_BROKER_HA_INFO:
                yield "Unanswered", (broker,)
            case _:
                pass

    def _given(self, answer: SentMessage) -> tuple[Value, Value]:
        try:
            given = saved_seen(pull_offsets(self._kind, (answer.body or "").encode()))
        except PacketError as error:
            raise RecordError(f"a table that is none: {error}") from error
        return record({**dict.fromkeys(self._queues, 0), **given.offsets}), given.version
