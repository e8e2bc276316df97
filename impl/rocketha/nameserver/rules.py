"""The rules of a name server: each is an operator of Route."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.nameserver.table import Group, Registration
from rocketha.types import BrokerId

__all__ = ["RULES", "NameServerRules", "Registrations"]

Registrations: TypeAlias = Mapping[BrokerId, Registration]
"""The brokers of a group."""


def has_master(brokers: Registrations) -> bool:
    """Tell whether one of the brokers is the master."""
    return any(one.is_master for one in brokers.values())


def is_newest(group: Group, new: Registration) -> bool:
    """Tell whether a master is of the newest epoch of which one has registered, or a newer one.

    Spec: Route!IsNewest
    """
    return not new.is_master or new.epoch >= group.newest_epoch


def is_in_order(group: Group, new: Registration) -> bool:
    """Tell whether a broker has registered nothing later.

    Spec: Route!IsInOrder
    """
    present = group.found(new.address)
    return present is None or present.order <= new.order


def is_replaced(present: Registration, new: Registration) -> bool:
    """Tell whether a registration takes the place of another one: of its broker, or its brokerId.

    Spec: Route!IsReplaced
    """
    return present.address == new.address or present.broker_id == new.broker_id


def left_by_refused(group: Group, new: Registration) -> Registrations:
    """Return who is registered after a registration that was refused: whoever was.

    Spec: Route!LeftByRefused
    """
    del new
    return group.brokers


def may_mask(is_acting: bool) -> bool:
    """Tell whether topics of a group may become read-only: if it has asked for an acting slave.

    Spec: Route!MayMask
    """
    return is_acting


def masks_at_registration(brokers: Registrations, new: Registration) -> bool:
    """Tell whether topics become read-only with a registration: where it leaves no master.

    Spec: Route!MasksAtRegistration
    """
    del new
    return not has_master(brokers)


def masked_with_master(was_masked: bool) -> bool:
    """Tell whether topics are read-only when a master has registered: never.

    Spec: Route!PermWithMaster
    """
    del was_masked
    return False


def is_meant(present: Registration, meant: Registration) -> bool:
    """Tell whether the end of a registration ends this one: the same, or one before it.

    Brokers of RocketMQ do not count on when they have another connection: of two that are alike it
    is the one on that connection.

    Spec: Route!IsMeant, Route!IsBefore
    """
    if present.address != meant.address:
        return False
    return present.order < meant.order or (
        present.order == meant.order and present.conn == meant.conn
    )


def masks_without(brokers: Registrations) -> bool:
    """Tell whether topics are read-only when brokers are gone: where no master is left.

    Spec: Route!PermWithout
    """
    return not has_master(brokers)


def who_acts(brokers: Registrations) -> BrokerId | None:
    """Return the brokerId of the slave that acts for the master: the smallest one.

    Spec: Route!WhoActs
    """
    return min(brokers, default=None)


def may_act(group: Group) -> bool:
    """Tell whether a slave is shown in the master's place: where there is no master.

    Spec: Route!MayAct
    """
    return group.acting and not has_master(group.brokers)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerRules:
    """What a name server makes of registrations and of their ends, and whom it shows."""

    is_newest: Callable[[Group, Registration], bool] = is_newest
    is_in_order: Callable[[Group, Registration], bool] = is_in_order
    is_replaced: Callable[[Registration, Registration], bool] = is_replaced
    left_by_refused: Callable[[Group, Registration], Registrations] = left_by_refused
    may_mask: Callable[[bool], bool] = may_mask
    masks_at_registration: Callable[[Registrations, Registration], bool] = masks_at_registration
    masked_with_master: Callable[[bool], bool] = masked_with_master
    is_meant: Callable[[Registration, Registration], bool] = is_meant
    masks_without: Callable[[Registrations], bool] = masks_without
    who_acts: Callable[[Registrations], BrokerId | None] = who_acts
    may_act: Callable[[Group], bool] = may_act


RULES: Final = NameServerRules()
"""The rules as the specification has them."""
