"""What masters of other groups, and a producer of half messages, must do in time.

| obligation       | who        | by when                                                         |
|------------------|------------|-----------------------------------------------------------------|
| signs answered   | a master   | in the step in which it hears a sign of life                    |
| puts answered    | a master   | when what it is given is on its disk, with its place there      |
| written through  | a master   | what it appends is on its disk when it flushes next             |
| places in queues | a master   | each record has the place behind the one before in its queue,   |
|                  |            | and says who has stored it                                      |
| halves asked for | a master   | in each of its periods, as long as a half message has not ended |
| ends taken       | a master   | an END_TRANSACTION that commits, or rolls back, is on its disk  |
|                  |            | when it flushes next; what is committed stands before that      |
| pops come again  | a master   | when the time of a check point is up and nobody acknowledges,   |
|                  |            | and not before                                                  |
| checks answered  | a producer | in the step, by what it has decided                             |
| signs of life    | a producer | to each master, in each of its periods                          |

Source: broker/processor `SendMessageProcessor`, `PopReviveService`, `ClientManageProcessor`;
broker/transaction/queue `TransactionalMessageServiceImpl.check`; client/impl/producer
`DefaultMQProducerImpl.checkTransactionState`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.due_messages import COMMITTED, ROLLED_BACK
from rocketha.formats.put_requests import PutCode
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, due_in_step
from rocketha.obligations.seen import Seen, seen_of
from rocketha.recording.record import RESPONSE, STARTED, STOPPED, SentMessage
from rocketha.types import TimestampMs

__all__ = ["MASTERS_AND_PRODUCERS", "LogItem", "log_items", "stores_said"]

_STORED: Final = {"msgId", "queueId", "queueOffset", "transactionId"}
_LOOKS: Final = 4
"""A master that has records which are not on its disk looks for pops the next time."""


@dataclass(frozen=True)
class LogItem:
    """A record that has come to a disk."""

    seen: Seen
    kind: str
    of: str
    queue: str
    place: int
    host: str


def log_items(seen: list[Seen]) -> list[LogItem]:
    """Return all records of a node's log, each where it is seen first."""
    known: list[LogItem] = []
    for one in seen:
        if "log" not in one.record.state:
            continue
        log = one.record.state["log"]
        kept, added = (0, log) if isinstance(log, list) else (log["kept"], log["added"])
        if one.record.event == STARTED:
            added = added[len(known) - kept :]
        known += [LogItem(one, **item) for item in added]
    return known


def _ask_of(run: RecordedRun, seen: Seen, code: int) -> list[str]:
    """Return what a node hears of requests with a code in a step."""
    requests = [(name, run.messages.get(name)) for name in seen.record.received]
    return [name for name, request in requests if request is not None and request.code == code]


# ---- masters ----


def _signs_answered(run: RecordedRun) -> Iterator[Due]:
    for master in run.nodes_of("master"):
        for one in seen_of(run, master):
            for name in _ask_of(run, one, BrokerCode.HEART_BEAT):
                codes = [m.code for m in one.messages if m.id == name + RESPONSE]
                done = codes == [BrokerResponse.SUCCESS]
                yield due_in_step(one.record, f"answer {name}", is_done=done)


def _puts_answered(run: RecordedRun) -> Iterator[Due]:
    for master, settings in run.nodes_of("master").items():
        seen = seen_of(run, master)
        places: dict[int, set[str]] = {}
        for item in log_items(seen):
            places.setdefault(id(item.seen), set()).add(str(item.place))
        answers = {
            message.id: (one.at_ms, message, places.get(id(one), set()))
            for one in seen
            for message in one.messages
            if message.id.endswith(RESPONSE)
        }
        for one in seen:
            for name in _ask_of(run, one, BrokerCode.SEND_MESSAGE_V2):
                by_ms = TimestampMs(one.at_ms + settings["flush_ms"])
                if run.runs_until_ms(master, one.at_ms) <= by_ms:
                    continue
                found = answers.get(name + RESPONSE)
                yield Due(
                    node=master,
                    since_ms=one.at_ms,
                    by_ms=by_ms,
                    what=f"say where it has put {name}",
                    of=name,
                    done_ms=None if found is None or not _says_where(*found[1:]) else found[0],
                )


def _says_where(answer: SentMessage, places: set[str]) -> bool:
    """Tell whether an answer has the place of a record that has come to the disk in its step."""
    return answer.fields.keys() >= _STORED and answer.fields["queueOffset"] in places


def _written_through(run: RecordedRun) -> Iterator[Due]:
    for master, settings in run.nodes_of("master").items():
        seen = seen_of(run, master)
        for at, one in enumerate(seen):
            end, flushed = one.state.get("ends", (0, 0))
            if end <= flushed or one.state["ends"] == one.before.get("ends"):
                continue
            by_ms = TimestampMs(one.at_ms + settings["flush_ms"])
            if run.runs_until_ms(master, one.at_ms) > by_ms:
                later = (x.at_ms for x in seen[at:] if x.state.get("ends", (0, 0))[1] >= end)
                yield Due(
                    node=master,
                    since_ms=one.at_ms,
                    by_ms=by_ms,
                    what=f"have {end} bytes on its disk",
                    done_ms=next(later, None),
                )


def stores_said(run: RecordedRun) -> Iterator[Due]:
    """A master says Store in the step in which something has come to its disk."""
    for master in run.nodes_of("master"):
        for one in seen_of(run, master):
            if not one.begins_or_ends and one.record.event == "LogFlushed":
                is_so = one.state["ends"][1] != one.before["ends"][1]
                done = (one.record.action == "Store") == is_so
                yield due_in_step(one.record, "say Store if it is so", is_done=done)


def _places(run: RecordedRun) -> Iterator[Due]:
    for master, settings in run.nodes_of("master").items():
        last: dict[str, int] = {}
        for item in log_items(seen_of(run, master)):
            wanted = last.get(item.queue, -1) + 1
            what = f"store {item.kind} {item.of} as {wanted} of {item.queue}, as its host"
            done = (item.place, item.host) == (wanted, settings["host"])
            yield due_in_step(item.seen.record, what, is_done=done)
            last[item.queue] = item.place


def _ended(items: list[LogItem]) -> dict[int, TimestampMs]:
    """Return when each half message, by its place, has ended by the log."""
    ended: dict[int, TimestampMs] = {}
    for item in items:
        if item.kind == "op":
            for place in map(int, item.of.split(",")):
                ended.setdefault(place, item.seen.at_ms)
    return ended


def _committed(items: list[LogItem]) -> set[str]:
    """Return the half messages, by their keys, of which the log says that they have ended.

    Not those that can be read only behind that: a log may be cut between the two.
    """
    halves = {item.place: item.of for item in items if item.kind == "half"}
    readable, ended = set[str](), set[str]()
    for item in items:
        if item.kind == "read":
            readable.add(item.of)
        elif item.kind == "op":
            keys = {halves[place] for place in map(int, item.of.split(",")) if place in halves}
            ended |= keys & readable
    return ended


def _ends_taken(run: RecordedRun) -> Iterator[Due]:
    for master, settings in run.nodes_of("master").items():
        seen = seen_of(run, master)
        items = log_items(seen)
        ended = _ended(items)
        halves = {item.place: item for item in items if item.kind == "half"}
        committed = _committed(items)
        for one in seen:
            for name in _ask_of(run, one, PutCode.END_TRANSACTION):
                said = run.messages[name].fields
                place = int(said["tranStateTableOffset"])
                half, ended_ms = halves.get(place), ended.get(place)
                how = int(said["commitOrRollback"])
                if half is None or half.seen.at_ms > one.at_ms:
                    continue
                if how not in (COMMITTED, ROLLED_BACK):
                    continue
                is_whole = how == ROLLED_BACK or half.of in committed
                by_ms = TimestampMs(one.at_ms + settings["flush_ms"])
                if run.runs_until_ms(master, one.at_ms) > by_ms:
                    yield Due(
                        node=master,
                        since_ms=one.at_ms,
                        by_ms=by_ms,
                        what=f"take it that half message {said['msgId']} has ended",
                        of=said["msgId"],
                        done_ms=ended_ms if is_whole else None,
                    )


def _halves_asked(run: RecordedRun) -> Iterator[Due]:
    for master, settings in run.nodes_of("master").items():
        seen = seen_of(run, master)
        items = log_items(seen)
        ended = _ended(items)
        patience_ms = settings["check_ms"] + settings["flush_ms"]
        for item in items:
            if item.kind == "half":
                ends_ms = ended.get(item.place, run.ended_ms)
                yield from _half_asked(run, seen, item, ends_ms, patience_ms)


def _half_asked(
    run: RecordedRun, seen: list[Seen], item: LogItem, ends_ms: int, patience_ms: int
) -> Iterator[Due]:
    """Find when a master is to ask for a half message until it has ended, at `ends_ms`."""
    asked = [
        one.at_ms
        for one in seen
        for message in one.messages
        if message.code == PutCode.CHECK_TRANSACTION_STATE
        and message.fields["tranStateTableOffset"] == str(item.place)
    ]
    starts = [one.at_ms for one in seen if one.record.event == STARTED]
    node = item.seen.record.node
    for since_ms in [item.seen.at_ms, *asked, *(ms for ms in starts if ms > item.seen.at_ms)]:
        by_ms = TimestampMs(since_ms + patience_ms)
        if run.runs_until_ms(node, since_ms) <= by_ms or ends_ms <= by_ms:
            continue
        yield Due(
            node=node,
            since_ms=since_ms,
            by_ms=by_ms,
            what=f"ask for half message {item.of}",
            of=item.of,
            done_ms=next((ms for ms in asked if ms > since_ms), None),
        )


def _pops_again(run: RecordedRun) -> Iterator[Due]:
    ((_, slave),) = run.nodes_of("slave").items()
    ours = f"@{slave['broker_name']}"
    for master, settings in run.nodes_of("master").items():
        seen = seen_of(run, master)
        items = [item for item in log_items(seen) if item.of.endswith(ours)]
        done = {x.of: x.seen.at_ms for x in reversed(items) if x.kind in ("ack", "again")}
        for item in items:
            popped_ms = int(item.of.split("@")[4])
            shows_ms = item.seen.record.shows_ms
            due_ms = popped_ms + slave["invisible_ms"] - shows_ms + item.seen.at_ms
            if item.kind == "again":
                what = f"deliver {item.of} again when its time is up"
                yield due_in_step(item.seen.record, what, is_done=item.seen.at_ms >= due_ms)
            if item.kind != "check point":
                continue
            begins_ms = _begins_ms(seen, due_ms, item.seen.at_ms)
            if begins_ms is None:
                continue
            since_ms = max(due_ms, begins_ms)
            by_ms = TimestampMs(since_ms + _LOOKS * settings["revive_ms"])
            if run.runs_until_ms(master, TimestampMs(since_ms)) > by_ms:
                yield Due(
                    node=master,
                    since_ms=TimestampMs(since_ms),
                    by_ms=by_ms,
                    what=f"deliver {item.of} again",
                    of=item.of,
                    done_ms=done.get(item.of),
                )


def _begins_ms(seen: list[Seen], due_ms: int, known_ms: int) -> int | None:
    """Return from when a node runs that knows something, and is to do it at a time.

    None: it is down then, and does not come back.
    """
    at_ms = known_ms
    is_down = False
    for one in seen:
        if one.record.event == STOPPED and known_ms <= one.at_ms:
            is_down = True
        if one.record.event == STARTED and known_ms < one.at_ms and (is_down or one.at_ms < due_ms):
            at_ms, is_down = one.at_ms, False
        if one.at_ms > due_ms and not is_down:
            break
    return None if is_down else at_ms


# ---- a producer ----


def _checks_answered(run: RecordedRun) -> Iterator[Due]:
    for producer in run.nodes_of("producer"):
        for one in seen_of(run, producer):
            for name in _ask_of(run, one, PutCode.CHECK_TRANSACTION_STATE):
                asked = run.messages[name].fields
                decided = dict(one.state.get("decided", ())).get(asked["msgId"], 0)
                wanted = {
                    "bname": asked["bname"],
                    "commitLogOffset": asked["commitLogOffset"],
                    "tranStateTableOffset": asked["tranStateTableOffset"],
                    "commitOrRollback": str(decided),
                    "fromTransactionCheck": "true",
                    "msgId": asked["msgId"],
                }
                ends = [m.fields for m in one.messages if m.code == PutCode.END_TRANSACTION]
                done = len(ends) == 1 and wanted.items() <= ends[0].items()
                what = f"answer {name} by {wanted}"
                yield due_in_step(one.record, what, is_done=done, of=asked["msgId"])


def _signs_of_life(run: RecordedRun) -> Iterator[Due]:
    for producer, settings in run.nodes_of("producer").items():
        seen = seen_of(run, producer)
        for master in settings["masters"]:
            signs = [
                one.at_ms
                for one in seen
                for message in one.messages
                if (message.code, message.to) == (BrokerCode.HEART_BEAT, master)
            ]
            for since_ms in [*(one.at_ms for one in seen if one.record.event == STARTED), *signs]:
                by_ms = TimestampMs(since_ms + settings["heartbeat_ms"])
                yield Due(
                    node=producer,
                    since_ms=since_ms,
                    by_ms=by_ms,
                    what=f"give {master} a sign of life",
                    done_ms=next((ms for ms in signs if ms > since_ms), None),
                )


MASTERS_AND_PRODUCERS: Final = (
    Obligation(name="signs answered", dues=_signs_answered),
    Obligation(name="puts answered", dues=_puts_answered),
    Obligation(name="written through", dues=_written_through),
    Obligation(name="places in queues", dues=_places),
    Obligation(name="halves asked for", dues=_halves_asked),
    Obligation(name="ends taken", dues=_ends_taken),
    Obligation(name="pops come again", dues=_pops_again),
    Obligation(name="checks answered", dues=_checks_answered),
    Obligation(name="signs of life", dues=_signs_of_life),
)
"""All that masters of other groups and a producer owe."""
