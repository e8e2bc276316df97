"""How a broker gets its identity, and how it comes back with it.

```
INITIAL --GetNextBrokerId: an id is free; the temporary file--> TEMP_METADATA_DONE
TEMP_METADATA_DONE --ApplyBrokerId: it is ours; the identity file--> METADATA_DONE
TEMP_METADATA_DONE --ApplyBrokerId: it is somebody else's--> INITIAL
METADATA_DONE --RegisterBroker: this start is known--> REGISTERED
```

Every request is repeated until it is answered. Who stops on the way goes on with what its files
say: to apply for an id again with the same check code is no harm.

Source: ReplicasManager (`startBasicService`, `register`)
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.broker.controller_calls import Answer, ask, first_opaque
from rocketha.broker.effects import GroupAction, GroupActionName, GroupStepped
from rocketha.broker.events import Started
from rocketha.broker.roles import View, take_view
from rocketha.broker.state import NOBODY, FlushedLogView, GroupBroker, Registration
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import (
    ApplyBrokerId,
    ControllerRequest,
    GetNextBrokerId,
    RegisterBroker,
)
from rocketha.formats.controller_responses import BrokerIdApplied, NextBrokerId, Registered
from rocketha.ha.broker import restart
from rocketha.ha.events import Restarted
from rocketha.ha.state import BrokerState
from rocketha.runtime.effects import StoreIdentity, StoreRegistration
from rocketha.types import Identity, SyncStateSetEpoch, TimestampMs

__all__ = ["continue_registration", "identity_answered", "registered", "start"]


def start(
    state: GroupBroker, event: Started, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    """Come up with what the files say, and tell the controller; until then nobody is served.

    For the specification the broker is back when the controller takes its registration.

    Spec: ReplicaGroup!Restart
    Source: ReplicasManager.start, ReplicasManager.confirmNowRegisteringState
    """
    options, identity = state.options, event.identity
    broker_id = NOBODY if identity is None else identity.broker_id
    restarted = Restarted(incarnation=event.incarnation, entries=event.entries)
    before = BrokerState(broker_id=broker_id, options=options.ha)
    stepped = restart(before, restarted, now_ms=now_ms, log=log)
    up_as, members = options.rules.role_after_restart(stepped.state)
    up = GroupBroker(
        ha=up_as,
        options=options,
        address=state.address,
        incarnation=event.incarnation,
        registration=_found(identity),
        identity=identity,
        log_torn=event.log_torn,
        local=SyncStateSet(members, SyncStateSetEpoch(0)),
        next_opaque=first_opaque(event.incarnation),
    )
    return GroupStepped(up, stepped.effects).then(continue_registration(up, now_ms=now_ms))


def _found(identity: Identity | None) -> Registration:
    if identity is None:
        return Registration.INITIAL
    if identity.register_check_code is not None:
        return Registration.TEMP_METADATA_DONE
    return Registration.METADATA_DONE


def continue_registration(state: GroupBroker, *, now_ms: TimestampMs) -> GroupStepped:
    """Ask for what is missing, and again when there is no answer for long.

    Source: ReplicasManager.register
    """
    request = _missing(state, now_ms)
    if request is None or now_ms < state.register_at_ms:
        return GroupStepped(state)
    retry_at = TimestampMs(now_ms + state.options.request_timeout_ms)
    asking, send = ask(replace(state, register_at_ms=retry_at), request, now_ms=now_ms)
    return GroupStepped(asking, (send,))


def _missing(state: GroupBroker, now_ms: TimestampMs) -> ControllerRequest | None:
    """Return the request of this stage."""
    cluster, name, identity = (
        state.options.cluster_name,
        state.options.broker_name,
        state.identity,
    )
    if state.registration is Registration.REGISTERED:
        return None
    if identity is None:
        return GetNextBrokerId(cluster_name=cluster, broker_name=name)
    if identity.register_check_code is not None:
        return ApplyBrokerId(
            cluster_name=cluster,
            broker_name=name,
            applied_broker_id=identity.broker_id,
            register_check_code=identity.register_check_code,
        )
    return RegisterBroker(
        cluster_name=cluster,
        broker_name=name,
        broker_id=identity.broker_id,
        broker_address=state.address,
        incarnation=state.incarnation,
        log_torn=state.log_torn,
        invoke_time_ms=now_ms,
    )


def identity_answered(state: GroupBroker, answer: Answer, *, now_ms: TimestampMs) -> GroupStepped:
    """Take an id that is free, and then hear whether it is ours; late answers change nothing.

    Source: ReplicasManager.getNextBrokerId, ReplicasManager.createTempMetadataFile,
    ReplicasManager.applyBrokerId, ReplicasManager.createMetadataFileAndDeleteTemp
    """
    if answer.request != _missing(state, now_ms):
        return GroupStepped(state)
    match answer.reply.content:
        case NextBrokerId(next_broker_id=free):
            code = f"{state.address};{now_ms}"
            taken = Identity(broker_id=free, register_check_code=code)
            return _with_identity(state, taken, now_ms=now_ms)
        case BrokerIdApplied() if state.identity is not None:
            own = Identity(broker_id=state.identity.broker_id)
            return _with_identity(state, own, now_ms=now_ms)
        case _:
            if answer.reply.code is not ResponseCode.BROKER_ID_INVALID:
                return GroupStepped(state)
            # Another replica was faster.
            again = _known_as(state, None, now_ms)
            return continue_registration(again, now_ms=now_ms)


def _with_identity(state: GroupBroker, identity: Identity, *, now_ms: TimestampMs) -> GroupStepped:
    """Store an identity, temporary or not, and go on at once."""
    known = _known_as(state, identity, now_ms)
    stored = GroupStepped(known, (StoreIdentity(identity=identity),))
    return stored.then(continue_registration(known, now_ms=now_ms))


def _known_as(state: GroupBroker, identity: Identity | None, now_ms: TimestampMs) -> GroupBroker:
    """Take an identity, or none, from which the registration goes on at once."""
    broker_id = NOBODY if identity is None else identity.broker_id
    return replace(
        state,
        ha=replace(state.ha, broker_id=broker_id),
        identity=identity,
        registration=_found(identity),
        register_at_ms=now_ms,
    )


def registered(
    state: GroupBroker, answer: Answer, *, now_ms: TimestampMs, log: FlushedLogView
) -> GroupStepped:
    """Serve from now on, as far as the role allows it, and know the present masterEpoch.

    The answer may be one to a later copy of the request, and show a newer epoch than that of the
    restart.

    Source: ReplicasManager.registerBrokerToController
    """
    content = answer.reply.content
    if state.registration is not Registration.METADATA_DONE or not isinstance(content, Registered):
        return GroupStepped(state)
    served = replace(
        state,
        registration=Registration.REGISTERED,
        heartbeat_at_ms=now_ms,
        poll_at_ms=TimestampMs(now_ms + state.options.sync_metadata_ms),
    )
    noted = GroupStepped(served, (StoreRegistration(),))
    view = View.of_registration(content)
    if not state.options.rules.learns_at_registration(state.ha, view.master):
        action = GroupAction(name=GroupActionName.BECOME_SLAVE)
        return noted.then(GroupStepped(served, (), action))
    return noted.then(take_view(served, view, registers=True, now_ms=now_ms, log=log))
