"""What brokers and name servers must do in time.

| obligation                | who           | by when                                              |
|---------------------------|---------------|------------------------------------------------------|
| roles registered          | a broker      | with each name server, at once when it learns one    |
| registrations repeated    | a broker      | a period after the last one, and its answer          |
| registrations in full     | a broker      | each says all of what it is, and both topics         |
| signs of life             | a broker      | to each name server, in each of its periods          |
| polls repeated            | a broker      | a period after the last one, and its answer          |
| polls moved               | a broker      | to the next name server, when one has not answered   |
| ends said                 | a broker      | to each name server, before it stops in order        |
| answers to requests       | a name server | in the step in which it hears one                    |
| masters named             | a name server | to each slave that registers, in its answer          |
| ends taken                | a name server | in the step in which a broker says that it ends, if  |
|                           |               | it has not registered on a later channel since       |
| the silent left out       | a name server | of each answer, once a broker has said nothing for   |
|                           |               | its time, a scan and the wait for a removal          |
| the silent found          | a name server | all of them, when it looks for them                  |
| the gone found            | a name server | all whose channel it was, when one ends              |
| the heard kept            | a name server | who is taken for silent has said nothing for its     |
|                           |               | time                                                 |
| the gone heard no more    | a name server | over the channel of a broker that it takes for gone: |
|                           |               | it has ended, or the name server closes it           |
| notices in full           | a name server | each says where the smallest brokerId is, and who    |
|                           |               | has come or gone                                     |
| versions compared         | a name server | with what is registered, in its answer               |
| outsiders refused         | all           | by an answer that says so, in the step               |

What is registered is what a name server has in its table, and what a broker is what it has for its
role: the trace of the same records holds both against Route, which says who is told, too.

Source: broker `BrokerController`, namesrv/routeinfo `RouteInfoManager`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import pull_name_server_reply
from rocketha.formats.name_server_codes import NameServerCode, NameServerResponse
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, due_in_step, time_ms
from rocketha.obligations.outsiders import Heard, answered, outsiders_answered
from rocketha.obligations.route_brokers import (
    ends_said,
    in_full,
    polls_moved,
    polls_repeated,
    registrations_repeated,
    roles_registered,
    signs_of_life,
)
from rocketha.obligations.seen import Seen, answer_in
from rocketha.recording.record import RESPONSE, STARTED, NodeRecord, SentMessage
from rocketha.types import MASTER

__all__ = ["AGAIN", "REFUSED", "ROLES", "ROUTE", "VERSIONS", "heard_taken", "silent_named"]

_SCAN: Final = "ScanDue"
_SILENT: Final = "SilentFound"
_GONE: Final = "ConnectionLost"
_ENDED: Final = frozenset({_GONE, _SILENT})
"""What makes a name server take a broker for gone that has not said so."""
_ANSWERED: Final = frozenset(
    {NameServerCode.REGISTER_BROKER, NameServerCode.GET_BROKER_MEMBER_GROUP}
)
"""What simulated brokers want an answer to."""
_SIGNS: Final = frozenset({NameServerCode.REGISTER_BROKER, NameServerCode.BROKER_HEARTBEAT})


# ---- name servers ----


def _answers(run: RecordedRun) -> Iterator[Due]:
    messages = run.messages
    for name_server in run.nodes_of("name server"):
        for record in run.by_node[name_server]:
            for received in record.received:
                if messages[received].code in _ANSWERED:
                    codes = [m.code for m in record.sent if m.id == received + RESPONSE]
                    done = codes == [NameServerResponse.SUCCESS]
                    yield due_in_step(record, f"answer {received}", is_done=done)
            if any(heard["is"] == "GetRouteInfo" for heard in record.heard):
                done = [answer["is"] for answer in record.answered] == ["RouteAnswer"]
                yield due_in_step(record, "answer a client", is_done=done)


def _tables(run: RecordedRun, name_server: str) -> Iterator[tuple[NodeRecord, _Table, _Table]]:
    """Yield each record with what was registered before and behind it: brokerId -> broker.

    Of other groups whose process has one channel only `_gone_found` asks.
    """
    ours = {settings["broker_name"] for _, settings in run.nodes_of("broker").items()}
    table: _Table = {}
    for record in run.by_node[name_server]:
        before = table
        if "groups" in record.state:
            table = {
                broker_id: broker
                for name, group in record.state["groups"]
                for broker_id, broker in group["brokers"]
                if name in ours
            }
        yield record, before, table


_Table = dict[int, dict[str, Any]]


def _masters_named(run: RecordedRun) -> Iterator[Due]:
    messages = run.messages
    for name_server in run.nodes_of("name server"):
        for record, _, table in _tables(run, name_server):
            master = table.get(MASTER)
            for received in record.received:
                request = messages[received]
                if request.code != NameServerCode.REGISTER_BROKER or master is None:
                    continue
                broker_id, address = int(request.fields["brokerId"]), request.fields["brokerAddr"]
                if broker_id == MASTER or table.get(broker_id, {}).get("address") != address:
                    continue
                wanted = {"masterAddr": master["address"], "haServerAddr": master["ha_address"]}
                said = [m.fields for m in record.sent if m.id == received + RESPONSE]
                yield due_in_step(record, f"tell {address} of its master", is_done=said == [wanted])


def _ends_taken(run: RecordedRun) -> Iterator[Due]:
    for name_server in run.nodes_of("name server"):
        waits: set[str] = set()
        for record, before, _ in _tables(run, name_server):
            if "removals" in record.state:
                waits = {one["meant"]["address"] for one in record.state["removals"]}
            channel_of = {one["address"]: one["conn"] for one in before.values()}
            for received in record.received:
                request = run.messages[received]
                if request.code == NameServerCode.UNREGISTER_BROKER:
                    address = request.fields["brokerAddr"]
                    channel = int(received.partition(":")[0])
                    if channel_of.get(address, channel + 1) <= channel:
                        done = address in waits
                        yield due_in_step(record, f"note that {address} ends", is_done=done)


def _silent_left_out(run: RecordedRun) -> Iterator[Due]:
    for record, gone in silent_named(run):
        yield due_in_step(record, f"leave out {gone}", is_done=not gone)


def silent_named(run: RecordedRun) -> Iterator[tuple[NodeRecord, list[str]]]:
    """Yield each answer of a name server, and whom it names that has been silent for too long."""
    for name_server, settings in run.nodes_of("name server").items():
        patience_ms = settings["scan_not_active_ms"] + settings["removal_ms"]
        for record, silent_ms in _silent(run, name_server):
            until_ms = time_ms(record) - patience_ms
            for found in _told(record, run.messages):
                yield record, [one for one in sorted(found) if silent_ms.get(one, -1) < until_ms]


def _silent(
    run: RecordedRun, name_server: str, signs: frozenset[NameServerCode] = _SIGNS
) -> Iterator[tuple[NodeRecord, dict[str, int]]]:
    """Yield each record, and from when on each broker that has given a sign counts as silent."""
    silent_ms: dict[str, int] = {}
    patience_ms: dict[str, int] = {}
    for record in run.by_node[name_server]:
        if record.event == STARTED:
            silent_ms = {}
        for received in record.received:
            message = run.messages[received]
            if message.code in _SIGNS:
                address = message.fields["brokerAddr"]
                said = message.fields.get("heartbeatTimeoutMillis")
                patience_ms[address] = int(said or patience_ms.get(address, 0))
                if message.code in signs:
                    silent_ms[address] = time_ms(record) + patience_ms[address]
        for heard in record.heard:
            if heard["is"] == "VersionAsked" and heard["address"] in silent_ms:
                silent_ms[heard["address"]] = time_ms(record) + patience_ms[heard["address"]]
        yield record, silent_ms


def _gone_found(run: RecordedRun) -> Iterator[Due]:
    """Whose channel it was is taken for gone at once, one after the other."""
    for name_server in run.nodes_of("name server"):
        channel_of: dict[str, int] = {}
        waits: set[str] = set()
        gone: dict[tuple[int, Any], set[str]] = {}
        ends: dict[tuple[int, Any], tuple[NodeRecord, set[str]]] = {}
        for record in run.by_node[name_server]:
            removals = record.state.get("removals")
            if record.event == _GONE and removals:
                end: tuple[int, Any] = time_ms(record), removals[-1]["meant"]["conn"]
                of_it = {one for one, conn in channel_of.items() if conn == end[1]}
                ends.setdefault(end, (record, of_it - waits))
                gone.setdefault(end, set()).add(removals[-1]["meant"]["address"])
            if removals is not None:
                waits = {one["meant"]["address"] for one in removals}
            if "groups" in record.state:
                tables = [group["brokers"] for _, group in record.state["groups"]]
                channel_of = {one["address"]: one["conn"] for table in tables for _, one in table}
        for end, (record, whose) in ends.items():
            missed = sorted(whose - gone[end])
            yield due_in_step(record, f"take {missed} for gone, too", is_done=not missed)


def heard_taken(run: RecordedRun) -> Iterator[tuple[NodeRecord, str, bool]]:
    """Yield whom a name server takes for silent, and whether its time is over.

    Of registrations some are not taken; whoever sends them says besides that it lives.
    """
    beats = frozenset({NameServerCode.BROKER_HEARTBEAT})
    for name_server in run.nodes_of("name server"):
        for record, silent_ms in _silent(run, name_server, beats):
            if record.event == _SILENT and record.state.get("removals"):
                address = record.state["removals"][-1]["meant"]["address"]
                yield record, address, silent_ms.get(address, -1) < time_ms(record)


def _silent_found(run: RecordedRun) -> Iterator[Due]:
    for name_server in run.nodes_of("name server"):
        tables = {id(record): table for record, _, table in _tables(run, name_server)}
        pending: set[str] = set()
        found: dict[int, set[str]] = {}
        scans: list[tuple[NodeRecord, set[str]]] = []
        for record, silent_ms in _silent(run, name_server):
            at_ms = time_ms(record)
            if "removals" in record.state:
                pending = {one["meant"]["address"] for one in record.state["removals"]}
            if record.event == _SCAN:
                named = {one["address"] for one in tables[id(record)].values()} - pending
                scans.append((record, {one for one in named if silent_ms.get(one, at_ms) < at_ms}))
            if record.event == _SILENT and record.state.get("removals"):
                taken = record.state["removals"][-1]["meant"]["address"]
                found.setdefault(at_ms, set()).add(taken)
        for record, silent in scans:
            missed = sorted(silent - found.get(time_ms(record), set()))
            yield due_in_step(record, f"find {missed} silent", is_done=not missed)


def _heard_kept(run: RecordedRun) -> Iterator[Due]:
    for record, address, is_silent in heard_taken(run):
        yield due_in_step(
            record, f"keep {address}, which has said that it lives", is_done=is_silent
        )


def _heard_no_more(run: RecordedRun) -> Iterator[Due]:
    """Find who is taken for gone without having said so, and what comes over its channel later."""
    for name_server in run.nodes_of("name server"):
        records = run.by_node[name_server]
        heard: dict[tuple[int, str], int] = {}
        """The last step in which something came over a channel, of each incarnation."""
        for at, record in enumerate(records):
            channels = (message.partition(":")[0] for message in record.received)
            heard |= {(record.incarnation, channel): at for channel in channels}
        for at, record in enumerate(records):
            if record.event in _ENDED and record.state.get("removals"):
                channel = str(record.state["removals"][-1]["meant"]["conn"])
                last = heard.get((record.incarnation, channel), -1)
                what = f"hear no more over channel {channel}"
                yield due_in_step(record, what, is_done=last <= at)


def _told(record: NodeRecord, messages: Mapping[str, SentMessage]) -> Iterator[set[str]]:
    """Yield the brokers that each answer of a step names, to clients and to brokers."""
    for answer in record.answered:
        if answer["is"] == "RouteAnswer":
            yield {address for _, address in answer["brokers"]}
    for message in record.sent:
        request = messages.get(message.id.removesuffix(RESPONSE))
        if message.id.endswith(RESPONSE) and request is not None:
            code = NameServerCode(request.code or 0)
            if code is NameServerCode.GET_BROKER_MEMBER_GROUP:
                reply = pull_name_server_reply(answer_in(message), code)
                assert isinstance(reply.answer, BrokerMemberGroup)
                yield set(reply.answer.addresses.values())


def _notices_in_full(run: RecordedRun) -> Iterator[Due]:
    code = NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE
    for name_server in run.nodes_of("name server"):
        for record, before, table in _tables(run, name_server):
            for message in record.sent:
                if message.code == code:
                    smallest = table[min(table)]
                    says = {
                        "minBrokerId": str(min(table)),
                        "minBrokerAddr": smallest["address"],
                        **_about(before, table),
                    }
                    what = f"tell {message.to} of {smallest['address']}"
                    yield due_in_step(record, what, is_done=message.fields == says)


def _about(before: _Table, table: _Table) -> dict[str, str]:
    """Return what a notice says of who has come, or gone."""
    known = [one["version"] | {"at": one["address"]} for one in before.values()]
    new = [one for one in table.values() if one["version"] | {"at": one["address"]} not in known]
    if new:
        return {"haBrokerAddr": new[0]["ha_address"]}
    left = {one["address"] for one in table.values()}
    gone = [one["address"] for one in before.values() if one["address"] not in left]
    return {"offlineBrokerAddr": gone[0]} if gone else {}


def _versions_compared(run: RecordedRun) -> Iterator[Due]:
    for name_server in run.nodes_of("name server"):
        for record, _, table in _tables(run, name_server):
            for heard in record.heard:
                if heard["is"] != "VersionAsked":
                    continue
                known = [
                    one["version"] for one in table.values() if one["address"] == heard["address"]
                ]
                version = known[0] if known else None
                wanted = (version != _plain(heard["version"]), version)
                told = [
                    (answer["changed"], _plain(answer["version"])) for answer in record.answered
                ]
                yield due_in_step(record, f"compare {heard['version']}", is_done=told == [wanted])


def _plain(version: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a version without what it is."""
    return version and {name: version[name] for name in version if name != "is"}


# ---- all ----


def _refused(run: RecordedRun) -> Iterator[Due]:
    yield from outsiders_answered(run, "broker", lambda *_: answered(_NOT_SUPPORTED))
    yield from outsiders_answered(run, "name server", _of_name_server)


def _of_name_server(seen: Seen, asked: Heard) -> dict[str, Any]:
    del seen
    is_known = asked["code"] in set(NameServerCode)
    return answered(NameServerResponse.SYSTEM_ERROR if is_known else _NOT_SUPPORTED)


_NOT_SUPPORTED: Final = NameServerResponse.REQUEST_CODE_NOT_SUPPORTED


ROLES: Final = Obligation(name="roles registered", dues=roles_registered)
AGAIN: Final = {
    NameServerCode.REGISTER_BROKER: Obligation(
        name="registrations repeated", dues=registrations_repeated
    ),
    NameServerCode.BROKER_HEARTBEAT: Obligation(name="signs of life", dues=signs_of_life),
    NameServerCode.GET_BROKER_MEMBER_GROUP: Obligation(name="polls repeated", dues=polls_repeated),
}
"""What brokers say again and again."""
REFUSED: Final = Obligation(name="outsiders refused", dues=_refused)
VERSIONS: Final = Obligation(name="versions compared", dues=_versions_compared)
ROUTE: Final = (
    ROLES,
    *AGAIN.values(),
    Obligation(name="polls moved", dues=polls_moved),
    Obligation(name="registrations in full", dues=in_full),
    Obligation(name="ends said", dues=ends_said),
    Obligation(name="answers to requests", dues=_answers),
    Obligation(name="masters named", dues=_masters_named),
    Obligation(name="ends taken", dues=_ends_taken),
    Obligation(name="the silent left out", dues=_silent_left_out),
    Obligation(name="the silent found", dues=_silent_found),
    Obligation(name="the gone found", dues=_gone_found),
    Obligation(name="the heard kept", dues=_heard_kept),
    Obligation(name="the gone heard no more", dues=_heard_no_more),
    Obligation(name="notices in full", dues=_notices_in_full),
    VERSIONS,
    REFUSED,
)
"""All that brokers and name servers owe."""
