"""A broker of a group, as its host sees it: its parts step, and tell each other what they need.

| part       | core                     | what it is here                                          |
|------------|--------------------------|----------------------------------------------------------|
| `services` | `rocketha.escape.slave`  | is among name servers (`rocketha.acting`), hears there   |
|            |                          | that it acts, puts what is due, lets consumers pop       |
| `tables`   | `rocketha.pre_online`    | a master in isolation, what its slaves know; offsets     |
| `store`    | `rocketha.escape.master` | a master's log: puts, half messages, pops to come again  |

What they tell each other:

- What `services` say that they serve, a slave's `tables` serve, too: it takes commits and copies
  nothing. A master's `services` serve when its `tables` are online; then it registers for the first
  time.
- How far `services` are is in the `tables`, which have the files: each change is a commit. Where a
  table is taken, or copied, `services` go on from there.
- Who is in the group, and where the master is, `services` hear, and `tables` know by it.
- Half messages that a slave has passed the `store` asks nobody of.

A master's services put into its own log, by requests to itself: of half messages it puts none, as
its store asks their producers.

Pure: the host hands in what was heard and what the clock shows; the log can be looked at.

Source: broker `BrokerController`, `BrokerPreOnlineService`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, cast, get_args

from rocketha.acting.core import POLLS, REGISTERS, ActingHears, RoleLearned
from rocketha.acting.rules import Role
from rocketha.acting_master.events import (
    BrokerAction,
    BrokerDoes,
    BrokerDone,
    BrokerEvent,
    BrokerHears,
    CopyLogDue,
)
from rocketha.acting_master.replication import (
    GET_LOG,
    LOG,
    BrokerLog,
    ask_log,
    give_log,
    heard_log,
)
from rocketha.acting_master.services import knows_log, with_progress
from rocketha.acting_master.state import BrokerOptions, BrokerState
from rocketha.escape import events as escape
from rocketha.escape import master as stores
from rocketha.escape import slave as services
from rocketha.escape.events import MasterEvent, SlaveEvent
from rocketha.escape.pops import POP_CODES
from rocketha.escape.state import SlaveState, pop_key
from rocketha.formats.broker_requests import BrokerCode, BrokerResponse
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.offset_tables import OffsetTable, QueueKey, TableKind, pull_offsets
from rocketha.formats.put_requests import PutCode
from rocketha.ha.connections import packet_inbox
from rocketha.pre_online import core as tables
from rocketha.pre_online import due, slave
from rocketha.pre_online.events import (
    PreOnlineAction,
    PreOnlineActionName,
    PreOnlineEvent,
    StoreTable,
)
from rocketha.pre_online.state import Asked, PreOnlineState
from rocketha.pre_online.tables import commit, keep
from rocketha.runtime.core import Core, Inbox
from rocketha.runtime.effects import After, Respond
from rocketha.runtime.events import (
    LogFlushed,
    MessageAppended,
    RequestArrived,
    ResponseArrived,
)
from rocketha.types import ConnectionId, Offset, TimestampMs

__all__ = ["BrokerCore", "fresh", "started"]

_SERVICES: Final = services.SlaveCore()
_STORE: Final = stores.MasterCore()
_TABLES: Final = tables.PreOnlineCore()
_FOR_SERVICES: Final = (
    *get_args(ActingHears),
    escape.RouteDue,
    escape.ServeDue,
    escape.PersistDue,
)
_FOR_STORE: Final = (
    escape.CheckDue,
    escape.ReviveDue,
    escape.PoppedHere,
    MessageAppended,
    LogFlushed,
)
_STORE_CODES: Final = frozenset(
    {BrokerCode.SEND_MESSAGE_V2, BrokerCode.HEART_BEAT, PutCode.END_TRANSACTION}
)
_SERVICE_CODES: Final = POP_CODES | {NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE}
_ASKED: Final = frozenset(Asked)
"""What `tables` ask."""
_AMONG_NAME_SERVERS: Final = (due.RegisterDue, due.HeartbeatDue, due.PollDue)
"""What `tables` would do alone, and `services` do here."""
_OTHERS_TABLES: Final = frozenset({PreOnlineActionName.SYNCHRONIZE, PreOnlineActionName.TAKE_TABLE})


# ---- its life ----


def fresh(
    options: BrokerOptions,
    log: BrokerLog,
    files: Mapping[TableKind, OffsetTable | None],
    *,
    now_ms: TimestampMs,
) -> BrokerState:
    """Return what a broker knows that has just started, by its log and its files.

    Spec: PreOnline!Start
    """
    messages = tuple(record.message for record in log.records())
    serving = services.fresh(options.services, messages, files, now_ms=now_ms)
    if options.is_master:
        serving = replace(serving, known=options.services.local)
    store = stores.fresh(options.store, log, now_ms=now_ms) if options.is_master else None
    state = BrokerState(
        options=options,
        services=serving,
        tables=tables.fresh(options.tables, files, now_ms=now_ms),
        store=store,
        seen=log.max_phy_offset,
        messages=messages,
    )
    return _store_knows(state)


def started(options: BrokerOptions) -> Iterable[After[BrokerHears]]:
    """Return what a broker that has started waits for."""
    not_masters = (escape.RouteDue(), escape.ServeDue(services.HALVES))
    for of_services in services.started(options.services):
        if not (options.is_master and of_services.event in not_masters):
            yield cast("After[BrokerHears]", of_services)
    for of_tables in tables.started(options.tables):
        if not isinstance(of_tables.event, _AMONG_NAME_SERVERS):
            yield cast("After[BrokerHears]", of_tables)
    if options.is_master:
        store = options.store
        yield After(wait_ms=store.check_ms, event=escape.CheckDue())
        yield After(wait_ms=store.revive_ms, event=escape.ReviveDue())
    else:
        yield After(wait_ms=options.copy_log_ms, event=CopyLogDue())
    if options.tables.rules.may_register(options.is_master):
        yield After(wait_ms=1, event=_learnt(options))


def _learnt(options: BrokerOptions) -> RoleLearned:
    """Return what makes a broker register; a master that is isolated does not learn it.

    Spec: PreOnline!MayRegister
    """
    return RoleLearned(Role(broker_id=options.tables.broker_id, epoch=0))


class BrokerCore(Core[BrokerState, BrokerEvent, BrokerAction, BrokerLog]):
    """The core of a broker."""

    effects = get_args(BrokerDoes)

    def step(
        self, state: BrokerState, event: BrokerEvent, *, now_ms: TimestampMs, log: BrokerLog
    ) -> BrokerDone:
        """Take one event."""
        state = _looked_at(state, log)
        match event:
            case RequestArrived():
                return _asked(state, event, now_ms=now_ms, log=log)
            case ResponseArrived():
                return _answered(state, event, now_ms=now_ms, log=log)
            case CopyLogDue():
                return ask_log(state, log)
            case due.RegisterNow():
                return _serve(state, _learnt(state.options), now_ms=now_ms)
            case _ if isinstance(event, _FOR_SERVICES):
                return _serve(state, cast("SlaveEvent", event), now_ms=now_ms)
            case _ if isinstance(event, _FOR_STORE):
                return _keep_store(state, cast("MasterEvent", event), now_ms=now_ms, log=log)
            case _:
                return _keep_tables(state, cast("PreOnlineEvent", event), now_ms=now_ms)

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> Inbox[BrokerEvent]:
        """Begin to hear the peer of a connection, which this node accepted or asked for."""
        return packet_inbox(conn, accepted=accepted)


def _looked_at(state: BrokerState, log: BrokerLog) -> BrokerState:
    """Let services know what lies in the log, as far as it is on the disk."""
    if log.flushed_offset == state.seen:
        return state
    new = list(log.records(state.seen, log.flushed_offset))
    if not new:
        return state
    messages = (*state.messages, *[record.message for record in new])
    return replace(
        state,
        services=knows_log(state.services, messages),
        messages=messages,
        seen=Offset(new[-1].offset + new[-1].size),
    )


# ---- requests ----


def _asked(
    state: BrokerState, event: RequestArrived, *, now_ms: TimestampMs, log: BrokerLog
) -> BrokerDone:
    code = event.command.code
    if code in _SERVICE_CODES:
        return _serve(state, event, now_ms=now_ms)
    if code in _STORE_CODES:
        if state.store is None or not state.serves:
            refusal = BrokerResponse.SERVICE_NOT_AVAILABLE
            says = Respond(request=event.request, code=refusal, body=b"", remark="is no master")
            return BrokerDone(state, (says,))
        return _keep_store(state, event, now_ms=now_ms, log=log)
    if code == GET_LOG:
        return give_log(state, event, log)
    return _keep_tables(state, event, now_ms=now_ms)


def _answered(
    state: BrokerState, event: ResponseArrived, *, now_ms: TimestampMs, log: BrokerLog
) -> BrokerDone:
    kind, *numbers = event.reference
    if kind == LOG:
        return heard_log(state, numbers[0], event.command, log)
    if kind in _ASKED:
        return _keep_tables(state, event, now_ms=now_ms)
    return _heard_of_group(_serve(state, event, now_ms=now_ms), event)


def _heard_of_group(done: BrokerDone, event: ResponseArrived) -> BrokerDone:
    """Let a slave's tables know what a name server has said of the group, and of its master.

    Spec: PreOnline!Register, PreOnline!Hear
    """
    state, kind, command = done.state, event.reference[0], event.command
    if command is None or state.options.is_master or kind not in (REGISTERS, POLLS):
        return done
    hears = tables.heard_registration if kind == REGISTERS else slave.heard_group
    heard = hears(state.tables, command)
    known = replace(heard.state, serves=state.services.acts)
    action = done.action or heard.action
    return BrokerDone(replace(state, tables=known), (*done.effects, *heard.effects), action)


# ---- services ----


def _serve(state: BrokerState, event: SlaveEvent, *, now_ms: TimestampMs) -> BrokerDone:
    """Let services take a step, and tables know how far they are."""
    done = _SERVICES.step(state.services, event, now_ms=now_ms)
    state = _tables_know(replace(state, services=done.state), now_ms=now_ms)
    if not state.options.is_master:
        serves = state.services.acts
        state = replace(state, tables=replace(state.tables, serves=serves))
    does: list[BrokerDoes] = []
    for effect in done.effects:
        if isinstance(effect, StoreTable):
            state, stores_all = _stored(state, effect)
            does.append(stores_all)
        else:
            does.append(effect)
    return BrokerDone(_store_knows(state), tuple(does), done.action)


def _tables_know(state: BrokerState, *, now_ms: TimestampMs) -> BrokerState:
    """Commit how far services are.

    Spec: PreOnline!Commit
    """
    known = state.tables
    for kind, key, offset in _progress(state.services):
        if known.tables[kind].present.offsets.get(key, 0) != offset:
            known = commit(known, kind, key, offset, now_ms=now_ms)
    return replace(state, tables=known)


def _progress(state: SlaveState) -> Iterable[tuple[TableKind, QueueKey, int]]:
    for service in state.services:
        yield service.kind, service.key, service.progress
    yield TableKind.CONSUMER, pop_key(state.options), state.queue.at


def _stored(state: BrokerState, effect: StoreTable) -> tuple[BrokerState, StoreTable]:
    """Write, with what services want to be written, all else that is in the table.

    Spec: PreOnline!Persist
    """
    wanted = pull_offsets(effect.kind, effect.data).offsets
    present = state.tables.tables[effect.kind].present
    table = replace(present, offsets={**present.offsets, **wanted})
    known, stores_all = keep(state.tables, effect.kind, table)
    return replace(state, tables=known), stores_all


# ---- tables ----


def _keep_tables(state: BrokerState, event: PreOnlineEvent, *, now_ms: TimestampMs) -> BrokerDone:
    """Let tables take a step; by others' tables services go on, and by them a master is online."""
    was_isolated = state.tables.isolated
    done = _TABLES.step(state.tables, event, now_ms=now_ms)
    state = replace(state, tables=done.state)
    if _is_taken(done.action):
        state = replace(state, services=with_progress(state.services, _all(state.tables)))
    if was_isolated and not state.tables.isolated:
        state = replace(state, services=replace(state.services, acts=True))
    return BrokerDone(_store_knows(state), done.effects, done.action)


def _is_taken(action: PreOnlineAction | None) -> bool:
    return action is not None and action.name in _OTHERS_TABLES


def _all(known: PreOnlineState) -> dict[QueueKey, int]:
    return {key: at for table in known.tables.values() for key, at in table.present.offsets.items()}


# ---- the store ----


def _keep_store(
    state: BrokerState, event: MasterEvent, *, now_ms: TimestampMs, log: BrokerLog
) -> BrokerDone:
    """Let a master's store take a step; what it does by itself it does only while it serves."""
    store = state.store
    if store is None:
        return BrokerDone(state)
    if isinstance(event, escape.CheckDue | escape.ReviveDue) and not state.serves:
        options = state.options.store
        wait_ms = options.check_ms if isinstance(event, escape.CheckDue) else options.revive_ms
        return BrokerDone(state, (After(wait_ms=wait_ms, event=event),))
    done = _STORE.step(store, event, now_ms=now_ms, log=log)
    return BrokerDone(replace(state, store=done.state), done.effects, done.action)


def _store_knows(state: BrokerState) -> BrokerState:
    """Let the store ask nobody of half messages that are passed.

    Spec: Escape!Pass
    """
    if state.store is None:
        return state
    passed = state.services.services[services.HALVES].progress
    return replace(state, store=replace(state.store, passed_halves=passed))
