"""What brokers hear, from the frames that reach them: when they are done with it, it is judged.

The specification asks that a broker knows what it has heard (`Heard`), and that a master has done
what follows from its steps (`Settled`). This notes who has heard what.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ControllerRequest,
    ElectMaster,
    GetReplicaInfo,
    RegisterBroker,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import BrokerId
from rocketproof.protocols.replica_group.frames import said_in_answer, said_in_notice

__all__ = ["HeardByBrokers", "NoticesOwed"]

_SAY_WHO_IS_MASTER = AlterSyncStateSet | ElectMaster | GetReplicaInfo | RegisterBroker


@dataclass(slots=True)
class HeardByBrokers:
    """What the brokers of a group have heard, and what they wait for."""

    answers_within_ms: int
    """A broker waits so long for an answer of the controller, by its own clock, or longer."""
    _asked: dict[BrokerId, dict[int, tuple[int, int]]] = field(default_factory=dict)
    """Broker -> number of a request -> what it asks, and when it was sent."""
    _views: dict[BrokerId, list[int]] = field(default_factory=dict)
    """Broker -> set epochs of the views that it has heard in the step under way."""
    _reporters: dict[BrokerId, BrokerId] = field(default_factory=dict)
    """Master -> the slave that has reported in the step under way."""

    def asked(
        self,
        broker: BrokerId,
        request: ControllerRequest | None,
        frame: RemotingCommand,
        now_ms: int,
    ) -> None:
        """Note a request to the controller."""
        if isinstance(request, _SAY_WHO_IS_MASTER):
            self._asked.setdefault(broker, {})[frame.opaque] = frame.code, now_ms

    def heard(self, broker: BrokerId, frame: RemotingCommand, now_ms: int) -> None:
        """Note a frame of the controller, an answer or a notice; nobody waits for a late answer."""
        if not frame.is_response:
            said = said_in_notice(frame)
        else:
            code, sent_ms = self._asked.get(broker, {}).pop(frame.opaque, (None, 0))
            if code is None or now_ms - sent_ms >= self.answers_within_ms:
                return
            said = said_in_answer(frame, code)
        if said is not None and said.set_epoch:
            self._views.setdefault(broker, []).append(said.set_epoch)

    def reported(self, master: BrokerId, slave: BrokerId) -> None:
        """Note that a report of a slave has reached its master."""
        self._reporters[master] = slave

    def take_views(self, broker: BrokerId) -> list[int]:
        """Return the set epochs of the views that a broker has heard since it was asked last."""
        return self._views.pop(broker, [])

    def take_reporter(self, master: BrokerId) -> BrokerId | None:
        """Return who has reported to a master since it was asked last."""
        return self._reporters.pop(master, None)

    def stopped(self, broker: BrokerId) -> None:
        """Forget what a broker waits for that is down."""
        for known in (self._asked, self._views, self._reporters):
            known.pop(broker, None)


@dataclass(slots=True)
class NoticesOwed:
    """Whom the controller must still notify of an election, in the step in which it has elected."""

    owed: set[BrokerId] = field(default_factory=set)

    def given(self, broker: BrokerId | None) -> None:
        """Note that a notice is sent."""
        if broker is not None:
            self.owed.discard(broker)

    def take(self) -> list[BrokerId]:
        """Return whom no notice was sent to, when the step is over."""
        unnotified, self.owed = sorted(self.owed), set()
        return unnotified
