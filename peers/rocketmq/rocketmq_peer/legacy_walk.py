"""Random walks through groups without controllers: the moves of `random_walk`, and power cuts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.group_options import Replication
from rocketmq_peer.random_walk import Move, Walk, Walker
from rocketmq_peer.scenario import LIVE_LEGACY, Scenario

__all__ = ["legacy_scenario_of", "without_controllers"]

_SETTLES_S: Final = 60.0
_FLUSHED_EVERY_MS: Final = (1_000, 3_600_000)
_ROLES: Final = (*[Replication.SYNC_MASTER] * 3, Replication.ASYNC_MASTER)


def without_controllers(walk: Walk) -> Walk:
    """Return a walk with a master for ever, whose producers wait for some of its slaves.

    Logs are flushed when much has come together, or each second: a power cut may take something.
    """
    chance, options = random.Random(f"legacy walk {walk.seed}"), walk.options
    flushed = {"flushCommitLogThoroughInterval": chance.choice(_FLUSHED_EVERY_MS)}
    return replace(
        walk,
        options=replace(
            options,
            replication=chance.choice(_ROLES),
            promises=Promises(in_sync_replicas=chance.randint(2, options.brokers)),
            more_of_brokers={**options.more_of_brokers, **flushed},
        ),
    )


def legacy_scenario_of(walk: Walk, moves: Sequence[Move] | None = None) -> Scenario:
    """Return a walk without controllers as a scenario; with `moves`, with these only."""
    made = walk.moves if moves is None else tuple(moves)
    return Scenario(
        name=f"legacy_walk_{walk.seed}",
        about=f"seed {walk.seed}: {', '.join(map(str, made))}",
        protocols=("legacy_replication",),
        play=lambda stage: _LegacyWalker(stage).play(made),
        options=walk.options,
        museum=LIVE_LEGACY,
    )


class _LegacyWalker(Walker):
    """Nobody is elected; who would be restarted loses its power, and what it had not flushed."""

    def begin(self) -> None:
        self._stage.begin_legacy()

    def is_master(self, broker: str) -> bool:
        return broker == self._group.brokers[0]

    def restart(self, who: str) -> None:
        self._stage.power_cut(who)
        self._group.start_broker(who)

    def heal(self) -> None:
        self._stage.say("everything is healed")
        self.rejoin()
        self.start_all()
        self._stage.send_until_ok("last", timeout_s=_SETTLES_S)
        master, *slaves = self._group.brokers
        try:
            self._stage.copied(self._stage.view(master).end, *slaves, timeout_s=_SETTLES_S)
            self._stage.say("the slaves end where their master does")
        except ProcessError:
            self._stage.say("a slave does NOT end where its master does, a minute later")
        self._stage.read_back()
