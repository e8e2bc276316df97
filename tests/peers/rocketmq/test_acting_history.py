"""What was seen while a slave acted is judged, and says nothing without evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketmq_peer.acting_history import Kind, Outcome, Seen, outcome_of
from rocketmq_peer.played_run import Played, PlayedRun

SENT = "SEND_OK"
COMMIT, ROLLBACK, UNKNOWN = "COMMIT_MESSAGE", "ROLLBACK_MESSAGE", "UNKNOW"


def seen(text: str) -> list[Seen]:
    """Read lines "what node id said", a second after each other; "-" is nothing."""
    found = []
    for number, line in enumerate(text.strip().splitlines()):
        what, node, id_, said = (*line.split(maxsplit=3), "-", "-", "-")[:4]
        parts = [one if one != "-" else "" for one in (node, id_, said)]
        at_ms = 1000 * (number + 1)
        found.append(Seen(at_ms=at_ms, what=what, node=parts[0], id=parts[1], said=parts[2]))
    return found


def judged(kind: Kind, text: str) -> Outcome:
    return outcome_of(kind, seen(text))


HALVES = f"""
sent b1 h0 {SENT}
sent b1 h1 {SENT}
checked b1 h0 {UNKNOWN}
checked b1 h1 {UNKNOWN}
killed b1
acts b2
progress b2 - 0 of 2
progress b2 - 2 of 2
decided - h0 {COMMIT}
decided - h1 {ROLLBACK}
back b1
sent b3 n0 {SENT}
sent b1 n1 {SENT}
checked b1 n1 {UNKNOWN}
decided - n1 {COMMIT}
checked b1 n1 {COMMIT}
found b1 n1 9
"""


def test_a_half_that_was_committed_and_never_seen_is_lost() -> None:
    outcome = judged("halves", HALVES)
    assert outcome.lost == outcome.broken == ("h0",)
    assert outcome.words == (
        "of 2 open halves 0 were asked for since the master was killed (0 checks); since it is "
        "back it asked 2 times for those sent since; committed and never seen: h0; seen twice: none"
    )


def test_a_half_that_is_found_is_not_lost_and_may_be_found_twice() -> None:
    asked = HALVES.replace("back b1", f"checked b3 h0 {COMMIT}\nback b1")
    outcome = judged("halves", asked + "found b3 h0 9\nfound b3 h0 9\n")
    assert (outcome.broken, outcome.twice, outcome.missing) == ((), ("h0",), "")
    assert outcome.words.startswith("of 2 open halves 1 were asked for")


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        ("acts b2", "the slave did not act between the end and the return"),
        ("back b1", "the slave did not act between the end and the return"),
        (f"checked b1 h1 {UNKNOWN}", "the master had not asked for each half"),
        ("progress b2 - 2 of 2", "the slave's progress has not passed the halves"),
        ("found b1 n1 9", "the master that is back asks nobody"),
        (f"sent b1 n1 {SENT}", "the master that is back asks nobody"),
    ],
)
def test_halves_say_nothing_without_evidence(without: str, missing: str) -> None:
    assert without in HALVES
    outcome = judged("halves", HALVES.replace(f"{without}\n", ""))
    assert outcome.missing.startswith(missing)
    assert outcome.broken == ()


def test_an_empty_queue_that_is_passed_is_no_evidence() -> None:
    empty = HALVES.replace("progress b2 - 2 of 2", "progress b2 - 0 of 0")
    assert judged("halves", empty).missing.startswith("the slave's progress")


DELAYS = """
sent b1 d0 3000
sent b1 d1 7000
sent b1 d2 9000
killed b1
acts b2
progress b2
back b1
sent b3 n0 9000
sent b1 n1 9000
found b1 d0 3001
found b3 d1 7050
found b1 d2 9002
found b1 n1 9001
"""


def test_delayed_messages_may_come_twice_but_not_early_nor_never() -> None:
    due = DELAYS.replace("sent b1 d1 7000", "sent b1 d1 6500")
    outcome = judged("delays", due.replace("d1 7050", "d1 6600"))
    assert (outcome.broken, outcome.twice, outcome.missing) == ((), (), "")
    assert outcome.words == (
        "1 of 3 came due while the slave acted, 1 of them were delivered before the master was "
        "back; never delivered: none; before their time: none; more than once: none"
    )
    assert judged("delays", due + "found b3 d1 7051\n").twice == ("d1",)
    assert judged("delays", due.replace("found b3 d1 7050\n", "")).lost == ("d1",)
    assert judged("delays", due.replace("d2 9002", "d2 8999")).early == ("d2",)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (DELAYS.replace("acts b2\n", ""), "the slave did not act"),
        (DELAYS.replace("d1 7000", "d1 8000"), "nothing came due while the slave acted"),
        (DELAYS.replace("d1 7000", "d1 6500").replace("found b1 n1 9001\n", ""), "the master that"),
    ],
)
def test_delays_say_nothing_without_evidence(text: str, missing: str) -> None:
    assert judged("delays", text).missing.startswith(missing)


POPS = """
killed b1
acts b2
popped b2 m0 60000 ms, retry 0
popped b2 m1 60000 ms, retry 0
popped b2 m2 60000 ms, retry 0
acked b2 m0 OK
joined b4
acked b2 m1 OK
popped b3 m2 60000 ms, retry 1
"""


def test_what_was_acknowledged_and_comes_again_breaks_a_promise() -> None:
    assert judged("pops", POPS).broken == ()
    outcome = judged("pops", POPS + "popped b3 m1 60000 ms, retry 1\n")
    assert outcome.again == outcome.broken == ("m1",)
    assert outcome.words == (
        "acknowledged before the other master came: m0; since: m1; not at all: m2; "
        "acknowledged and delivered again: m1"
    )


def test_an_acknowledgement_that_was_refused_promises_nothing() -> None:
    refused = POPS.replace("acked b2 m0 OK", "acked b2 m0 OK\nacked b2 m2 NO_EXIST")
    assert judged("pops", refused).broken == ()


@pytest.mark.parametrize("ms", [4999, 5000])
def test_an_acknowledgement_that_is_not_in_time_says_nothing(ms: int) -> None:
    late = POPS.replace("popped b2 m1 60000 ms", f"popped b2 m1 {ms} ms")
    outcome = judged("pops", late + "popped b3 m1 60000 ms, retry 1\n")
    assert outcome.missing.startswith("nothing was acknowledged in time")
    assert outcome.broken == ()


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        ("joined b4", "no other master came"),
        ("acts b2", "no other master came"),
        ("popped b3 m2 60000 ms, retry 1", "what was not acknowledged did not come again"),
        ("acked b2 m0 OK", "what was not acknowledged did not come again"),
        ("acked b2 m1 OK", "what was not acknowledged did not come again"),
    ],
)
def test_pops_say_nothing_without_evidence(without: str, missing: str) -> None:
    assert without in POPS
    assert judged("pops", POPS.replace(f"{without}\n", "")).missing.startswith(missing)


def test_pops_say_nothing_where_none_was_acknowledged_on_each_side() -> None:
    early = POPS.replace("acked b2 m1 OK\n", "").replace("joined b4", "acked b2 m1 OK\njoined b4")
    assert judged("pops", early).missing.startswith("nothing was acknowledged in time")


RETURNS = "killed b1\nacts b2\npulled b2 m0\nup b1\n"


def test_a_master_that_is_not_back_in_time_is_kept_out() -> None:
    outcome = judged("returns", RETURNS + "waited b1\n")
    assert outcome.broken == ("b1",)
    assert outcome.words == "the master was not back 1 s after its start"
    assert judged("returns", RETURNS + "back b1\n") == Outcome(
        words="the master was back 1 s after its start"
    )


@pytest.mark.parametrize(
    "text", [RETURNS, RETURNS.replace("pulled b2 m0\n", "") + "waited b1\n", "waited b1\n"]
)
def test_a_return_says_nothing_without_evidence(text: str) -> None:
    assert judged("returns", text).missing.startswith("the master was not started again")


def test_a_run_keeps_what_was_seen(tmp_path: Path) -> None:
    run = PlayedRun(
        scenario="passed_halves",
        version="5.5.0",
        protocols=(),
        museum=(),
        promises_durability=False,
        played=Played(seen=seen(HALVES)),
        history="halves",
        seconds=1.0,
        trouble=None,
    )
    run.write(tmp_path)
    again = PlayedRun.read(tmp_path)
    assert again == run
    assert again.broken == ("h0",)
