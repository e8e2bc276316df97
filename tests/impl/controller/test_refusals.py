"""Every request's every refusal, each reached, in RocketMQ's order and with its codes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pytest

from rocketha.controller.dispatch import Arrival, ControllerOptions
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_requests import (
    CleanBrokerData,
    GetReplicaInfo,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.controller_responses import Reply, pull_reply
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import BrokerId, ConnectionId, TimestampMs
from tests.impl.controller.scene import (
    CLUSTER,
    GROUP,
    METADATA,
    Scene,
    registered,
    with_master,
)
from tests.impl.controller.serving import serve
from tests.source_files import ROOT, parsed

R = ResponseCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A request that is refused, and what its answer says."""

    request: RequestCode
    code: ResponseCode
    remark: str
    ask: Callable[[], tuple[Scene, Reply]]


def _asked(scene: Scene, ask: Callable[[Scene], Reply], *, spends: bool) -> tuple[Scene, Reply]:
    """Ask, and see that a refusal changed nothing, or only spent the version of the set."""
    before = scene.state.groups
    reply = ask(scene)
    if spends:
        group = before[GROUP]
        assert scene.state.groups == {**before, GROUP: group.with_set(group.members)}
    else:
        assert scene.state.groups == before
    return scene, reply


def _with(
    make: Callable[[], Scene], ask: Callable[[Scene], Reply], *, spends: bool
) -> Callable[[], tuple[Scene, Reply]]:
    return lambda: _asked(make(), ask, spends=spends)


def _silent_slave() -> Scene:
    scene = with_master(1, 2, 3, members=[1])
    scene.silence(1, 3)
    return scene


def _dead_master() -> Scene:
    scene = with_master(1, 2, members=[1])
    scene.silence(2)
    return scene


def _without_master() -> Scene:
    scene = with_master(1, 2)
    scene.register(1, incarnation=1)
    return scene


def _restarted_slave() -> Scene:
    scene = with_master(1, 2, members=[1])
    scene.register(2, incarnation=1)
    return scene


def _clean(ids_to_clean: str | None = None, *, living: bool = False) -> Callable[[Scene], Reply]:
    request = CleanBrokerData(broker_name=GROUP, ids_to_clean=ids_to_clean, clean_living=living)
    return lambda scene: scene.do(request).reply


def _on_the_wire(request: RequestCode, **fields: str) -> Callable[[Scene], Reply]:
    """Ask in a frame, for what no typed request can say."""

    def ask(scene: Scene) -> Reply:
        frame = push_command(RemotingCommand(code=request, opaque=1, ext_fields=fields))
        arrival = Arrival(at_ms=TimestampMs(scene.now_ms), channel=ConnectionId(1))
        served = serve(
            scene.state, frame, arrival=arrival, options=ControllerOptions(metadata=METADATA)
        )
        pulled = None if served.out is None else pull_command(served.out)
        assert pulled is not None
        return pull_reply(pulled[0], request)

    return ask


_STRANGER = BrokerId(9)
_HEARTBEAT = Heartbeat(
    cluster_name=CLUSTER, broker_name=GROUP, broker_address="h:1", broker_id=_STRANGER
)
_REGISTER = RegisterBroker(
    cluster_name=CLUSTER, broker_name=GROUP, broker_id=_STRANGER, broker_address="h:1"
)
_ALTER = RequestCode.ALTER_SYNC_STATE_SET
_ELECT = RequestCode.ELECT_MASTER
_ID = RequestCode.APPLY_BROKER_ID
_REG = RequestCode.REGISTER_BROKER
_CLEAN = RequestCode.CLEAN_BROKER_DATA
_BEAT = RequestCode.BROKER_HEARTBEAT


def _row(
    request: RequestCode,
    code: ResponseCode,
    remark: str,
    make: Callable[[], Scene],
    ask: Callable[[Scene], Reply],
    *,
    spends: bool = False,
) -> Refusal:
    asked = _with(make, ask, spends=spends)
    return Refusal(request=request, code=code, remark=remark, ask=asked)


def _two() -> Scene:
    return with_master(1, 2)


def _lonely() -> Scene:
    return with_master(1, 2, members=[1])


REFUSALS: Final = (
    _row(
        _ALTER,
        R.ALTER_SYNC_STATE_SET_FAILED,
        "the group broker-a is not known",
        Scene,
        lambda s: s.alter([1]).reply,
    ),
    _row(
        _ALTER,
        R.ALTER_SYNC_STATE_SET_FAILED,
        "the proposed set is the present one",
        _two,
        lambda s: s.alter([1, 2]).reply,
        spends=True,
    ),
    _row(
        _ALTER,
        R.INVALID_MASTER,
        "the master is 1, not 2",
        _two,
        lambda s: s.alter([1], master=2).reply,
    ),
    _row(
        _ALTER,
        R.INVALID_MASTER,
        "the master is None, not 1",
        _without_master,
        lambda s: s.alter([1]).reply,
    ),
    _row(
        _ALTER,
        R.FENCED_MASTER_EPOCH,
        "the master epoch is 1, not 2",
        _two,
        lambda s: s.alter([1], epoch=2).reply,
    ),
    _row(
        _ALTER,
        R.FENCED_SYNC_STATE_SET_EPOCH,
        "the set's epoch is 2, not 1",
        _two,
        lambda s: s.alter([1], expected=1).reply,
    ),
    _row(
        _ALTER,
        R.INVALID_REPLICAS,
        "there is no replica 9",
        _two,
        lambda s: s.alter([1, 9]).reply,
        spends=True,
    ),
    _row(
        _ALTER,
        R.BROKER_NOT_ALIVE,
        "the replica 2 is not alive",
        _silent_slave,
        lambda s: s.alter([1, 2]).reply,
        spends=True,
    ),
    _row(
        _ALTER,
        R.BROKER_NOT_ALIVE,
        "the replica 2 is in incarnation 1",
        _restarted_slave,
        lambda s: s.alter([1, 2], joining={2: 0}).reply,
        spends=True,
    ),
    _row(
        _ALTER,
        R.ALTER_SYNC_STATE_SET_FAILED,
        "the proposed set lacks the master 1",
        _two,
        lambda s: s.alter([2]).reply,
        spends=True,
    ),
    _row(
        _ELECT,
        R.BROKER_NEED_TO_BE_REGISTERED,
        "the group broker-a is not known",
        Scene,
        lambda s: s.elect(1).reply,
    ),
    _row(
        _ELECT,
        R.BROKER_NEED_TO_BE_REGISTERED,
        "there is no replica 9",
        lambda: registered(1),
        lambda s: s.elect(9).reply,
    ),
    _row(
        _ELECT,
        R.MASTER_STILL_EXIST,
        "the master 1 is still alive",
        _two,
        lambda s: s.elect(2).reply,
    ),
    _row(
        _ELECT,
        R.MASTER_STILL_EXIST,
        "the master 1 is still alive",
        _two,
        lambda s: s.elect(1, designate=True).reply,
    ),
    _row(
        _ELECT,
        R.MASTER_NOT_AVAILABLE,
        "the old master is gone, and nobody can be elected",
        _dead_master,
        lambda s: s.elect().reply,
    ),
    _row(
        _ELECT,
        R.ELECT_MASTER_FAILED,
        "nobody can be elected",
        _dead_master,
        lambda s: s.elect(2).reply,
    ),
    _row(
        _ELECT,
        R.ELECT_MASTER_FAILED,
        "nobody can be elected",
        _lonely,
        lambda s: s.elect(2, designate=True).reply,
    ),
    _row(
        _REG,
        R.BROKER_NEED_TO_BE_REGISTERED,
        "the group broker-a is not known",
        Scene,
        lambda s: s.do(_REGISTER).reply,
    ),
    _row(
        _REG,
        R.BROKER_NEED_TO_BE_REGISTERED,
        "there is no replica 9 in the group broker-a",
        _two,
        lambda s: s.do(_REGISTER).reply,
    ),
    _row(
        _REG,
        R.INVALID_REQUEST,
        "the replica 2 is in incarnation 1",
        _restarted_slave,
        lambda s: s.register(2, incarnation=0).reply,
    ),
    _row(
        RequestCode.GET_REPLICA_INFO,
        R.BROKER_METADATA_NOT_EXIST,
        "the group broker-a is not known",
        Scene,
        lambda s: s.ask(GetReplicaInfo(broker_name=GROUP)),
    ),
    _row(
        _ID,
        R.BROKER_ID_INVALID,
        "the first id of the group broker-a is 1",
        Scene,
        lambda s: s.apply_id(2).reply,
    ),
    _row(
        _ID,
        R.BROKER_ID_INVALID,
        "the id 1 is taken; 3 is free",
        _two,
        lambda s: s.apply_id(1, "other:1;18").reply,
    ),
    _row(
        _CLEAN,
        R.INVALID_CLEAN_BROKER_METADATA,
        "the group broker-a is not known",
        Scene,
        _clean(),
    ),
    _row(
        _CLEAN,
        R.INVALID_CLEAN_BROKER_METADATA,
        "the group broker-a has a living master",
        _two,
        _clean(),
    ),
    _row(
        _CLEAN,
        R.INVALID_CLEAN_BROKER_METADATA,
        "'1,2' is not a list like 1;2",
        _two,
        _clean("1,2"),
    ),
    _row(_CLEAN, R.INVALID_CLEAN_BROKER_METADATA, "the replica 2 is alive", _two, _clean("9;2")),
    _row(
        _CLEAN,
        R.INVALID_CLEAN_BROKER_METADATA,
        "no member of the SyncStateSet would remain",
        _dead_master,
        _clean("1"),
    ),
    _row(
        _BEAT,
        R.BROKER_NEED_TO_BE_REGISTERED,
        "the replica 9 of broker-a is not known",
        _two,
        lambda s: s.do(_HEARTBEAT, channel=9).reply,
    ),
    _row(
        _BEAT,
        R.BROKER_NEED_TO_BE_REGISTERED,
        "the incarnation 1 is not registered",
        _two,
        lambda s: s.beat(2, incarnation=1).reply,
    ),
    _row(
        _BEAT,
        R.INVALID_REQUEST,
        "the replica 2 is in incarnation 1",
        _restarted_slave,
        lambda s: s.beat(2).reply,
    ),
    _row(
        _BEAT,
        R.INVALID_REQUEST,
        "clusterName is missing",
        Scene,
        _on_the_wire(_BEAT),
    ),
    _row(
        RequestCode.GET_NEXT_BROKER_ID,
        R.INVALID_REQUEST,
        "clusterName is missing",
        Scene,
        _on_the_wire(RequestCode.GET_NEXT_BROKER_ID),
    ),
    _row(
        RequestCode.UPDATE_CONTROLLER_CONFIG,
        R.NO_PERMISSION,
        "this controller takes its settings when it starts",
        Scene,
        _on_the_wire(RequestCode.UPDATE_CONTROLLER_CONFIG),
    ),
    _row(
        RequestCode.GET_BROKER_EPOCH_CACHE,
        R.REQUEST_CODE_NOT_SUPPORTED,
        "request type 1007 not supported",
        Scene,
        _on_the_wire(RequestCode.GET_BROKER_EPOCH_CACHE),
    ),
)

# What RocketMQ's state machine answers when it refuses: ReplicasInfoManager.
ROCKETMQS: Final = {
    _ALTER: {
        R.ALTER_SYNC_STATE_SET_FAILED,
        R.INVALID_MASTER,
        R.FENCED_MASTER_EPOCH,
        R.FENCED_SYNC_STATE_SET_EPOCH,
        R.INVALID_REPLICAS,
        R.BROKER_NOT_ALIVE,
    },
    _ELECT: {
        R.BROKER_NEED_TO_BE_REGISTERED,
        R.MASTER_STILL_EXIST,
        R.MASTER_NOT_AVAILABLE,
        R.ELECT_MASTER_FAILED,
    },
    _ID: {R.BROKER_ID_INVALID},
    _REG: {R.BROKER_NEED_TO_BE_REGISTERED},
    RequestCode.GET_REPLICA_INFO: {R.BROKER_METADATA_NOT_EXIST},
    _CLEAN: {R.INVALID_CLEAN_BROKER_METADATA},
    _BEAT: {R.INVALID_REQUEST},
}

# Codes of RocketMQ that this controller has no use for.
WITHOUT_USE: Final = {
    R.SUCCESS,
    R.NOT_LEADER,
    R.JRAFT_INTERNAL_ERROR,
    R.BROKER_LIVE_INFO_NOT_EXISTS,
}


@pytest.mark.parametrize("row", REFUSALS, ids=[f"{r.request.name}: {r.remark}" for r in REFUSALS])
def test_a_refusal_says_why_and_changes_nothing_but_the_version_of_a_set(row: Refusal) -> None:
    _, reply = row.ask()
    assert (reply.code, reply.remark) == (row.code, row.remark)


def test_the_table_has_every_refusal_of_rocketmq() -> None:
    reached: dict[RequestCode, set[ResponseCode]] = {}
    for row in REFUSALS:
        reached.setdefault(row.request, set()).add(row.code)
    missing = {request: codes - reached.get(request, set()) for request, codes in ROCKETMQS.items()}
    assert {request: codes for request, codes in missing.items() if codes} == {}


def test_the_table_has_every_code_that_the_controller_can_answer() -> None:
    named = {
        ResponseCode[node.attr]
        for path in sorted((ROOT / "impl/rocketha/controller").glob("*.py"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "ResponseCode"
    }
    # An answer that is too large for a frame, and a controller that does not lead, have tests of
    # their own.
    assert named - {R.SUCCESS, R.SYSTEM_ERROR, R.NOT_LEADER} == {row.code for row in REFUSALS}
    assert {row.code for row in REFUSALS} | WITHOUT_USE | {R.SYSTEM_ERROR} == set(ResponseCode)


def test_a_refused_election_shows_the_master_that_is_still_there() -> None:
    reply = with_master(1, 2).elect(2).reply
    sent = pull_reply(
        RemotingCommand(
            code=reply.code,
            opaque=1,
            remark=reply.remark,
            ext_fields={
                "masterBrokerId": "1",
                "masterAddress": "h1:1",
                "masterEpoch": "1",
                "syncStateSetEpoch": "2",
            },
            body=b'{"syncStateSet":[1,2]}',
        ),
        RequestCode.ELECT_MASTER,
    )
    assert reply == sent
