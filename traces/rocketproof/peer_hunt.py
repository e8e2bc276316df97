"""Hunting in a real system: random walks until something is found, made smaller, and named.

A find is a trace that diverges, or a promise to clients that is broken. Java's threads are not
drawn by a seed, so a smaller walk counts if it comes to the same find when it is played: at the
same action, explained by the same bugs, and with a broken promise if the whole walk broke one. It
is played once: what it does not show then may be possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocketproof.peer_finds import Find, finds_of
from rocketproof.peer_runs import JudgedRun, judge_run
from tlatrace.values import Json

if TYPE_CHECKING:
    from rocketmq_peer.random_walk import Move, Walk

__all__ = ["Hunted", "hunt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunted:
    """A seed that was played."""

    seed: int
    judged: JudgedRun
    finds: tuple[Find, ...]
    moves: tuple[Move, ...]
    """What was done; of a find, after it was made smaller."""
    plays: int
    """How often the walk was played, whole or in part."""

    def to_json(self) -> dict[str, Json]:
        """Say it to a program."""
        return {
            **self.judged.to_json(),
            "seed": self.seed,
            "moves": [str(move) for move in self.moves],
            "finds": [str(find) for find in self.finds],
            "plays": self.plays,
        }


def hunt(
    version: str,
    seeds: Sequence[int],
    folder: Path,
    say: Callable[[str], None],
    *,
    reductions: int,
    rocketha_leads: bool = False,
    legacy: bool = False,
) -> Iterator[Hunted]:
    """Play the walk of each seed in a folder of its own, judge it, and make finds smaller.

    Of several finds of a walk the first new one is made smaller, by at most so many plays. With
    `rocketha_leads` its controller leads the brokers; with `legacy` nobody does.

    Raises:
        PeerError: the release is not fetched, or a folder not empty.
        TraceFormatError, ToolError: as `judge_run`.
    """
    from rocketmq_peer.legacy_walk import without_controllers
    from rocketmq_peer.random_walk import draw, under_rocketha

    for seed in seeds:
        walk = under_rocketha(draw(seed)) if rocketha_leads else draw(seed)
        walk = without_controllers(walk) if legacy else walk
        say(f"seed {seed}: {', '.join(map(str, walk.moves))}")
        judged = _played(walk, walk.moves, version, folder / f"{seed}", say)
        finds = finds_of(judged)
        moves, plays = walk.moves, 1
        if finds:
            say(f"seed {seed}: found {'; '.join(map(str, finds))}")
            find = next((one for one in finds if not one.names), finds[0])
            moves, plays = _smaller(walk, find, judged, folder, say, reductions)
        yield Hunted(seed=seed, judged=judged, finds=finds, moves=moves, plays=plays)


def _played(
    walk: Walk, moves: Sequence[Move], version: str, folder: Path, say: Callable[[str], None]
) -> JudgedRun:
    from rocketmq_peer.legacy_walk import legacy_scenario_of
    from rocketmq_peer.play import play
    from rocketmq_peer.random_walk import scenario_of

    as_scenario = legacy_scenario_of if walk.options.is_legacy else scenario_of
    run = play(as_scenario(walk, moves), version, folder, say)
    return judge_run(run, folder, museum=run.museum)


def _smaller(
    walk: Walk,
    find: Find,
    whole: JudgedRun,
    folder: Path,
    say: Callable[[str], None],
    reductions: int,
) -> tuple[tuple[Move, ...], int]:
    """Leave out parts of a walk, half of it first, while the find is still there."""
    moves, plays, size = walk.moves, 1, max(len(walk.moves) // 2, 1)
    at = 0
    while plays <= reductions and moves:
        candidate = (*moves[:at], *moves[at + size :])
        say(f"seed {walk.seed}: {len(candidate)} of {len(moves)} moves")
        at_folder = folder / f"{walk.seed}-{plays}"
        judged = _played(walk, candidate, whole.run.version, at_folder, say)
        plays += 1
        is_broken = bool(judged.run.broken) or not whole.run.broken
        if is_broken and find in finds_of(judged):
            moves = candidate
        else:
            at += size
        if at >= len(moves):
            if size == 1:
                break
            at, size = 0, max(size // 2, 1)
    return moves, plays
