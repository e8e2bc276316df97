"""Random logs of a group that works: most requests are plausible, some are late or wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from rocketha.controller.entry import Entry
from rocketha.formats.controller_requests import CleanBrokerData
from rocketha.types import BrokerId
from tests.impl.controller.scene import GROUP, Scene, with_master

BROKERS = (1, 2, 3)


def walk(seed: int, steps: int = 30) -> list[Entry]:
    """Make the log of one seed."""
    rng, scene = random.Random(seed), with_master(*BROKERS)
    actions = (_pass, _beat, _beat, _beat, _alter, _alter, _scan, _elect, _restart, _close, _rare)
    for _ in range(steps):
        rng.choice(actions)(rng, scene)
    return scene.entries


def shrink(log: list[Entry], keeps: Callable[[list[Entry]], bool]) -> list[Entry]:
    """Leave entries out as long as the rest keeps what it is about."""
    changed = True
    while changed:
        changed = False
        for shorter in _shorter(log):
            if keeps(shorter):
                log, changed = shorter, True
                break
    return log


def _shorter(log: list[Entry]) -> Iterator[list[Entry]]:
    for size in (8, 4, 2, 1):
        for at in range(len(log) - size + 1):
            yield log[:at] + log[at + size :]


def _incarnation(rng: random.Random, scene: Scene, broker: int) -> int:
    replica = scene.group.replicas.get(BrokerId(broker))
    present = 0 if replica is None else replica.incarnation
    return max(0, present - (rng.random() < 0.15))


def _channel(rng: random.Random, broker: int) -> int:
    return broker + (10 if rng.random() < 0.3 else 0)


def _pass(rng: random.Random, scene: Scene) -> None:
    scene.now_ms += rng.choice((1_000, 6_000, 11_000))


def _beat(rng: random.Random, scene: Scene) -> None:
    broker = rng.choice(BROKERS)
    end = rng.randrange(1 << 40)
    incarnation = _incarnation(rng, scene, broker)
    channel = _channel(rng, broker)
    scene.beat(broker, incarnation=incarnation, channel=channel, epoch=1, end=end)


def _alter(rng: random.Random, scene: Scene) -> None:
    group = scene.group
    master = group.master or rng.choice(BROKERS)
    members = {broker for broker in BROKERS if rng.random() < 0.6}
    if rng.random() < 0.9:
        members.add(master)
    joining = {broker: _incarnation(rng, scene, broker) for broker in members - group.members}
    scene.alter(
        members,
        master=master if rng.random() < 0.9 else rng.choice(BROKERS),
        epoch=max(0, group.master_epoch - (rng.random() < 0.15)),
        expected=max(0, group.sync_state_set.epoch - (rng.random() < 0.15)),
        joining=joining,
    )


def _scan(rng: random.Random, scene: Scene) -> None:
    scene.scan(unclean=rng.random() < 0.1)


def _elect(rng: random.Random, scene: Scene) -> None:
    scene.elect(rng.choice((None, *BROKERS)), designate=rng.random() < 0.2)


def _restart(rng: random.Random, scene: Scene) -> None:
    broker = rng.choice(BROKERS)
    incarnation = _incarnation(rng, scene, broker) + (rng.random() < 0.7)
    torn = rng.random() < 0.5
    scene.register(broker, incarnation=incarnation, torn=torn, channel=_channel(rng, broker))


def _close(rng: random.Random, scene: Scene) -> None:
    scene.close(_channel(rng, rng.choice(BROKERS)))


def _rare(rng: random.Random, scene: Scene) -> None:
    match rng.randrange(4):
        case 0:
            scene.start()
        case 1:
            ids = rng.choice((None, "1", "2;3"))
            living = rng.random() < 0.3
            scene.do(CleanBrokerData(broker_name=GROUP, ids_to_clean=ids, clean_living=living))
        case 2:
            scene.apply_id(rng.choice((1, 4, 5)), "again:1;18")
        case _:
            scene.register(4)
