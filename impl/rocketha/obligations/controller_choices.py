"""What a controller should decide: whom it elects, and which proposals it takes.

This follows from what its log says of the group and from the frames that it received, and not from
what it does. Who can be elected, and who is the best, is DefaultElectPolicy's: a member that lives
with the greatest epoch and then log end, by its last heartbeat, then with the least priority; of
equals, ours elects the one with the least id. A member that registered with a torn log cannot.

Source: DefaultElectPolicy, ReplicasInfoManager
"""

from __future__ import annotations

from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    Heartbeat,
    RegisterBroker,
)
from rocketha.obligations.controller_view import GroupKnown
from rocketha.obligations.signs_of_life import SignsOfLife
from rocketha.types import INT32_MAX, NO_EPOCH

__all__ = ["ControllerChoices"]


class ControllerChoices:
    """Follows the heartbeats to a controller, and says what it should decide by them."""

    def __init__(
        self, signs: SignsOfLife, *, elects_unclean: bool = False, broker_name: str | None = None
    ) -> None:
        """Begin without heartbeats; `signs` says who lives, of brokers `b1`, `b2`, ...

        Proposals to other groups than `broker_name` are none of ours; None: there are no others.
        """
        self.broker_name = broker_name
        self._signs = signs
        self.elects_unclean = elects_unclean
        self._heard: dict[int, Heartbeat] = {}
        """Broker -> the last heartbeat of its registered incarnation."""

    # ---- what is heard ----

    def beat(self, request: Heartbeat) -> None:
        """Note a heartbeat of the registered incarnation."""
        self._heard[request.broker_id] = request

    def last_heartbeat(self, broker: int) -> Heartbeat | None:
        """Return what a broker has said last in its registered incarnation."""
        return self._heard.get(broker)

    def restarted(self, broker: int) -> None:
        """Forget what the incarnation before has said."""
        self._heard.pop(broker, None)

    def forget(self) -> None:
        """Forget everybody: the group was removed."""
        self._heard.clear()

    def lives(self, broker: int) -> bool:
        """Tell whether the controller hears a broker."""
        return self._signs.is_alive(f"b{broker}")

    # ---- elections ----

    def elected(self, group: GroupKnown, request: ControllerRequest | None) -> int | None:
        """Return who must be elected if somebody is; None: nobody can be.

        An operator, or the first broker of a group without members, names it.
        """
        asked = request if isinstance(request, ElectMaster) else None
        if not group.members or (asked is not None and asked.designate_elect):
            return None if asked is None else asked.broker_id
        return min(self._candidates(group), key=self._rank, default=None)

    def owed(self, group: GroupKnown) -> int | None:
        """Return whom a scan must elect: the master is silent, and somebody else can be."""
        lives = group.master is not None and self.lives(group.master)
        return None if group.is_new or lives else self.elected(group, None)

    def _candidates(self, group: GroupKnown) -> frozenset[int]:
        """Return who can be elected: members first, then, if that is allowed, anybody."""
        fit = frozenset(b for b in group.members - group.unfit if self.lives(b))
        if fit or not self.elects_unclean:
            return fit
        return frozenset(b for b in group.incarnations if self.lives(b))

    def _rank(self, broker: int) -> tuple[int, int, int, int]:
        last = self._heard.get(broker)
        if last is None:
            return 1, 1, INT32_MAX, broker
        priority = INT32_MAX if last.election_priority is None else last.election_priority
        epoch = NO_EPOCH if last.epoch is None else last.epoch
        max_offset = -1 if last.max_offset is None else last.max_offset
        return -epoch, -max_offset, priority, broker

    # ---- proposals ----

    def is_right(self, request: AlterSyncStateSet, group: GroupKnown) -> bool:
        """Tell whether nothing speaks against a proposal."""
        found = request.sync_state_set
        return (
            _is_fresh(request, group)
            and found.members != group.members
            and group.master in found.members
            and not self.is_amiss(request, group)
        )

    def is_amiss(self, request: AlterSyncStateSet, group: GroupKnown) -> bool:
        """Tell whether a replica of the set is silent, or one that joins has started again."""
        joining = request.joining.items()
        return not self._all_live(request) or any(
            group.incarnations.get(b) != i for b, i in joining
        )

    def _judged(
        self, request: AlterSyncStateSet, before: GroupKnown, after: GroupKnown
    ) -> str | None:
        """Return the action that a judgement must be; None: nothing came of it, and need not.

        A proposal against which nothing speaks is taken; one with a silent member is refused. What
        else speaks against it is for the specification to say. Nothing comes of one that is not
        for the present set.
        """
        if self.broker_name not in (None, request.broker_name):
            return None
        is_kept = before.members == after.members
        if is_kept and before.set_epoch == after.set_epoch and not _is_fresh(request, before):
            return None
        takes = self.is_right(request, before) or (not is_kept and self._all_live(request))
        return "AlterSyncStateSet" if takes else "RefuseAlter"

    # ---- both ----

    def decision(
        self,
        request: ControllerRequest | None,
        before: GroupKnown,
        after: GroupKnown,
        *,
        scans: bool,
    ) -> tuple[str, int | None] | None:
        """Return the action of ReplicaGroup that an entry must be, and of whom; None: it is none.

        Where a controller does something else, its state is not the one after that action. An
        election is an `ElectMaster` here, and a registration that takes the master nothing.

        Spec: ReplicaGroup!ElectMaster, ReplicaGroup!AlterSyncStateSet, ReplicaGroup!RefuseAlter
        """
        if isinstance(request, AlterSyncStateSet):
            judged = self._judged(request, before, after)
            return None if judged is None else (judged, request.master_broker_id)
        if after.decisions == before.decisions:
            owed = self.owed(before) if scans else None
            return None if owed is None else ("ElectMaster", owed)
        if isinstance(request, CleanBrokerData):
            self.forget()
            return "CleanBrokerData", None
        if isinstance(request, RegisterBroker) or after.master is None:
            return None
        return "ElectMaster", self.elected(before, request) or after.master

    def _all_live(self, request: AlterSyncStateSet) -> bool:
        return all(map(self.lives, request.sync_state_set.members))


def _is_fresh(request: AlterSyncStateSet, group: GroupKnown) -> bool:
    """Tell whether the present master proposes, in its epoch, to change the present set."""
    return (request.master_broker_id, request.master_epoch, request.sync_state_set.epoch) == (
        group.master,
        group.epoch,
        group.set_epoch,
    )
