"""A log of events without arguments: candidates that differ by symmetry as one, and each by itself.

The specification is Booking.tla, of the shape of a commit in two phases. The log of 12 guests is
accepted; a second one, in which the host settles before the last guest is noted, is rejected. Both
verdicts are the same either way; 16 guests are searched with symmetry only.
"""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from typing import Final

from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.matching import Budget, match_traces
from tlatrace.oracle import load_model
from tlatrace.tla.config import parse_config
from tlatrace.trace import Event, Header, Trace

GUESTS: Final = 12
MANY: Final = 16
MODULE: Final = Path(__file__).with_name("Booking.tla")
SYMMETRIC: Final = Budget(states=1_000_000)
NAIVE: Final = Budget(states=1_000_000, crowded=None, patience=None)


def main() -> None:
    """Print seconds for both searches, and how often the one goes into the other."""
    seconds = {}
    for name, budget in (("naive", NAIVE), ("symmetric", SYMMETRIC)):
        seconds[name], verdicts = searched(GUESTS, budget)
        assert isinstance(verdicts[0], Conforms), verdicts
        assert isinstance(verdicts[1], Diverges), verdicts
        assert verdicts[1].action == "Settle"
        print(f"{name:>9} search, {GUESTS} guests: {seconds[name]:8.3f} s CPU")
    many, _ = searched(MANY, SYMMETRIC)
    print(f"symmetric search, {MANY} guests: {many:8.3f} s CPU")
    print(f"ratio of naive to symmetric: {seconds['naive'] / seconds['symmetric']:.1f}")


def searched(guests: int, budget: Budget) -> tuple[float, list[Verdict]]:
    """Judge a log that is right and one that is wrong."""
    names = [f"g{at}" for at in range(1, guests + 1)]
    text = f"INIT Init\nNEXT Next\nINVARIANT AllOrNone\nCONSTANT Guest = {{{', '.join(names)}}}\n"
    model = load_model(MODULE, parse_config(text, MODULE))
    logs = [log(guests, Random(7), short=short) for short in (False, True)]
    begin = time.process_time()
    verdicts = match_traces(model, logs, budget=budget)
    return time.process_time() - begin, verdicts


def log(guests: int, rng: Random, *, short: bool) -> Trace:
    """Draw a log in which letters are noted twice on average; `short`: one was noted by nobody."""
    actions: list[str] = []
    for _ in range(guests):
        actions += ["Accept", *["Note"] * (1 + rng.randrange(3))]
    if short:
        while actions.count("Note") >= guests:
            actions.remove("Note")
    actions += ["Settle", *["Arrive"] * guests]
    events = [Event(step=0, action="Init")]
    for step, action in enumerate(actions, start=1):
        params = None if action == "Settle" else ()
        events.append(Event(step=step, action=action, known_params=params))
    return Trace(header=Header(spec="Booking"), events=tuple(events))


if __name__ == "__main__":
    main()
