"""The typed result of one run of TLC, made from its exit code and its output.

Exit codes 0 and 10 to 14 are verdicts. 75 to 77, 150 and 151 are the author's errors. Everything
else, an exit code 0 without TLC's own word of success included, is a crash: no verdict.

Source: tlc2.output.EC.ExitStatus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tlatrace.tools.tlc_output import (
    Message,
    Outcome,
    TlcState,
    count,
    initial_state_of,
    messages,
    printed,
    sany_text,
    state_of,
)

__all__ = ["VERDICTS", "TlcRun", "read_run"]

VERDICTS: Final = frozenset(
    {
        Outcome.SUCCESS,
        Outcome.INVARIANT,
        Outcome.ACTION_PROPERTY,
        Outcome.TEMPORAL,
        Outcome.DEADLOCK,
        Outcome.ASSUMPTION,
        Outcome.ASSERTION,
    }
)
"""Outcomes that say something of the specification; all others are errors, or nothing."""

# message -> (outcome, pattern of the violated property's name)
_REASONS: Final[dict[int, tuple[Outcome, str | None]]] = {
    2107: (Outcome.INVARIANT, r"Invariant (\S+) is violated"),
    2110: (Outcome.INVARIANT, r"Invariant (\S+) is violated"),
    2108: (Outcome.ACTION_PROPERTY, r"Property (\S+) is violated"),
    2112: (Outcome.ACTION_PROPERTY, r"Action property (\S+) is violated"),
    2116: (Outcome.TEMPORAL, r"Temporal property (\S+) (?:is|was) violated"),
    2114: (Outcome.DEADLOCK, None),
    2104: (Outcome.ASSUMPTION, r"Assumption (.+?) is false"),
    2105: (Outcome.EVALUATION_ERROR, None),
}
_OF_EXIT: Final[dict[int, frozenset[Outcome]]] = {
    10: frozenset({Outcome.ASSUMPTION, Outcome.EVALUATION_ERROR}),
    11: frozenset({Outcome.DEADLOCK}),
    12: frozenset({Outcome.INVARIANT}),
    13: frozenset({Outcome.ACTION_PROPERTY, Outcome.TEMPORAL}),
}
_ERRORS: Final = {
    75: Outcome.EVALUATION_ERROR,
    76: Outcome.EVALUATION_ERROR,
    77: Outcome.EVALUATION_ERROR,
    150: Outcome.PARSE_ERROR,
    151: Outcome.CONFIG_ERROR,
}
_STATS: Final = re.compile(r"([\d,]+) states generated.*?, ([\d,]+) distinct states found")
_DEPTH: Final = re.compile(r"The depth of the complete state graph search is ([\d,]+)")
_BACK_TO: Final = re.compile(r"(\d+): Back to state")
_SUCCESS, _STATE, _BACK, _STUTTER = 2193, 2217, 2122, 2218
_STATISTICS, _SEARCH_DEPTH, _ASSERT = 2199, 2194, 2132
_ERROR_TEXTS: Final = (1000, 1001, 2103, 2111, 2132, 2147, 2154, 3002)
_TAIL_LINES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TlcRun:
    """What one run of TLC found."""

    outcome: Outcome
    violated: str | None
    """The violated property, or the place of the false assumption; None where TLC does not tell."""
    distinct: int | None
    """Distinct states; of an unfinished search when a property was violated."""
    generated: int | None
    depth: int | None
    states: tuple[TlcState, ...]
    """The counterexample."""
    loop_to: int | None
    """Number of the state to which the counterexample returns for ever."""
    stutters: bool
    """Whether the counterexample ends by doing nothing for ever."""
    printed: tuple[str, ...]
    """The lines that the specification printed."""
    message: str
    """For a person: what TLC says about an error; empty after success."""
    output: str
    exit_code: int | None
    """None when TLC was stopped."""
    seconds: float

    @property
    def is_verdict(self) -> bool:
        """Whether TLC judged; an error, a crash and a timeout say nothing about the spec."""
        return self.outcome in VERDICTS

    @property
    def length(self) -> int | None:
        """The number of states of the counterexample, None without one."""
        return len(self.states) or None


def read_run(output: str, *, exit_code: int | None, seconds: float) -> TlcRun:
    """Make the result of a run from TLC's whole output.

    `exit_code` is None when the run was stopped because its time was over.
    """
    found = messages(output)
    outcome, violated = _outcome(found, exit_code)
    stats = _last(found, _STATISTICS, _STATS)
    depth = _last(found, _SEARCH_DEPTH, _DEPTH)
    back = _last(found, _BACK, _BACK_TO)
    return TlcRun(
        outcome=outcome,
        violated=violated,
        generated=count(stats[1]) if stats else None,
        distinct=count(stats[2]) if stats else None,
        depth=count(depth[1]) if depth else None,
        states=_states(found),
        loop_to=int(back[1]) if back else None,
        stutters=any(message.code == _STUTTER for message in found),
        printed=printed(output),
        message="" if outcome is Outcome.SUCCESS else _explain(outcome, found, output, seconds),
        output=output,
        exit_code=exit_code,
        seconds=seconds,
    )


def _outcome(found: tuple[Message, ...], exit_code: int | None) -> tuple[Outcome, str | None]:
    if exit_code is None:
        return Outcome.TIMEOUT, None
    if exit_code == 0:
        said_so = any(message.code == _SUCCESS for message in found)
        return (Outcome.SUCCESS if said_so else Outcome.CRASH), None
    if exit_code == 14 and any(message.code == _ASSERT for message in found):
        return Outcome.ASSERTION, None
    allowed = _OF_EXIT.get(exit_code, frozenset())
    for message in found:
        outcome, pattern = _REASONS.get(message.code, (None, None))
        if outcome is not None and outcome in allowed:
            name = re.match(pattern, message.text) if pattern else None
            return outcome, name[1] if name else None
    return _ERRORS.get(exit_code, Outcome.CRASH), None


def _states(found: tuple[Message, ...]) -> tuple[TlcState, ...]:
    states: list[TlcState] = []
    for message in found:
        if message.code == _STATE:
            state = state_of(message)
        elif message.code in (2107, 2108):
            state = initial_state_of(message)
        else:
            continue
        if state is not None:
            states.append(state)
    return tuple(states)


def _last(found: tuple[Message, ...], code: int, pattern: re.Pattern[str]) -> re.Match[str] | None:
    texts = [message.text for message in found if message.code == code]
    return pattern.search(texts[-1]) if texts else None


def _explain(outcome: Outcome, found: tuple[Message, ...], output: str, seconds: float) -> str:
    """Choose what of an output tells a person what went wrong."""
    if outcome is Outcome.PARSE_ERROR and (text := sany_text(output)):
        return text
    texts = [m.text for m in found if m.code in _REASONS or m.code in _ERROR_TEXTS]
    if outcome is Outcome.CONFIG_ERROR:
        texts = [m.text for m in found if 2222 <= m.code <= 2280 and m.code != 2262] + texts
    # A message that is nested in another is there twice.
    texts = [t.strip() for t in texts if not any(t in other and t != other for other in texts)]
    if texts:
        return "\n".join(dict.fromkeys(texts))
    if outcome is Outcome.TIMEOUT:
        return f"TLC was ended after {seconds:.0f} s"
    return "\n".join(output.strip().split("\n")[-_TAIL_LINES:])
