"""Mixed groups: rocketha's brokers and name server among released ones, under kills and partitions.

A seed draws who is whose, and what befalls brokers, of the moves of `random_walk`. What is
acknowledged is to stay (`allAckInSyncStateSet`). In the end everything is healed, all brokers are
in sync, a consumer reads everything back, and the files of all brokers are compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocketha.types import EpochEntry, Offset
from rocketmq_peer.configuration import BrokerTiming, Promises
from rocketmq_peer.equal_stores import StoreDifference, ask_epochs, compare_stores
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.group import Group
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.jars import PeerJars
from rocketmq_peer.played_run import Played
from rocketmq_peer.random_walk import Do, Walk, Walker, draw_move
from rocketmq_peer.scenario import Stage

__all__ = ["MixedRun", "draw_mixed", "play_mixed"]

_WEIGHTS: Final[Mapping[Do, int]] = {
    Do.SEND: 10,
    Do.HOLD: 2,
    Do.HOLD_REPORTS: 2,
    Do.CUT: 2,
    Do.REFUSE: 2,
    Do.ISOLATE: 4,
    Do.REJOIN: 5,
    Do.KILL: 4,
    Do.START: 3,
    Do.PAUSE: 2,
    Do.WAIT: 3,
}
_MOVES: Final = 12
_BREAKING: Final = (Do.ISOLATE, Do.KILL)
_PAUSE_MS: Final = (300, 4_000)
_WAIT_MS: Final = (200, 3_000)
_SETTLES_S: Final = 90.0
_ELECTED: Final = "BecomeMaster"
"""What rocketha's broker prints."""


def draw_mixed(seed: int) -> Walk:
    """Draw a group with at least one broker of each kind, and moves with a kill or a partition."""
    chance = random.Random(f"mixed {seed}")
    brokers = chance.choice((2, 2, 3))
    ours = chance.sample(range(1, brokers + 1), k=chance.randint(1, brokers - 1))
    options = GroupOptions(
        brokers=brokers,
        rocketha_brokers=frozenset(ours),
        rocketha_name_server=random.Random(f"name server {seed}").random() < 0.5,
        controllers=chance.choice((1, 1, 1, 1, 3)),
        promises=Promises(all_ack_in_sync_state_set=True),
        timing=BrokerTiming(heartbeat_timeout_ms=chance.choice((6_000, 9_000))),
        more_of_brokers={"slaveTimeout": 1_000},
        agent=False,
    )
    kinds, weights = tuple(_WEIGHTS), tuple(_WEIGHTS.values())
    drawn = chance.choices(kinds, weights, k=_MOVES)
    if not any(do in _BREAKING for do in drawn):
        drawn[chance.randrange(_MOVES)] = chance.choice(_BREAKING)
    moves = [draw_move(chance, do, pause_ms=_PAUSE_MS, wait_ms=_WAIT_MS) for do in drawn]
    return Walk(seed=seed, options=options, moves=tuple(moves))


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedRun:
    """What a seed came to."""

    seed: int
    brokers: tuple[str, ...]
    """b1, b2, ...: "java" or "rocketha"."""
    name_server: str
    """Likewise."""
    moves: tuple[str, ...]
    played: Played
    differences: tuple[StoreDifference, ...]
    """Of the files, at the end."""
    log_bytes: int
    """So many bytes of the logs were compared."""
    epochs: int
    """Number of entries in the epoch files."""
    master_epoch: int
    elected: int
    """How often a broker of rocketha's became master."""
    seconds: float = 0.0
    trouble: str | None = None
    """Why it did not come to its end; None: it did."""

    @property
    def is_broken(self) -> bool:
        """Tell whether an acknowledged message is gone, or files are not the same."""
        return bool(self.played.lost or self.differences)

    @property
    def is_decided(self) -> bool:
        """Tell whether it came to its end, with messages, bytes and epochs that were compared."""
        compared = self.log_bytes > 0 and self.epochs > 0 and self.played.read_back is not None
        return self.trouble is None and compared and bool(self.played.acknowledged)

    def line(self) -> str:
        """Say it in a line."""
        acknowledged, lost = len(self.played.acknowledged), self.played.lost
        said = [f"seed {self.seed}: {'+'.join(self.brokers)} with names of {self.name_server}"]
        said.append(f"{len(self.moves)} moves")
        said.append(f"{acknowledged} acknowledged, {len(lost)} lost")
        said.append(f"{self.log_bytes} bytes and {self.epochs} epochs of each")
        same = "; ".join(map(str, self.differences)) or "files equal"
        said.append(same if self.log_bytes else "files not compared")
        said.append(f"epoch {self.master_epoch}, rocketha {self.elected} times master")
        said.append(f"{self.seconds:.0f} s")
        said += [] if self.trouble is None else [f"UNDECIDED: {self.trouble}"]
        return ", ".join(said) + (f" LOST {', '.join(lost)}" if lost else "")

    def to_json(self) -> dict[str, object]:
        """Say it to a program."""
        return {
            "seed": self.seed,
            "brokers": list(self.brokers),
            "name_server": self.name_server,
            "moves": list(self.moves),
            "acknowledged": len(self.played.acknowledged),
            "lost": list(self.played.lost),
            "differences": [str(one) for one in self.differences],
            "log_bytes": self.log_bytes,
            "epochs": self.epochs,
            "master_epoch": self.master_epoch,
            "rocketha_elected": self.elected,
            "seconds": round(self.seconds, 1),
            "trouble": self.trouble,
        }


def play_mixed(walk: Walk, jars: PeerJars, folder: Path, say: Callable[[str], None]) -> MixedRun:
    """Play a walk in a new or empty folder, and compare what is left.

    Raises: PeerError: the folder is not empty; OSError
    """
    group = Group(folder, jars, walk.options)
    stage = Stage(group, say)
    walker = _MixedWalker(stage)
    trouble: str | None = None
    with group:
        try:
            walker.play(walk.moves)
        except ProcessError as error:
            trouble = str(error)
    end = walker.ends.end
    stores = {broker: group.store_of(broker) for broker in group.brokers}
    ours = [f"b{number}" for number in walk.options.rocketha_brokers]
    outputs = [folder / "nodes" / broker / "out.txt" for broker in ours]
    return MixedRun(
        seed=walk.seed,
        brokers=tuple(["rocketha" if one in ours else "java" for one in group.brokers]),
        name_server="rocketha" if walk.options.rocketha_name_server else "java",
        moves=tuple(map(str, walk.moves)),
        played=stage.played,
        differences=() if end is None else compare_stores(stores, end),
        log_bytes=end or 0,
        epochs=len(walker.ends.epochs),
        master_epoch=walker.ends.master_epoch,
        elected=sum(path.read_text("utf-8").count(_ELECTED) for path in outputs if path.exists()),
        trouble=trouble,
    )


@dataclass(slots=True)
class _Ends:
    """What all brokers say of their logs in the end."""

    end: Offset | None = None
    epochs: tuple[EpochEntry, ...] = field(default=())
    master_epoch: int = 0


class _MixedWalker(Walker):
    """Knows masters by what the controller says, as rocketha's brokers keep no records."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.ends = _Ends()

    def is_master(self, broker: str) -> bool:
        view = self._group.view()
        return view is not None and view.master == self._group.brokers.index(broker) + 1

    def heal(self) -> None:
        """Let everything be as at the beginning, until all have the same. Raises: ProcessError"""
        stage, group = self._stage, self._group
        stage.say("everything is healed")
        self.rejoin()
        self.start_all()
        group.wait_for_master(_SETTLES_S)
        stage.send_until_ok("last", timeout_s=_SETTLES_S)
        stage.in_sync(*group.brokers, timeout_s=_SETTLES_S)
        stage.send_until_ok("end", timeout_s=_SETTLES_S)
        stage.read_back()
        self.ends = group.wait_for(self._ends, "all brokers had the same epochs", _SETTLES_S)
        stage.say(f"all end at {self.ends.end}")

    def _ends(self) -> _Ends | None:
        """Return what all brokers say, if it is the same and they are in sync."""
        group = self._group
        said = [
            ask_epochs(group.ports.broker(n).remoting) for n in range(1, len(group.brokers) + 1)
        ]
        known = [(one.max_offset, one.entries) for one in said if one is not None]
        view = group.view()
        if view is None or len(known) < len(said) or len(set(known)) > 1:
            return None
        if len(view.sync_state_set) < len(said):
            return None
        return _Ends(known[0][0], known[0][1], view.master_epoch)
