"""A run that is given a schedule, which says what may happen in it, and its file.

The file is JSON. `only` has the points that may happen: kind, then whose, then their numbers.

    {"protocol": "replica_group", "seed": 7,
     "options": {"brokers": 2, "bugs": ["B14"], "elect_unclean": false, "faults": ["reset"],
                 "rocketmq_defaults": false, "steps": null},
     "only": {"put": {"p1": [3, 8]}, "reset": {"": [1]}},
     "heal_ms": null, "stop_ms": 1873, "redrawn": 0, "events": 21}

`crash_point`, which may be left out, ends a node in the middle of a step, or of an effect or start:

     "crash_point": {"node": "b2", "seam": 17, "end": "process-crash"}
     "crash_point": {"node": "b2", "effect": 31, "operation": 2, "end": "power-cut"}

`events` is where the trace of the run is cut: whoever looks for a fault looks no further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from rocketha.known_bugs import Bug, Bugs
from rocketha.sim.engine.crash_points import ENDS, CrashPoint
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.options import (
    BROKERS_MAX,
    CONTROLLERS_MAX,
    STEPS_MAX,
    SimOptions,
)
from rocketha.sim.engine.random_source import InjectionPoint, Schedule
from tlatrace.errors import TraceFormatError
from tlatrace.values import Json

__all__ = ["Scheduled", "read_scheduled", "schedule_json", "scheduled_json"]

_BYTES_MAX: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """All that a run is made of."""

    protocol: str
    seed: int
    options: SimOptions
    schedule: Schedule
    events: int | None = None
    """So many events each of its traces has at most, the initial state included; None: all."""


class _Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    brokers: int
    bugs: list[str]
    elect_unclean: bool
    faults: list[str]
    rocketmq_defaults: bool
    steps: int | None
    in_sync_replicas: int | None = None
    controllers: int = 1


class _CrashPoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    node: str
    end: str
    seam: int | None = None
    effect: int | None = None
    operation: int | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    protocol: str
    seed: int
    options: _Options
    only: dict[str, dict[str, list[int]]] | None
    heal_ms: int | None
    stop_ms: int | None
    redrawn: int
    events: int | None
    crash_point: _CrashPoint | None = None


def scheduled_json(run: Scheduled) -> bytes:
    """Write a run that is given a schedule; the same run, the same bytes."""
    options = run.options
    needed = options.in_sync_replicas
    content = {
        "protocol": run.protocol,
        "seed": run.seed,
        "options": {
            "brokers": options.brokers,
            "bugs": sorted(options.bugs),
            "elect_unclean": options.elect_unclean,
            "faults": [fault.value for fault in Fault if fault in options.faults],
            "rocketmq_defaults": options.rocketmq_defaults,
            "steps": options.steps,
            **({} if needed is None else {"in_sync_replicas": needed}),
            **({} if options.controllers == 1 else {"controllers": options.controllers}),
        },
        **schedule_json(run),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"


def schedule_json(run: Scheduled) -> dict[str, Json]:
    """Return the part of it that is not seed and options."""
    schedule = run.schedule
    point = schedule.crash_point
    ends: dict[str, Json] = {}
    if point is not None:
        where: dict[str, Json] = {"effect": point.effect, "operation": point.operation}
        if point.seam:
            where = {"seam": point.seam}
        ends = {"crash_point": {"node": point.node, **where, "end": point.end.value}}
    return {
        **ends,
        "only": None if schedule.only is None else _by_kind(schedule.only),
        "heal_ms": schedule.heal_ms,
        "stop_ms": schedule.stop_ms,
        "redrawn": schedule.redrawn,
        "events": run.events,
    }


def _by_kind(points: Iterable[InjectionPoint]) -> dict[str, Json]:
    found: dict[str, dict[str, list[Json]]] = {}
    for one in sorted(points):
        found.setdefault(one.kind, {}).setdefault(one.whose, []).append(one.number)
    return {kind: {**of_kind} for kind, of_kind in found.items()}


def read_scheduled(path: Path, has_bugs: Mapping[str, Bugs]) -> Scheduled:
    """Read such a file of one of the protocols; each has its bugs.

    Raises:
        TraceFormatError: it cannot be read, or says what cannot be.
    """
    try:
        data = path.read_bytes()
        if len(data) > _BYTES_MAX:
            raise TraceFormatError(path, None, f"more than {_BYTES_MAX} bytes")
        file = msgspec.json.decode(data, type=_File)
        return _run(file, has_bugs)
    except OSError as error:
        raise TraceFormatError(path, None, f"cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise TraceFormatError(path, None, f"is no schedule: {error}") from None


def _run(file: _File, has_bugs: Mapping[str, Bugs]) -> Scheduled:
    """Raises: ValueError"""
    options = file.options
    if file.protocol not in has_bugs:
        raise ValueError(f"there is no protocol {file.protocol!r}")
    bugs = frozenset(Bug(name) for name in options.bugs)
    if strange := sorted(bugs - has_bugs[file.protocol]):
        raise ValueError(f"{file.protocol} has no bug {strange[0]}")
    _within("brokers", options.brokers, 1, BROKERS_MAX)
    _within("in_sync_replicas", options.in_sync_replicas, 1, options.brokers)
    _within("controllers", options.controllers, 1, CONTROLLERS_MAX)
    _within("steps", options.steps, 0, STEPS_MAX)
    _within("seed", file.seed, 0, None)
    _within("heal_ms", file.heal_ms, 0, None)
    _within("stop_ms", file.stop_ms, 0, None)
    _within("redrawn", file.redrawn, 0, None)
    _within("events", file.events, 1, None)
    only = file.only
    points = None if only is None else frozenset(_points(only))
    return Scheduled(
        protocol=file.protocol,
        seed=file.seed,
        options=SimOptions(
            brokers=options.brokers,
            steps=options.steps,
            faults=frozenset(Fault(name) for name in options.faults),
            bugs=bugs,
            rocketmq_defaults=options.rocketmq_defaults,
            elect_unclean=options.elect_unclean,
            in_sync_replicas=options.in_sync_replicas,
            controllers=options.controllers,
        ),
        schedule=Schedule(
            only=points,
            heal_ms=file.heal_ms,
            stop_ms=file.stop_ms,
            redrawn=file.redrawn,
            crash_point=_crash_point(file.crash_point),
        ),
        events=file.events,
    )


def _crash_point(found: _CrashPoint | None) -> CrashPoint | None:
    """Raises: ValueError"""
    if found is None:
        return None
    for name in ("seam", "effect", "operation"):
        _within(name, getattr(found, name), 1, None)
    end = Fault(found.end)
    if end not in ENDS:
        raise ValueError(f"no node ends by {end}")
    match found.seam, found.effect, found.operation:
        case int(seam), None, None:
            return CrashPoint(node=found.node, seam=seam, end=end)
        case None, int(effect), int(operation):
            return CrashPoint(node=found.node, effect=effect, operation=operation, end=end)
        case _:
            raise ValueError("a crash point has a seam, or an effect and an operation")


def _points(only: dict[str, dict[str, list[int]]]) -> Iterable[InjectionPoint]:
    for kind, of_kind in only.items():
        for whose, numbers in of_kind.items():
            for number in numbers:
                yield InjectionPoint(kind, whose, number)


def _within(name: str, number: int | None, least: int, most: int | None) -> None:
    if number is not None and (number < least or (most is not None and number > most)):
        raise ValueError(f"{name} is {number}")
