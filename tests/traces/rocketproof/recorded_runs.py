"""Runs that an observer of whole states and the recorders of their nodes have both seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import msgspec

from rocketha.known_bugs import Bug, Bugs
from rocketha.recording.merge import merge
from rocketha.recording.node_log import NodeLines, NodeLog
from rocketha.recording.record import NodeRecord, SentMessage
from rocketha.sim.engine.faults import ALL_FAULTS, Faults
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketproof.engines import Judges, match_by_model
from rocketproof.plug import ProtocolPlug, Run
from rocketproof.protocols import PROTOCOLS
from rocketproof.protocols.escape.missed import MISSED
from rocketproof.protocols.pre_online.said import SAID
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Verdict
from tlatrace.trace import Event, Trace
from tlatrace.values import canonical_state

__all__ = ["SUBJECTS", "Recorded", "Subject", "changed", "judged", "recorded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Which runs of a protocol are looked at, and what only whole states show of them."""

    clean: Sequence[int]
    """Seeds without a bug."""
    seed_of_bug: dict[Bug, int]
    """Bug -> a seed at which it is seen in a trace of the run."""
    passed_by: frozenset[str]
    """Actions that records do not show, or elsewhere."""
    unseen: dict[Bug, int]
    """Bug -> a seed at which no trace shows it."""
    of_records: dict[Bug, int] = field(default_factory=dict)
    """Bug -> a seed at which records show it, and whole states do not."""


_SAID_OF_BROKERS: Final = frozenset(
    {
        "KeepMember",
        "NoElection",
        "RefuseCall",
        "Shown",
        "ShownNothing",
        "Silent",
        "TimeOut",
        "Waiting",
    }
)
"""What clients hear of brokers of a group, and what is missed of them."""

_SAID_OF_MEMBERS: Final = frozenset(
    {"AcknowledgePush", "AnswerHeartbeat", "AnswerVote", "ApplyAll", "BeginTerm", "FindOther"}
    | {"AnswerRead", "AnswerWrite", "CountHolders", "RefuseClient", "RefuseMisdirected"}
    | {"HearOfTransfer", "RefuseCandidate", "RefuseMalformed", "RefuseTerm", "RefuseTransfer"}
    | {"FindSame", "KnowCommit", "LeaveUnanswered", "RefuseEntries", "RefusePush", "RefuseSnapshot"}
    | {"RefuseTruncate", "SendCommit", "SendCompare", "SendEntries", "SendHeartbeat"}
    | {"SendSnapshot", "SendTruncate", "TakeCommit"}
)
"""What members of a DLedger group say, which only records show."""

SUBJECTS: Final[dict[str, Subject]] = {
    "dledger": Subject(
        clean=(1, 3),
        seed_of_bug={Bug.B70: 2},
        passed_by=_SAID_OF_MEMBERS,
        unseen={},
    ),
    "route": Subject(
        clean=range(4),
        seed_of_bug={
            Bug.B40: 13,
            Bug.B40_FORGOTTEN: 16,
            Bug.B41: 2,
            Bug.B42: 2,
            Bug.B44: 0,
        },
        passed_by=frozenset({"KeepRole"}),
        unseen={},
    ),
    "epoch_truncation": Subject(
        clean=range(6),
        seed_of_bug={
            Bug.B01: 0,
            Bug.B02: 5,
            Bug.B03: 3,
            Bug.B04: 2,
            Bug.B05: 9,
            Bug.B06: 1,
            Bug.B07: 0,
            Bug.B10: 2,
            Bug.B11: 8,
            Bug.B86: 0,
            Bug.FLUSH_BEFORE_EPOCH: 0,
            Bug.KEPT_LINK: 0,
            Bug.KNOWN_FOLLOWS_BATCH: 3,
            Bug.MASTER_ANSWERS: 0,
            Bug.MIN_END: 0,
        },
        passed_by=frozenset({"CloseConnection", "Disconnect", "Healed", "LoseLog", "LoseStore"}),
        unseen={},
    ),
    "legacy_replication": Subject(
        clean=range(10),
        seed_of_bug={
            Bug.B23: 114,
            Bug.B52: 0,
            Bug.FIRST_REPORT: 0,
            Bug.START_COVERS_WAITING: 22,
            Bug.SYNC_WAITS: 0,
        },
        passed_by=frozenset({"Healed"}),
        unseen={Bug.OFFSET_CONTINUES: 0},
    ),
    "lock_quorum": Subject(
        clean=range(8),
        seed_of_bug={
            Bug.B45_LEASE: 0,
            Bug.B45_PARTIAL: 0,
            Bug.B45_QUORUM: 0,
            Bug.B45_RESTART: 4,
            Bug.B46: 0,
            Bug.B77: 3,
            Bug.COUNT_ONCE: 23,
            Bug.LATE_ANSWER: 0,
            Bug.LATE_ASK: 4,
            Bug.LATE_FREE: 3,
            Bug.UNLOCK_OWN: 0,
            Bug.VOTE_ONCE: 0,
        },
        passed_by=frozenset({"ExpireEarly", "WaitLess"}),
        unseen={},
    ),
    "escape": Subject(
        clean=range(4),
        seed_of_bug={
            Bug.STAYS_HALF: 0,
            Bug.SENT: 0,
            Bug.EARLY: 1,
            Bug.LOCAL_FIRST: 1,
            Bug.MEETS: 2,
            Bug.TOLD: 1,
            Bug.UNASKED: 0,
            Bug.B48: 2,
            Bug.SKIPS: 2,
        },
        passed_by=MISSED,
        unseen={Bug.B47: 0},
        of_records={Bug.NAMES: 2},
    ),
    "pre_online": Subject(
        clean=range(4),
        seed_of_bug={
            Bug.B49: 0,
            Bug.B50: 0,
            Bug.B51: 1,
            Bug.B76: 0,
            Bug.COMPARED: 0,
            Bug.FRESH: 0,
            Bug.SERVING: 0,
            Bug.B48: 7,
            Bug.B48_VERSION: 0,
            Bug.GIVES: 7,
            Bug.HOST: 0,
            Bug.ISOLATED: 0,
            Bug.TIES: 10,
            Bug.TRANSFER: 0,
            Bug.VERSIONS: 6,
        },
        passed_by=SAID,
        unseen={},
    ),
    "replica_group": Subject(
        clean=(0, 3, 5, 78, 215, 392),
        seed_of_bug={Bug.B28: 4, Bug.B31: 0, Bug.B37: 1, Bug.B79: 0, Bug.HALF_OPEN: 0, Bug.W8: 3},
        passed_by=frozenset({"Healed", "Heard", "Settled", "Unnotified"}) | _SAID_OF_BROKERS,
        unseen={Bug.HAS_MASTER: 29},
    ),
    "snapshot_loading": Subject(
        clean=range(10),
        seed_of_bug={
            Bug.B53: 0,
            Bug.B55: 0,
            Bug.B56: 2,
            Bug.B57: 5,
            Bug.B58: 0,
            Bug.B59: 0,
            Bug.B68: 0,
            Bug.BOUNDARY_OF_CUT: 0,
            Bug.CRC: 0,
            Bug.CUT_AT_OLDEST: 0,
            Bug.DIRECTORY_SYNC: 0,
            Bug.EXPIRED: 2,
            Bug.FRESH_OBJECT: 4,
            Bug.INSTALL_FRESH: 1,
            Bug.REFUSE_GAP: 7,
            Bug.SNAP_AT_APPLIED: 3,
            Bug.SUFFIX_DROPPED: 8,
            Bug.SUFFIX_KEPT: 0,
            Bug.SYNC_FIRST: 0,
            Bug.VALIDITY: 1,
        },
        passed_by=frozenset({"Agree", "LeaderCompacts", "Rot"}),
        unseen={Bug.B54: 2, Bug.TERM_FIRST: 0},
    ),
    "sync_state_set": Subject(
        clean=(0, 1, 2, 3, 5, 9, 245),
        seed_of_bug={
            Bug.ADOPT: 0,
            Bug.ALONE: 15,
            Bug.B10: 2,
            Bug.B14: 8,
            Bug.B15: 0,
            Bug.B16: 17,
            Bug.B19: 15,
            Bug.B20: 0,
            Bug.B25: 0,
            Bug.B36: 0,
            Bug.B79: 0,
            Bug.B82: 0,
            Bug.B83: 52,
            Bug.B84: 2,
            Bug.B85: 90,
            Bug.COUNTED: 7,
            Bug.EXPAND_CONFIRM: 1,
            Bug.LATE_SET: 11,
            Bug.REFUSAL: 0,
            Bug.SET_EPOCH: 0,
            Bug.W2: 0,
            Bug.W3: 6,
            Bug.W8: 3,
        },
        passed_by=frozenset({"Healed", "Knows", "Settled"}) | _SAID_OF_BROKERS,
        unseen=dict.fromkeys(
            (
                *(Bug.B11, Bug.B26, Bug.B28, Bug.B29, Bug.B31, Bug.B33, Bug.B35, Bug.B37),
                *(Bug.EXPAND_EPOCH, Bug.HALF_OPEN, Bug.HAS_MASTER, Bug.LATE_EPOCH),
                *(Bug.MASTER_EPOCH, Bug.SPENT),
            ),
            0,
        ),
    ),
}
"""Those whose nodes write records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One such run."""

    plug: ProtocolPlug[Any]
    whole: Run
    """The same run without recorders."""
    simulated: SimulatedRun
    observer: Any
    logs: tuple[NodeLog, ...]

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of the records."""
        return self.plug.traces_of_records(self.logs)

    @property
    def trace(self) -> Trace:
        """The trace of a run that is one."""
        (only,) = self.traces
        return only

    @property
    def observed(self) -> Sequence[Event]:
        """The events that the observer has made of a run that is one trace."""
        (only,) = self.observed_traces
        return only

    @property
    def observed_traces(self) -> list[Sequence[Event]]:
        """The events that the observer has made, of each trace."""
        projected = self.plug.traces(self.observer, self.simulated, SimOptions())
        return [one.events for one in projected]


@cache
def recorded(
    protocol: str, seed: int, bugs: Bugs = frozenset(), faults: Faults = ALL_FAULTS
) -> Recorded:
    plug, lines = PROTOCOLS[protocol], NodeLines()
    options, observer = SimOptions(bugs=bugs, faults=faults), plug.projection()
    simulated = simulate(plug.simulation, seed, options, observer, write=lines.write)
    return Recorded(
        plug=plug,
        whole=plug.run(seed, options),
        simulated=simulated,
        observer=observer,
        logs=lines.logs(),
    )


def judged(traces: Sequence[Trace]) -> list[Verdict]:
    """Hold traces of one protocol against its text, whole ones and partial ones alike.

    Those with the same constants are judged together.
    """
    choice, groups = SpecChoice(spec_root=ROOT / "spec"), dict[str, list[int]]()
    for at, trace in enumerate(traces):
        assert trace.header is not None
        groups.setdefault(canonical_state(trace.header.constants), []).append(at)
    verdicts: dict[int, Verdict] = {}
    for told in groups.values():
        header = traces[told[0]].header
        assert header is not None
        model, some = choice.model(header), [traces[at] for at in told]
        found = match_by_model(Judges(choice=choice), model, header, some)
        verdicts |= dict(zip(told, found, strict=True))
    return [verdicts[at] for at in range(len(traces))]


def with_settings(logs: Sequence[NodeLog], node: str, **settings: object) -> tuple[NodeLog, ...]:
    """Let a node be set up otherwise."""

    def header(log: NodeLog) -> NodeLog:
        said = {**log.header.settings, **settings}
        return replace(log, header=msgspec.structs.replace(log.header, settings=said))

    return tuple([header(log) if log.header.node == node else log for log in logs])


def with_first(
    logs: Sequence[NodeLog], node: str, which: Callable[[NodeRecord], object], **members: Any
) -> tuple[NodeLog, ...]:
    """Let a node have written something else at its first such step."""

    def other(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(record, **members)

    return changed(logs, lambda record: record.node == node and which(record), other)


def rewritten(
    logs: Sequence[NodeLog], change: Callable[[NodeRecord, SentMessage], SentMessage | None]
) -> tuple[NodeLog, ...]:
    """Let other frames have been sent; nobody receives what nobody sends any more."""
    sent = {
        id(record): tuple([one for one in (change(record, m) for m in record.sent) if one])
        for log in logs
        for record in log.records
    }
    there = {one.id for frames in sent.values() for one in frames}

    def otherwise(record: NodeRecord) -> NodeRecord:
        received = tuple([one for one in record.received if one in there])
        return msgspec.structs.replace(record, sent=sent[id(record)], received=received)

    return tuple(
        replace(log, records=tuple([otherwise(record) for record in log.records])) for log in logs
    )


def changed(
    logs: Sequence[NodeLog],
    is_it: Callable[[NodeRecord], object],
    change: Callable[[NodeRecord], NodeRecord],
    which: int = 0,
) -> tuple[NodeLog, ...]:
    """Change one of the records that are meant, counted in the order of the merge."""
    meant = [one.record for one in merge(logs) if is_it(one.record)][which]
    return tuple(
        replace(log, records=tuple([change(r) if r is meant else r for r in log.records]))
        for log in logs
    )
