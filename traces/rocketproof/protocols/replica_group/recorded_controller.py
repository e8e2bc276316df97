"""What records say of the controller of a group: what it decided, and what it knows since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from rocketha.formats.controller_codes import RequestCode
from rocketha.formats.controller_requests import (
    ControllerRequest,
    ElectMaster,
    Heartbeat,
    RegisterBroker,
)
from rocketha.obligations.controller_choices import ControllerChoices
from rocketha.obligations.controller_view import GroupKnown
from rocketha.obligations.recorded_frames import (
    answers_to_outsiders,
    command_of,
    heard_frames,
    request_in,
)
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.recording.record import STOPPED, NodeHeader, NodeRecord, RecordError, SentMessage
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.replica_group.frames import (
    asks_who_lives,
    said_in_answer,
    said_in_notice,
)
from rocketproof.protocols.replica_group.recorded_broker import BrokerSettings, broker
from rocketproof.record_projection import alike, read_field
from tlatrace.values import Fcn, Value, record, tla_set

__all__ = ["ControllerSettings", "Decided", "RecordedController", "read_settings"]

_LEADS: Final = "LeadershipGained"
"""A controller on its own leads when it starts."""
_SCAN: Final = "ScanDue"
_ELECTIONS: Final = ("ElectMaster", "DesignateMaster")
_NOT_ASKED: Final = frozenset({_LEADS, "ChannelGone", _SCAN})
"""After these comes an entry that is no request's; one before asked for no entry."""


class ControllerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="controller"):
    """How the controller is set up."""

    elect_unclean: bool
    broker_name: str | None = None
    """Of the group that the records are of; None: it has no other."""


def read_settings(
    headers: Sequence[NodeHeader],
) -> tuple[dict[str, BrokerSettings], dict[str, ControllerSettings]]:
    """Read how brokers and controllers of a group are set up.

    Raises:
        RecordError: nobody is one of the two, brokers differ, or not all of them have records.
    """
    brokers: dict[str, BrokerSettings] = {}
    controllers: dict[str, ControllerSettings] = {}
    for header in headers:
        what = f"settings of {header.node}"
        settings: BrokerSettings | ControllerSettings = read_field(
            header.settings, BrokerSettings | ControllerSettings, what
        )
        if isinstance(settings, BrokerSettings):
            brokers[header.node] = settings
        else:
            controllers[header.node] = settings
    if not controllers or not brokers:
        raise RecordError("there are not the records of a controller and of brokers")
    missing = sorted(set(alike(brokers).brokers) ^ set(brokers))
    if missing:
        raise RecordError(f"{missing[0]} has no records, or is none of the group's brokers")
    return brokers, controllers


class _Set(msgspec.Struct, frozen=True):
    members: tuple[int, ...]
    epoch: int


@dataclass(frozen=True, slots=True)
class Decided:
    """An action of the controller."""

    action: str | None
    params: tuple[Value, ...] = ()
    restarted: str | None = None
    """Who has come back."""
    shown: Value | None = None
    """`ctl` behind what is decided, as the controller says that it is."""


class RecordedController:
    """What the controller knows of the group, as it has written it last."""

    def __init__(self, brokers: Sequence[str], settings: ControllerSettings) -> None:
        """Begin with a controller that knows nobody."""
        self.starts: dict[str, dict[int, int]] = {name: {} for name in brokers}
        """Broker -> its registered incarnation -> crashes before that."""
        self._incarnations: dict[str, int] = dict.fromkeys(brokers, 0)
        self._master: int | None = None
        self.epoch = 0
        """The masterEpoch."""
        self._set = _Set((), 0)
        self._unfit: tuple[int, ...] = ()
        self._registered: dict[int, int] = {}
        self._alive = set(brokers)
        """Who is alive for the specification."""
        self._signs = SignsOfLife()
        self._choices = ControllerChoices(
            self._signs, elects_unclean=settings.elect_unclean, broker_name=settings.broker_name
        )
        self._scans = False
        self._request: tuple[int, ControllerRequest] | None = None
        """What was received, and on which channel, until it is applied."""
        self._codes: dict[str, int] = {}
        """The id of the answer to a request -> what that asks."""

    def value(self) -> Value:
        """Return `ctl`."""
        return record(
            {
                "master": NONE if self._master is None else broker(self._master),
                "epoch": self.epoch,
                "sss": tla_set(map(broker, self._set.members)),
                "sssEpoch": self._set.epoch,
                "inc": record(dict(self._incarnations)),
                "unfit": tla_set(map(broker, self._unfit)),
            }
        )

    def after(
        self,
        written: NodeRecord,
        received: Sequence[SentMessage],
        crashes: Mapping[str, int],
    ) -> list[Decided]:
        """Take a record; return what the controller has decided in it. Raises: RecordError"""
        before, known = self.value(), self._known
        if written.event == STOPPED:
            self._request, self._scans = None, False
            return []
        if written.event in _NOT_ASKED:
            self._request, self._scans = None, written.event == _SCAN
        if written.event == _LEADS:
            self._signs.started(written.shows_ms)
        if received or written.heard:
            self._hear(written, received)
        self._read(written.state)
        decided: list[Decided] = []
        if written.action == "EntryActed":
            self._signs.applied(written.shows_ms)
            heard, self._request = self._request, None
            scans, self._scans = self._scans, False
            request = None if heard is None else heard[1]
            decided = self._silence(request, crashes)
            if heard is not None and isinstance(request, RegisterBroker):
                decided += self._register(heard[0], request, crashes)
            decided += self._decided(request, known, scans=scans and heard is None)
        elif written.action is not None:
            raise RecordError(f"a controller has no action {written.action!r}")
        self._incarnations |= {
            broker(number): self.starts[broker(number)].get(incarnation, 0)
            for number, incarnation in self._registered.items()
        }
        if not decided and self.value() != before:
            decided.append(Decided("ElectMaster", (self._name_of(self._master),)))
        return [*decided, *self._unnotified(written, decided), *self._said(written)]

    @property
    def _known(self) -> GroupKnown:
        return GroupKnown(
            master=self._master,
            epoch=self.epoch,
            members=frozenset(self._set.members),
            set_epoch=self._set.epoch,
            unfit=frozenset(self._unfit),
            incarnations=self._registered,
        )

    def _read(self, state: Mapping[str, Any]) -> None:
        if "master" in state:
            self._master = read_field(state["master"], int | None, "master")
        if "master_epoch" in state:
            self.epoch = read_field(state["master_epoch"], int, "master_epoch")
        if "sync_state_set" in state:
            self._set = read_field(state["sync_state_set"], _Set, "sync_state_set")
        if "unfit" in state:
            self._unfit = read_field(state["unfit"], tuple[int, ...], "unfit")
        if "incarnations" in state:
            pairs = read_field(state["incarnations"], tuple[tuple[int, int], ...], "incarnations")
            self._registered = dict(pairs)

    # ---- what it hears, and says ----

    def _hear(self, written: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Note the request of a step, and signs of life."""
        self._signs.note_time(written.shows_ms)
        for message in received:
            self._codes[message.id.replace(":request", ":response")] = message.code or 0
            channel = message.id.partition(":")[0].removeprefix("controller-")
            command = command_of(message.code, message.body, is_response=False)
            self._note_request(int(channel), request_in(command))
        for heard in heard_frames(written):
            if heard.kind == "ChannelClosed":
                self._signs.closed(heard.channel)
            else:
                self._codes[f"controller-{heard.channel}:{heard.opaque}:response"] = heard.code
                self._note_request(heard.channel, request_in(heard.command))

    def _note_request(self, channel: int, request: ControllerRequest | None) -> None:
        if request is None:
            return
        self._request = (channel, request)
        if not isinstance(request, Heartbeat):
            return
        if self._registered.get(request.broker_id) == request.incarnation:
            self._signs.beat(broker(request.broker_id), channel, request.timeout_ms)
            self._choices.beat(request)

    def _unnotified(self, written: NodeRecord, decided: Sequence[Decided]) -> list[Decided]:
        """Return whom an election was not notified to though the controller hears it."""
        if not any(one.action in _ELECTIONS for one in decided):
            return []
        code = RequestCode.NOTIFY_BROKER_ROLE_CHANGED
        notified = {message.to for message in written.sent if message.code == code}
        return [
            Decided("Unnotified", (name,), shown=self.value())
            for name in self._incarnations
            if self._signs.is_alive(name) and name not in notified
        ]

    def _said(self, written: NodeRecord) -> list[Decided]:
        """Return what is said of the group in a step, if it is not what the controller has."""
        found = []
        for message in (*written.sent, *answers_to_outsiders(written)):
            code = self._codes.pop(message.id, None)
            is_notice = message.id.endswith(":one-way")
            if message.body is None or (code is None and not is_notice):
                continue
            command = command_of(message.code, message.body, is_response=not is_notice)
            said = said_in_notice(command) if code is None else said_in_answer(command, code)
            present = self.value()
            assert isinstance(present, Fcn)
            shown = present.fields() | ({} if said is None else said.fields())
            if shown != present.fields():
                found.append(Decided("ElectMaster", (shown["master"],), shown=record(shown)))
        return found

    # ---- what it decides ----

    def _register(
        self, channel: int, request: RegisterBroker, crashes: Mapping[str, int]
    ) -> list[Decided]:
        """Note a registration that was taken; it is a Restart if the incarnation is new."""
        name, incarnation = broker(request.broker_id), request.incarnation
        if incarnation is None or self._registered.get(request.broker_id) != incarnation:
            return []
        starts = self.starts[name]
        is_new, is_first = incarnation not in starts, not starts
        self._signs.registered(name, channel, restarted=is_new)
        if is_new:
            self._choices.restarted(request.broker_id)
        starts.setdefault(incarnation, crashes[name])
        if is_first or not is_new:
            return []
        self._alive.add(name)
        return [Decided("Restart", (name,), restarted=name)]

    def _decided(
        self, request: ControllerRequest | None, before: GroupKnown, *, scans: bool
    ) -> list[Decided]:
        """Return what is decided about the set, or who is master; a Restart may take that.

        What must be decided, and is not, is an action that the specification does not find.
        """
        decision = self._choices.decision(request, before, self._known, scans=scans)
        match decision:
            case None:
                return []
            case "ElectMaster", int(elected):
                return self._elected(request, before.master, elected)
            case action, who:
                if action == "CleanBrokerData":
                    self._signs.forget()
                return [Decided(action, () if who is None else (broker(who),))]

    def _elected(
        self, request: ControllerRequest | None, master: int | None, number: int
    ) -> list[Decided]:
        """Return an election by the reason that there was for it."""
        elected, decided = broker(number), list[Decided]()
        before = None if master is None else broker(master)
        if not self._signs.is_alive(elected) and elected in self._alive:
            self._alive.discard(elected)
            decided.append(Decided("EvictBroker", (elected, self._incarnations[elected])))
        is_asked = isinstance(request, ElectMaster) and request.designate_elect
        needed = before is None or before not in self._alive
        is_silent = before is not None and not self._signs.is_alive(before)
        action = "DesignateMaster" if not needed and (is_silent or is_asked) else "ElectMaster"
        return [*decided, Decided(action, (elected,))]

    def _silence(
        self, request: ControllerRequest | None, crashes: Mapping[str, int]
    ) -> list[Decided]:
        """Return who is gone and silent, and who is heard although it is gone."""
        found = []
        for name, known in self._incarnations.items():
            is_heard, is_alive = self._signs.is_alive(name), name in self._alive
            if known == crashes[name] or is_heard == is_alive:
                continue
            if is_heard or asks_who_lives(request):
                self._alive ^= {name}
                found.append(Decided("HearAgain" if is_heard else "EvictBroker", (name, known)))
        return found

    @staticmethod
    def _name_of(number: int | None) -> str:
        return NONE if number is None else broker(number)
