"""Producers and consumers of a broker: their frames become events of its core, and back.

What a producer sends gets its number in its queue here, before the core takes it: nobody else
appends to the log of a master. Batches, delayed and half messages are refused. Where groups of
consumers are is kept in memory only.

Source: broker/processor `SendMessageProcessor`, `PullMessageProcessor`, `AdminBrokerProcessor`,
`ClientManageProcessor`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rocketha.broker.effects import AnswerPull, AnswerPut, PutStatus
from rocketha.broker.events import PullRequested, PutRequested
from rocketha.broker.state import PullId
from rocketha.errors import EncodingError, RequestError
from rocketha.formats.broker_requests import (
    BrokerCode,
    BrokerResponse,
    PullMessage,
    QueueName,
    SendMessage,
    message_id,
    pull_consumer_offset,
    pull_pull_message,
    pull_queue,
    pull_send_message,
)
from rocketha.formats.ext_fields import push_fields
from rocketha.formats.message import BLANK_MIN, Host, Message, properties_of, push_record
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.process.event_loop import EventLoop, Link
from rocketha.process.queue_index import IndexedMessage, QueueIndex
from rocketha.runtime.effects import AnswerClient
from rocketha.storage.commit_log import CommitLog
from rocketha.types import Offset, PutId

__all__ = ["ClientService", "respond"]

_VERSION: Final = 479
_HOLD_S: Final = 0.1
"""A consumer that would wait is answered after so long; it asks again."""
_OFFSETS_MAX: Final = 1 << 16
_REFUSED_PROPERTIES: Final = ("DELAY", "TRAN_MSG", "TIMER_DELAY_SEC", "TIMER_DELIVER_MS")

_PUT_CODES: Final[Mapping[PutStatus, BrokerResponse]] = {
    PutStatus.PUT_OK: BrokerResponse.SUCCESS,
    PutStatus.FLUSH_DISK_TIMEOUT: BrokerResponse.FLUSH_DISK_TIMEOUT,
    PutStatus.FLUSH_SLAVE_TIMEOUT: BrokerResponse.FLUSH_SLAVE_TIMEOUT,
    PutStatus.SLAVE_NOT_AVAILABLE: BrokerResponse.SLAVE_NOT_AVAILABLE,
    PutStatus.IN_SYNC_REPLICAS_NOT_ENOUGH: BrokerResponse.SYSTEM_ERROR,
    PutStatus.SERVICE_NOT_AVAILABLE: BrokerResponse.SERVICE_NOT_AVAILABLE,
}


@dataclass(frozen=True, slots=True)
class _WaitingPut:
    link: Link
    request: RemotingCommand
    queue_id: int
    queue_offset: int


@dataclass(frozen=True, slots=True)
class _WaitingPull:
    link: Link
    request: RemotingCommand
    asked: PullMessage
    found: list[IndexedMessage]


class ClientService:
    """The `Clients` of a broker, and who takes their frames."""

    def __init__(
        self,
        loop: EventLoop,
        host: Host,
        *,
        log: Callable[[], CommitLog],
        take: Callable[[PutRequested | PullRequested], None],
        topic_used: Callable[[str], None],
    ) -> None:
        """Take who takes events, and who hears that a producer uses a topic."""
        self.index = QueueIndex()
        self._loop = loop
        self._host = host
        self._log = log
        self._take = take
        self._topic_used = topic_used
        self._puts: dict[PutId, _WaitingPut] = {}
        self._pulls: dict[PullId, _WaitingPull] = {}
        self._offsets: dict[tuple[str, QueueName], int] = {}
        self._last = 0

    def serve(self, link: Link, request: RemotingCommand) -> bool:
        """Take a request, if it is one of a client. Raises: RequestError"""
        match request.code:
            case BrokerCode.SEND_MESSAGE | BrokerCode.SEND_MESSAGE_V2:
                self._send(link, request)
            case BrokerCode.PULL_MESSAGE | BrokerCode.LITE_PULL_MESSAGE:
                self._pull(link, request, may_wait=True)
            case BrokerCode.GET_MIN_OFFSET | BrokerCode.GET_MAX_OFFSET:
                self._offset(link, request)
            case BrokerCode.HEART_BEAT | BrokerCode.UNREGISTER_CLIENT:
                respond(link, request, BrokerResponse.SUCCESS)
            case BrokerCode.UPDATE_CONSUMER_OFFSET:
                self._commit(link, request)
            case BrokerCode.QUERY_CONSUMER_OFFSET:
                self._committed(link, request)
            case _:
                return False
        return True

    # ---- producers ----

    def _send(self, link: Link, request: RemotingCommand) -> None:
        sent = pull_send_message(request)
        log = self._log()
        self.index.read(log)
        queue_offset = self.index.next_offset(sent.queue)
        try:
            message = self._message(sent, link, queue_offset, log)
        except EncodingError as error:
            respond(link, request, BrokerResponse.MESSAGE_ILLEGAL, remark=str(error))
            return
        self._last += 1
        put = PutId(self._last)
        self._puts[put] = _WaitingPut(link, request, sent.queue.queue_id, queue_offset)
        self._topic_used(sent.queue.topic)
        self._take(PutRequested(put=put, message=message))

    def _message(self, sent: SendMessage, link: Link, queue_offset: int, log: CommitLog) -> Message:
        """Make the message that is stored. Raises: EncodingError if this broker cannot store it"""
        refused = [p for p in _REFUSED_PROPERTIES if p in properties_of(sent.properties)]
        if sent.is_batch or refused:
            raise EncodingError("message", reason=f"{refused or 'a batch'} is not supported")
        if sent.queue.queue_id < 0:
            raise EncodingError("queue", reason="none is chosen")
        message = Message(
            topic=sent.queue.topic,
            body=sent.body,
            queue_id=sent.queue.queue_id,
            queue_offset=queue_offset,
            flag=sent.flag,
            sys_flag=sent.sys_flag,
            born_timestamp_ms=sent.born_timestamp_ms,
            born_host=_host(link.peer),
            store_host=self._host,
            reconsume_times=sent.reconsume_times,
            properties=sent.properties,
        )
        size = len(push_record(message, Offset(0), whole_crc=True)) + BLANK_MIN
        if size > log.segment_size:
            raise EncodingError("message", reason=f"needs {size} bytes, over {log.segment_size}")
        return message

    def answer(self, answer: AnswerClient) -> None:
        """Answer a client (rocketha.runtime.ports.Clients)."""
        match answer:
            case AnswerPut():
                self._put_answered(answer)
            case AnswerPull():
                self._pull_answered(answer)
            case _:
                raise AssertionError(f"no answer of a group's broker: {answer}")

    def _put_answered(self, answer: AnswerPut) -> None:
        waiting = self._puts.pop(answer.put)
        code = _PUT_CODES[answer.status]
        fields: dict[str, str | int | bool | None] = {}
        if answer.offset is not None:
            fields = {
                "msgId": message_id(self._host, answer.offset),
                "queueId": waiting.queue_id,
                "queueOffset": waiting.queue_offset,
            }
        respond(waiting.link, waiting.request, code, fields=fields, remark=answer.status.value)

    # ---- consumers ----

    def _pull(self, link: Link, request: RemotingCommand, *, may_wait: bool) -> None:
        asked = pull_pull_message(request)
        self.index.read(self._log())
        found = self.index.messages(asked.queue, asked.queue_offset, asked.messages_max)
        if not found and may_wait and asked.wait_ms and not link.is_closed:
            wait_s = min(_HOLD_S, asked.wait_ms / 1000)
            self._loop.after(wait_s, lambda: self._pull(link, request, may_wait=False))
            return
        self._last += 1
        pull = PullId(self._last)
        self._pulls[pull] = _WaitingPull(link, request, asked, found)
        end = self._log().max_phy_offset
        self._take(PullRequested(pull=pull, offset=found[0].offset if found else end))

    def _pull_answered(self, answer: AnswerPull) -> None:
        waiting = self._pulls.pop(answer.pull)
        link, request, asked = waiting.link, waiting.request, waiting.asked
        if answer.data is None:
            remark = "this broker is not the master"
            respond(link, request, BrokerResponse.SERVICE_NOT_AVAILABLE, remark=remark)
            return
        first = self.index.first_offset(asked.queue)
        following = self.index.next_offset(asked.queue)
        shown = [
            one
            for one in waiting.found
            if one.offset + one.size <= answer.offset + len(answer.data)
        ]
        at = asked.queue_offset
        code = BrokerResponse.SUCCESS if shown else BrokerResponse.PULL_NOT_FOUND
        if not first <= at <= following:
            code = BrokerResponse.PULL_OFFSET_MOVED
            at = min(max(at, first), following)
        fields = {
            "suggestWhichBrokerId": 0,
            "nextBeginOffset": shown[-1].queue_offset + 1 if shown else at,
            "minOffset": first,
            "maxOffset": following,
        }
        begins = (one.offset - answer.offset for one in shown)
        pieces = (answer.data[b : b + o.size] for b, o in zip(begins, shown, strict=True))
        respond(link, request, code, fields=fields, body=b"".join(pieces))

    def _offset(self, link: Link, request: RemotingCommand) -> None:
        queue = pull_queue(request)
        self.index.read(self._log())
        is_first = request.code == BrokerCode.GET_MIN_OFFSET
        found = self.index.first_offset(queue) if is_first else self.index.next_offset(queue)
        respond(link, request, BrokerResponse.SUCCESS, fields={"offset": found})

    # ---- where consumers are ----

    def _commit(self, link: Link, request: RemotingCommand) -> None:
        group, queue, offset = pull_consumer_offset(request)
        if offset is None:
            raise RequestError("commitOffset", reason="is missing")
        if len(self._offsets) < _OFFSETS_MAX or (group, queue) in self._offsets:
            self._offsets[group, queue] = offset
        respond(link, request, BrokerResponse.SUCCESS)

    def _committed(self, link: Link, request: RemotingCommand) -> None:
        """Say where a group goes on; a new one at the beginning, if that is still there.

        Source: ConsumerManageProcessor.queryConsumerOffset
        """
        group, queue, _ = pull_consumer_offset(request)
        self.index.read(self._log())
        offset = self._offsets.get((group, queue))
        if offset is None and self.index.first_offset(queue) == 0:
            offset = 0
        if offset is None:
            respond(link, request, BrokerResponse.QUERY_NOT_FOUND, remark="a new group")
        else:
            respond(link, request, BrokerResponse.SUCCESS, fields={"offset": offset})


def respond(
    link: Link,
    request: RemotingCommand,
    code: int,
    *,
    fields: Mapping[str, str | int | bool | None] | None = None,
    remark: str | None = None,
    body: bytes = b"",
) -> None:
    """Answer a request as it came, unless it wants no answer."""
    if request.is_oneway:
        return
    response = RemotingCommand(
        code=code,
        opaque=request.opaque,
        flag=FLAG_RESPONSE,
        version=_VERSION,
        remark=remark or None,
        ext_fields=push_fields(fields or {}),
        body=body,
        serialization=request.serialization,
    )
    link.send(push_command(response))


def _host(address: str) -> Host:
    host, _, port = address.rpartition(":")
    return Host(bytes(int(part) for part in host.split(".")), int(port))
