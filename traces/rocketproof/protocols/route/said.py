"""What brokers and name servers say to each other, as Route asks whether it is right.

| on the wire                                       | in the specification         |
|---------------------------------------------------|------------------------------|
| the answer to REGISTER_BROKER, its `masterAddr`   | AnswerRegistration           |
| the answer to GET_BROKER_MEMBER_GROUP             | AnswerMembers                |
| NOTIFY_MIN_BROKER_ID_CHANGE                       | TellSmallest                 |
| UNREGISTER_BROKER, and where it was sent          | EndRegistration, EndAll      |
| no answer to the first two, or one of an error    | LeaveUnanswered              |

Source: broker `BrokerOuterAPI`, namesrv `DefaultRequestProcessor`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import pull_name_server_reply, pull_notification
from rocketha.formats.name_server_codes import (
    RELEASE_5_3_3,
    NameServerCode,
    NameServerResponse,
)
from rocketha.formats.name_server_requests import NotifyMinBrokerIdChange, RegisterBrokerResult
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.recording.record import RESPONSE, RecordError
from rocketproof.protocols.route.seen import Message
from tlatrace.values import Value, record, tla_set

__all__ = ["SAID", "SaidOfRoutes", "Told", "command_of", "notice_of", "read_frame"]

T = TypeVar("T")

Told: TypeAlias = tuple[str, tuple[Value, ...]]
"""An action and its parameters."""
SAID: Final = frozenset(
    {"AnswerMembers", "AnswerRegistration", "EndAll", "EndRegistration", "TellSmallest"}
)
"""What is said where it is right; nothing changes by it."""
_ANSWERED: Final = frozenset(
    {NameServerCode.REGISTER_BROKER, NameServerCode.GET_BROKER_MEMBER_GROUP}
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request of a broker: as what it registers, where it does."""

    code: NameServerCode
    broker: int
    broker_id: int


class SaidOfRoutes:
    """Follows requests until they are answered."""

    def __init__(self, number: Callable[[str], int]) -> None:
        """Take what knows the broker that has an address, and raises RecordError of others."""
        self._number = number
        self._asked: dict[str, _Asked] = {}

    def broker_says(self, broker: int, sent: Iterable[Message]) -> Iterator[Told]:
        """Yield what a broker says with the frames of a step. Raises: RecordError"""
        ended: set[str] = set()
        for message in sent:
            if message.to is None:
                continue
            if message.code in _ANSWERED:
                broker_id = message.fields.get("brokerId", "0")
                code = NameServerCode(message.code)
                self._asked[message.id] = _Asked(code, broker, _whole(broker_id))
            elif message.code == NameServerCode.UNREGISTER_BROKER:
                ended.add(message.to)
                broker_id = message.fields.get("brokerId", "")
                yield "EndRegistration", (broker, message.to, _whole(broker_id))
        if ended:
            yield "EndAll", (broker, tla_set(sorted(ended)))

    def server_says(
        self, name: str, received: Iterable[str], sent: Sequence[Message]
    ) -> Iterator[Told]:
        """Yield what a name server says in a step. Raises: RecordError"""
        replies = {message.id: message for message in sent if message.to is None}
        for arrived in received:
            asked = self._asked.pop(arrived, None)
            if asked is None:
                continue
            reply = replies.get(arrived + RESPONSE)
            if reply is None or reply.code != NameServerResponse.SUCCESS:
                yield "LeaveUnanswered", (name,)
            else:
                yield from self._answer(name, asked, reply)
        for message in sent:
            if message.code == NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE:
                yield self._tell(name, message)

    def _answer(self, name: str, asked: _Asked, reply: Message) -> Iterator[Told]:
        answer = read_frame(
            lambda command: pull_name_server_reply(command, asked.code), reply
        ).answer
        match answer:
            case RegisterBrokerResult(master_address=master):
                told = tla_set([] if master is None else [self._number(master)])
                yield "AnswerRegistration", (name, asked.broker, asked.broker_id, told)
            case BrokerMemberGroup(addresses=addresses):
                found = tla_set(
                    record({"id": int(broker_id), "b": self._number(address)})
                    for broker_id, address in addresses.items()
                )
                yield "AnswerMembers", (name, found)
            case _:
                yield "LeaveUnanswered", (name,)

    def _tell(self, name: str, message: Message) -> Told:
        notice = notice_of(message)
        gone = notice.offline_broker_address
        assert message.to is not None
        assert notice.min_broker_id is not None
        return "TellSmallest", (
            name,
            self._number(message.to),
            int(notice.min_broker_id),
            self._number(notice.min_broker_address or ""),
            tla_set([] if gone is None else [self._number(gone)]),
        )


def notice_of(message: Message) -> NotifyMinBrokerIdChange:
    """Read what a broker is told of the smallest brokerId. Raises: RecordError"""
    notice = read_frame(pull_notification, message)
    if message.to is None or notice.min_broker_id is None:
        raise RecordError(f"message {message.id} tells nobody of a brokerId")
    return notice


def read_frame(pull: Callable[[RemotingCommand], T], message: Message) -> T:
    """Read a frame that a node has sent. Raises: RecordError"""
    try:
        return pull(command_of(message))
    except (PacketError, RequestError) as error:
        raise RecordError(f"a frame that is none: {error}") from error


def command_of(message: Message) -> RemotingCommand:
    """Return a message as it went over the wire."""
    body = message.body
    return RemotingCommand(
        code=message.code or 0,
        opaque=0,
        version=RELEASE_5_3_3,
        ext_fields=message.fields,
        body=body.encode() if isinstance(body, str) else body or b"",
    )


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise RecordError(f"brokerId: {text!r} is no number") from None
