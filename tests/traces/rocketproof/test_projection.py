"""Runs of the implementation as behaviours of EpochTruncation."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from rocketha.known_bugs import EPOCH_BUGS, Bug
from rocketha.sim.engine.faults import EPOCH_FAULTS, Fault
from rocketha.sim.engine.options import SimOptions
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from tests.traces.rocketproof.epoch_invariants import violations
from tlatrace.errors import ModelGapError
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.transition import Allowed, Judged, Refused, Transition
from tlatrace.tlc.judge import judge
from tlatrace.trace import Trace
from tlatrace.trace.ndjson import dump_trace
from tlatrace.values import Fcn, State, Value, canonical_state, tla_set

PROTOCOL = "epoch_truncation"
SPEC = Path(__file__).parents[3] / "spec" / PROTOCOL / "EpochTruncation.tla"
VARIABLES = {
    "ctl",
    "role",
    "known",
    "inc",
    "log",
    "epochs",
    "received",
    "disk",
    "flushed",
    "epochsDisk",
    "link",
    "acted",
}
ACTIONS = {
    "ElectMaster",
    "ElectNobody",
    "BecomeMaster",
    "BecomeSlave",
    "LearnEpoch",
    "Flush",
    "Crash",
    "LoseLog",
    "LoseStore",
    "Restart",
    "PutMessage",
    "Handshake",
    "RefuseHandshake",
    "ReceiveAck",
    "Transfer",
    "ReceiveHandshake",
    "ReceiveTransfer",
    "Disconnect",
    "Heartbeat",
    "Report",
    "CloseConnection",
    "Healed",
}
HARMLESS = (Bug.START_COMPARED, Bug.REPORT_OWN_END, Bug.OFFSET_CONTINUES)
"""Guards that only defend against other bugs, as the manifest says."""

CAUGHT = {
    Bug.B01: "EpochFaithful",
    Bug.B02: "BatchOneEpoch",
    Bug.B03: "RoleAtomic",
    Bug.B04: "EpochWellFormed",
    Bug.B05: "BatchOneEpoch",
    Bug.B06: "EpochDurable",
    Bug.B07: "TruncationDurable",
    Bug.B10: "EpochPerIncarnation",
    Bug.B11: "FollowFencing",
    Bug.B83: "EpochLeLog",
    Bug.B86: "EpochFaithful",
    Bug.FLUSH_BEFORE_EPOCH: "FlushedAtBecomeMaster",
    Bug.KEPT_LINK: "MayKeepLink",
    Bug.KNOWN_FOLLOWS_BATCH: "KnownCoversEpochs",
    Bug.MASTER_ANSWERS: "MayAnswer",
    Bug.MIN_END: "PrefixAfterHandshake",
}


def as_bytes(trace: Trace) -> bytes:
    assert trace.header is not None
    return b"".join(dump_trace(trace.header, trace.events))


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [simulate_trace(PROTOCOL, seed) for seed in range(60)]


def broker_values(value: Value) -> dict[str, Value]:
    assert isinstance(value, Fcn)
    return value.fields()


def test_a_trace_begins_with_the_initial_state_and_names_its_spec(traces: list[Trace]) -> None:
    header, first = traces[0].header, traces[0].events[0]

    assert header is not None
    assert header.spec == "EpochTruncation"
    assert header.spec_sha256 == sha256(SPEC.read_bytes()).hexdigest()
    assert header.constants == {"Broker": tla_set(["b1", "b2", "b3"]), "None": "none"}
    assert first.action == "Init"
    assert first.state is not None
    assert broker_values(first.state["role"]) == dict.fromkeys(("b1", "b2", "b3"), "Slave")
    assert broker_values(first.state["log"]) == dict.fromkeys(("b1", "b2", "b3"), ())


def test_every_event_has_every_variable_and_its_number(traces: list[Trace]) -> None:
    for trace in traces:
        assert [event.step for event in trace.events] == list(range(len(trace.events)))
        assert all(set(event.state or {}) == VARIABLES for event in trace.events)


def test_the_runs_take_the_actions_of_the_specification(traces: list[Trace]) -> None:
    taken = Counter(event.action for trace in traces for event in trace.events)
    following = SPEC.read_text("utf-8").partition("\nNext ==")[2].partition("\n\n")[0]
    calls = re.findall(r"([A-Z]\w+)(?:\([^)]*\))?$", following, re.MULTILINE)

    assert set(calls) == ACTIONS
    assert set(taken) == ACTIONS | {"Init"}


def test_runs_without_bugs_violate_nothing(traces: list[Trace]) -> None:
    assert {
        trace.header.seed: found
        for trace in traces
        if trace.header and (found := violations(trace))
    } == {}


def test_states_repeat_over_seeds(traces: list[Trace]) -> None:
    states = Counter(canonical_state(e.state or {}) for trace in traces for e in trace.events)

    assert max(states.values()) == len(traces)
    assert len(states) < 0.9 * states.total()


@pytest.mark.parametrize("bug", CAUGHT)
def test_every_bug_shows_within_200_seeds(bug: Bug) -> None:
    found: set[str] = set()
    for seed in range(200):
        found |= violations(simulate_trace(PROTOCOL, seed, (bug.value,)))
        if CAUGHT[bug] in found:
            return

    pytest.fail(f"only {sorted(found)}")


def test_every_bug_is_caught_or_known_to_be_harmless() -> None:
    assert set(CAUGHT) | set(HARMLESS) == EPOCH_BUGS


@pytest.mark.parametrize("bug", HARMLESS)
def test_a_harmless_bug_changes_no_run(bug: Bug) -> None:
    # Beside a known bug nobody forges packets, and these strike less often.
    more = (Fault.FORGED_PACKET, Fault.DAMAGED_FILE, Fault.UNCLEAN_ELECTION, Fault.STALE_ROUTE)
    honest = tuple(fault.value for fault in EPOCH_FAULTS if fault not in more)
    for seed in range(12):
        assert (
            simulate_trace(PROTOCOL, seed, (bug.value,), honest).events
            == simulate_trace(PROTOCOL, seed, (), honest).events
        )


@pytest.mark.parametrize("seed", range(20))
def test_the_same_seed_gives_the_same_bytes(seed: int, traces: list[Trace]) -> None:
    assert as_bytes(PROTOCOLS[PROTOCOL].run(seed, SimOptions()).trace) == as_bytes(traces[seed])


@pytest.mark.parametrize(("protocol", "seed"), [(PROTOCOL, 7), ("lock_quorum", 8)])
def test_another_process_with_another_hash_seed_gives_the_same_bytes(
    protocol: str, seed: int
) -> None:
    program = (
        "from hashlib import sha256\n"
        "from rocketproof.runs import simulate_trace\n"
        "from tlatrace.trace.ndjson import dump_trace\n"
        f"trace = simulate_trace({protocol!r}, {seed})\n"
        "print(sha256(b''.join(dump_trace(trace.header, trace.events))).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2", "4242")
    }

    assert digests == {sha256(as_bytes(simulate_trace(protocol, seed))).hexdigest()}


def test_the_header_says_what_was_asked_for_and_what_struck() -> None:
    header = simulate_trace(PROTOCOL, 5, ("B11",), ("stale-route", "slow-poll")).header

    assert header is not None
    assert header.seed == 5
    assert header.meta["bugs"] == ["B11"]
    assert header.meta["options"] == {
        "brokers": 3,
        "faults": ["stale-route", "slow-poll"],
        "steps": None,
    }
    struck = header.meta["faults"]
    assert isinstance(struck, dict)
    assert set(struck) <= {"stale-route", "slow-poll"}


@pytest.mark.parametrize(
    ("protocol", "bug", "fault", "error"),
    [
        ("raft", (), (), ModelGapError),
        (PROTOCOL, ("B99",), (), ValueError),
        (PROTOCOL, (), ("fire",), ValueError),
    ],
)
def test_unknown_names_are_refused(
    protocol: str, bug: tuple[str, ...], fault: tuple[str, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        simulate_trace(protocol, 1, bug, fault)


@pytest.mark.java
def test_tlc_allows_every_step_and_refuses_those_of_a_bug(traces: list[Trace]) -> None:
    good = _judged(traces[:12])
    bad = _judged([simulate_trace(PROTOCOL, seed, ("B05",)) for seed in range(12)])

    assert {type(judged.step) for judged in good} == {Allowed}
    assert {name for judged in good for name in judged.violated} == set()
    assert {type(judged.step) for judged in bad} == {Allowed, Refused}


def _judged(traces: list[Trace]) -> list[Judged]:
    header = traces[0].header
    assert header is not None
    properties = SPEC.with_name("EpochTruncationProperties.tla")
    spec = load_spec(properties, constants=header.constants, invariants=["TypeOK", "EpochFaithful"])
    steps: dict[str, Transition] = {}
    for trace in traces:
        pre: State | None = None
        for event in trace.events:
            assert event.state is not None
            before = "" if pre is None else canonical_state(pre)
            key = f"{before} {event.action} {event.params} {canonical_state(event.state)}"
            steps[key] = Transition(
                pre=pre, action=event.action, params=event.params, post=event.state
            )
            pre = event.state
    return judge(spec, list(steps.values()))
