"""Who asks the controller of a group besides its brokers: operators that look, and strangers.

None of it may change anything: an operator asks what the controller knows, or wants what it must
refuse; a stranger is of another group, is an incarnation that is gone, or speaks another language.
But for one heartbeat that says nothing but who lives: then the controller does not know how far
that broker is.
Each request comes over a channel of its own, and its sender waits for the answer. What must be
answered is a matter of `rocketha.obligations.controller_answers`.

Source: tools/command/controller (mqadmin), controller/processor `ControllerRequestProcessor`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Final

from rocketha.controller.state import Group
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    GetControllerConfig,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    GetSyncStateData,
    Heartbeat,
    Incarnation,
    RegisterBroker,
    UpdateControllerConfig,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import push_command
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import INT64_MAX, BrokerId, Epoch, SyncStateSetEpoch, TimestampMs

__all__ = ["Outsiders"]

_OPAQUE: Final = 1
_OTHER: Final = "broker-of-another-group"
_STRANGER: Final = BrokerId(99)
"""A replica that no group has."""
_NO_REQUEST: Final = 999
_NO_JSON: Final = b"{"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """What an outsider knows, and draws from."""

    group: Group
    replica: BrokerId
    """One of the group's."""
    rng: Random
    now_ms: TimestampMs
    """By the controller's clock."""

    def any_name(self) -> str:
        """Return the group's name, or another one."""
        return self.rng.choice((self.group.broker_name, self.group.broker_name, _OTHER))

    @property
    def has_live_master(self) -> bool:
        """Tell whether the controller hears a master."""
        return self.group.live_master(self.now_ms) is not None


_Ask = Callable[[_Scene], ControllerRequest | RemotingCommand | bytes]


class Outsiders:
    """All of them; `ask` lets one of them speak."""

    def __init__(self, cluster: GroupCluster) -> None:
        """Prepare them; they do nothing by themselves."""
        self._cluster = cluster

    def ask(self, injection: Injection) -> None:
        """Send a request that is drawn, if there is a controller, and a group that it knows."""
        group, rng = self._cluster.group, injection.rng
        make, replica = rng.choice(_ASKED), rng.choice(list(self._cluster.nodes))
        if group is None or replica not in group.replicas or not self._cluster.controller.serves:
            return
        if make in (_cleaning, _proposal) and self._cluster.controllers is not None:
            return  # what must be refused now may be granted when it is agreed on
        now_ms = self._cluster.controller_shows_ms
        asked = make(_Scene(group=group, replica=replica, rng=rng, now_ms=now_ms))
        injection.note(f"an outsider asks the controller: {make.__name__.strip('_')}")
        self._cluster.channels.ask_from_outside(_frame(asked))

    def ask_of_removed(self, group: Group) -> None:
        """Ask for a group that was removed as if it were there: it is not known."""
        replica = min(group.replicas)
        election = ElectMaster(cluster_name=group.cluster_name, broker_name=group.broker_name)
        proposal = AlterSyncStateSet(
            broker_name=group.broker_name,
            master_broker_id=replica,
            master_epoch=group.master_epoch,
            sync_state_set=SyncStateSet(frozenset({replica}), group.sync_state_set.epoch),
        )
        clean = CleanBrokerData(cluster_name=group.cluster_name, broker_name=group.broker_name)
        info = GetReplicaInfo(broker_name=group.broker_name)
        data = GetSyncStateData(broker_names=(group.broker_name,))
        beat = _beat_of(group, replica)
        designation = replace(election, broker_id=replica, designate_elect=True)
        asked: tuple[ControllerRequest, ...] = (info, data, election, designation, proposal)
        for request in (*asked, beat, replace(clean, clean_living=True)):
            self._cluster.channels.ask_from_outside(_frame(request))

    def beat_without_more(self) -> None:
        """Say that a broker lives, and nothing else: heartbeats of old brokers are like that."""
        cluster, group = self._cluster, self._cluster.group
        if group is None or not cluster.controller.serves:
            return
        for broker in sorted(group.replicas):
            if cluster.nodes[broker].state is not None and broker not in cluster.starting:
                beat = _beat_of(group, broker)
                cluster.channels.ask_from_outside(_frame(beat))
                return


def _beat_of(group: Group, broker: BrokerId) -> Heartbeat:
    known = group.replicas[broker]
    return Heartbeat(
        cluster_name=group.cluster_name,
        broker_name=group.broker_name,
        broker_address=known.address,
        broker_id=broker,
        incarnation=known.incarnation,
    )


def _frame(asked: ControllerRequest | RemotingCommand | bytes) -> bytes:
    if isinstance(asked, bytes):
        return asked
    if not isinstance(asked, RemotingCommand):
        asked = push_request(asked, opaque=_OPAQUE)
    return push_command(asked)


# ---- operators that look ----


def _replica_info(scene: _Scene) -> ControllerRequest:
    return GetReplicaInfo(broker_name=scene.any_name())


def _sync_state_data(scene: _Scene) -> ControllerRequest:
    return GetSyncStateData(broker_names=(_OTHER, scene.group.broker_name))


def _next_broker_id(scene: _Scene) -> ControllerRequest:
    return GetNextBrokerId(cluster_name=scene.group.cluster_name, broker_name=scene.any_name())


def _of_the_controller(scene: _Scene) -> ControllerRequest:
    """Ask who leads, and how it is configured, or want that otherwise: then it is refused."""
    wanted = MappingProxyType({"scanNotActiveBrokerInterval": "1"})
    return scene.rng.choice(
        (GetMetadataInfo(), GetControllerConfig(), UpdateControllerConfig(settings=wanted))
    )


# ---- operators that want what must not be ----


def _needless_election(scene: _Scene) -> ControllerRequest:
    return ElectMaster(
        cluster_name=scene.group.cluster_name,
        broker_name=scene.any_name() if scene.has_live_master else _OTHER,
        broker_id=scene.rng.choice((None, scene.replica)),
    )


def _election_of_nobody(scene: _Scene) -> ControllerRequest:
    return ElectMaster(
        cluster_name=scene.group.cluster_name,
        broker_name=scene.group.broker_name,
        broker_id=_STRANGER,
        designate_elect=bool(scene.group.members),  # the first master is not designated
    )


def _election_of_the_master(scene: _Scene) -> ControllerRequest:
    return ElectMaster(
        cluster_name=scene.group.cluster_name,
        broker_name=scene.group.broker_name,
        broker_id=scene.group.master if scene.has_live_master else _STRANGER,
        designate_elect=True,
    )


def _cleaning(scene: _Scene) -> ControllerRequest:
    """Ask to remove what cannot be read, nobody, who lives, or all that could be elected."""
    clean = CleanBrokerData(
        cluster_name=scene.group.cluster_name, broker_name=scene.group.broker_name
    )
    ids = ";".join(str(broker) for broker in sorted(scene.group.members)) or str(_STRANGER)
    refused = [
        replace(clean, ids_to_clean=f"{ids};all"),
        replace(clean, ids_to_clean=str(_STRANGER)),
        replace(clean, broker_name=_OTHER),
    ]
    if scene.has_live_master:
        refused += [clean, replace(clean, ids_to_clean=f" {scene.group.master} ")]
    if scene.group.members and scene.group.replicas.keys() > scene.group.members:
        refused.append(replace(clean, ids_to_clean=ids, clean_living=True))
    return scene.rng.choice(refused)


# ---- strangers, and who is late ----


def _proposal(scene: _Scene) -> ControllerRequest:
    """Propose to have everybody in the set, with an epoch that is over, or as somebody else."""
    present = AlterSyncStateSet(
        broker_name=scene.group.broker_name,
        master_broker_id=scene.group.master or scene.replica,
        master_epoch=scene.group.master_epoch,
        sync_state_set=SyncStateSet(
            frozenset({*scene.group.members, _STRANGER}), scene.group.sync_state_set.epoch
        ),
    )
    of_set = replace(
        present.sync_state_set, epoch=SyncStateSetEpoch(present.sync_state_set.epoch + 1)
    )
    return scene.rng.choice(
        (
            replace(present, broker_name=_OTHER),
            replace(present, master_broker_id=_STRANGER),
            replace(present, master_epoch=Epoch(present.master_epoch + 1)),
            replace(present, sync_state_set=of_set),
            replace(present, sync_state_set=replace(of_set, members=scene.group.members)),
        )
    )


def _heartbeat(scene: _Scene) -> ControllerRequest:
    """Say that one lives whom the controller does not know, or not any more."""
    known = scene.group.replicas[scene.replica]
    beat = replace(
        _beat_of(scene.group, scene.replica), incarnation=Incarnation(known.incarnation + 1)
    )
    return scene.rng.choice(
        (
            beat,
            replace(beat, incarnation=Incarnation(max(0, known.incarnation - 1)))
            if known.incarnation
            else beat,
            replace(beat, broker_id=_STRANGER),
            replace(beat, broker_name=_OTHER, broker_id=_STRANGER),
        )
    )


def _registration(scene: _Scene) -> ControllerRequest:
    """Register as somebody who is not known, or as one that is gone."""
    known = scene.group.replicas[scene.replica]
    request = RegisterBroker(
        cluster_name=scene.group.cluster_name,
        broker_name=scene.group.broker_name,
        broker_id=_STRANGER,
        broker_address=known.address,
        incarnation=Incarnation(max(0, known.incarnation - 1)),
    )
    return scene.rng.choice(
        (
            request,
            replace(request, broker_name=_OTHER),
            replace(request, broker_id=scene.replica) if known.incarnation else request,
        )
    )


def _application(scene: _Scene) -> ControllerRequest:
    """Apply for an id that somebody has, once more as who has it, or for no first id."""
    request = ApplyBrokerId(
        cluster_name=scene.group.cluster_name,
        broker_name=scene.group.broker_name,
        applied_broker_id=scene.replica,
        register_check_code="somebody;0",
    )
    return scene.rng.choice(
        (
            request,
            replace(request, register_check_code=scene.group.replicas[scene.replica].check_code),
            replace(request, broker_name=_OTHER, applied_broker_id=_STRANGER),
            replace(request, applied_broker_id=BrokerId(INT64_MAX)),
        )
    )


# ---- who speaks another language ----


def _no_request(scene: _Scene) -> RemotingCommand:
    """Ask what no controller answers, or leave out what is asked for."""
    known = push_request(GetReplicaInfo(broker_name=scene.group.broker_name), opaque=_OPAQUE)
    return scene.rng.choice(
        (replace(known, code=_NO_REQUEST), replace(known, ext_fields=MappingProxyType({})))
    )


def _no_json(scene: _Scene) -> RemotingCommand:
    asked = push_request(_sync_state_data(scene), opaque=_OPAQUE)
    return replace(asked, body=_NO_JSON)


def _response(scene: _Scene) -> RemotingCommand:
    asked = push_request(_application(scene), opaque=_OPAQUE)
    return replace(asked, flag=FLAG_RESPONSE)


def _no_frame(scene: _Scene) -> bytes:
    """Send two frames as one, the half of one, or no number that says how long it is."""
    frame = _frame(_replica_info(scene))
    return scene.rng.choice((frame + frame, frame[: len(frame) // 2], b"\xff" * len(frame)))


_ASKED: Final[tuple[_Ask, ...]] = (
    _replica_info,
    _sync_state_data,
    _sync_state_data,
    _next_broker_id,
    _of_the_controller,
    _of_the_controller,
    _needless_election,
    _election_of_nobody,
    _election_of_the_master,
    _cleaning,
    _cleaning,
    _proposal,
    _proposal,
    _proposal,
    _heartbeat,
    _heartbeat,
    _registration,
    _registration,
    _application,
    _application,
    _no_request,
    _no_request,
    _no_json,
    _no_frame,
    _response,
)
