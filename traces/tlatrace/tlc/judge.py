"""Have TLC judge steps: many in one process, each with evidence of its own.

For each item of a batch TLC prints that it looks at it, and then what it found. TLC has one worker,
so when it stops early, the last item that it looked at is the one that stopped it: that one is
Failed, those before it have their verdicts, and the rest is run again without it. After a few such
runs the rest is judged carefully: TLC goes on after what it cannot evaluate, which takes longer and
leaves the reason unsaid. When it stops before the first item, because a value of the batch cannot
be built, the batch is halved. Nothing is ever concluded from silence.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from tlatrace.errors import ModelGapError, SpecError, ToolError
from tlatrace.judgement.bounds import out_of_bounds
from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.judgement.transition import Allowed, Failed, Judged, Judgement, Refused, Transition
from tlatrace.tlc.batch_module import (
    AT,
    DONE,
    OPEN,
    VIOLATED,
    YES,
    BatchItem,
    StateCheck,
    write_batch,
)
from tlatrace.tlc.comparable import is_doubtful, state_is_doubtful
from tlatrace.tlc.read import read_transitions
from tlatrace.tlc.successors import second_look
from tlatrace.tools.jar import TlcJar
from tlatrace.tools.java import JavaHome
from tlatrace.tools.tlc import Outcome, TlcRun, run_tlc
from tlatrace.values import State, canonical_state

__all__ = ["DEFAULT_BATCH", "RunBatch", "judge", "run_batch_in"]

DEFAULT_BATCH: Final = 10_000
"""Items in a TLC process: beyond it the start of the JVM no longer counts, and memory does."""

_JVM_ARGS: Final = ("-XX:+UseSerialGC", "-Xmx4g", "-Xss64m", "-XX:TieredStopAtLevel=1")
"""One worker needs no parallel collector; 10,000 steps: 6.3 CPU s, with C2 9.8, parallel 7.4."""
_MAX_STOPS: Final = 3
"""So often is a batch run until TLC stops, each time with a reason; then the rest is careful."""
_CAREFUL_BATCH: Final = 2_000
"""TLC keeps so many states in memory; those on disk would have to have all their values."""
_MAX_RUNS: Final = 40
"""Of a batch that TLC does not survive even when it is careful: it crashes, or takes too long."""
_MAX_SECOND_LOOKS: Final = 20
_MAX_DOUBTFUL: Final = 20
_ONE_STEP_S: Final = 30.0
_MARK: Final = re.compile(rf'<<"({AT}|{YES}|{VIOLATED}|{OPEN}|{DONE})", (\d+)(?:, (\d+))?>>')
_REASON_CHARACTERS: Final = 400
_BOILERPLATE: Final = re.compile(
    r"TLC threw an unexpected exception\..*? The exception was an? \S+ : "
    r"| The error occurred when .*"
)
_NOT_TOLD: Final = "Next allows the step, but TLC does not tell whether it is one of this action"
_EMPTY_BATCH: Final[tuple[BatchItem, ...]] = ()


class RunBatch(Protocol):
    """Runs TLC on a batch; a parameter, so that tests can break it."""

    def __call__(
        self,
        spec: SpecUnderTest,
        items: Sequence[BatchItem],
        timeout_s: float,
        /,
        *,
        careful: bool = False,
    ) -> TlcRun:
        """Run TLC for at most so many seconds; careful: as `write_batch` says."""
        ...


@dataclass(slots=True)
class _Found:
    """What is known of the items of a batch, by their position."""

    yes: set[int] = field(default_factory=set)
    violated: dict[int, set[int]] = field(default_factory=dict)
    examined: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    """What a careful run has evaluated."""
    failed: dict[int, str] = field(default_factory=dict)


def judge(
    spec: SpecUnderTest,
    transitions: Sequence[Transition],
    *,
    batch_size: int = DEFAULT_BATCH,
    timeout_s: float = 600.0,
    workers: int = 1,
    second_looks: int = _MAX_SECOND_LOOKS,
    on_progress: Callable[[int, int], None] | None = None,
    run_batch: RunBatch | None = None,
) -> list[Judged]:
    """Judge each transition, and the invariants of the state after it, in the given order.

    An action that the module does not have, or with another number of parameters, is Failed and not
    Refused: the trace may belong to another version of the specification. So is a state that lacks
    a variable.

    Every distinct state is evaluated once; make the transitions distinct beforehand. `workers` is
    the number of TLC processes at a time, `timeout_s` the limit for each; `on_progress` gets
    how many transitions of how many are judged. `second_looks` limits how many steps that TLC could
    not evaluate are judged by a list of what is allowed instead.

    Raises:
        SpecError: SANY or TLC refuses the specification itself, whatever the transitions.
        ToolError: there is no Java or no jar, or TLC does not run even without transitions.
    """
    runner = run_batch or _run_batch
    transitions, reasons = read_transitions(spec, transitions)
    states: dict[str, int] = {}
    state_of: list[int] = []
    refused: set[int] = set()
    items: list[BatchItem] = []
    place: dict[int, int] = {}
    for at, transition in enumerate(transitions):
        state_of.append(-1)
        if at in reasons:
            continue
        if out_of_bounds(spec, transition.action, transition.params):
            refused.add(at)
            continue
        place[at] = len(items)
        items.append(transition)
        if spec.invariants:
            key = canonical_state(transition.post)
            if key not in states:
                states[key] = len(items)
                items.append(StateCheck(transition.post))
            state_of[at] = states[key]
    found = _judge_items(spec, items, batch_size, timeout_s, workers, on_progress, runner)
    _refuse_by_themselves(spec, items, found, batch_size, timeout_s, workers, runner)
    judged: list[Judged] = []
    for at, transition in enumerate(transitions):
        step: Judgement
        if at in reasons:
            step = Failed(reasons[at])
        elif at in refused:
            step = Refused()
        else:
            step = _step(found, place[at])
        if isinstance(step, Failed) and at in place and second_looks:
            second_looks -= 1
            step = second_look(spec, transition, timeout_s=min(timeout_s, _ONE_STEP_S)) or step
        judged.append(_judged(spec, step, found, state_of[at]))
    return judged


def _judged(spec: SpecUnderTest, step: Judgement, found: _Found, state: int) -> Judged:
    if state < 0:
        return Judged(step=step)
    names = tuple([spec.invariants[number - 1] for number in sorted(found.violated.get(state, []))])
    unevaluated = found.failed.get(state)
    if unevaluated is None and state not in found.examined:
        unevaluated = "TLC did not look at this state"
    return Judged(step=step, violated=names, unevaluated=unevaluated)


def _step(found: _Found, item: int) -> Judgement:
    if item in found.failed:
        return Failed(found.failed[item])
    if item not in found.examined:
        return Failed("TLC did not look at this step")
    return Allowed() if item in found.yes else Refused()


def _judge_items(
    spec: SpecUnderTest,
    items: Sequence[BatchItem],
    batch_size: int,
    timeout_s: float,
    workers: int,
    on_progress: Callable[[int, int], None] | None,
    runner: RunBatch,
) -> _Found:
    doubtful = _doubtful(items)
    apart = set(doubtful)
    certain = [at for at in range(len(items)) if at not in apart]
    batches = [certain[at : at + batch_size] for at in range(0, len(certain), batch_size)]
    batches += [[at] for at in doubtful[:_MAX_DOUBTFUL]]
    total = sum(isinstance(item, Transition) for item in items)
    done = 0
    found = _Found()
    reason = "it holds values that TLC may be unable to compare, as do too many other steps"
    found.failed.update(dict.fromkeys(doubtful[_MAX_DOUBTFUL:], reason))
    with ThreadPoolExecutor(max_workers=max(workers, 1)) as pool:
        runs = pool.map(
            lambda batch: _Batch(
                spec, items, min(timeout_s, _ONE_STEP_S) if batch[0] in apart else timeout_s, runner
            ).run(batch),
            batches,
        )
        for batch, part in zip(batches, runs, strict=True):
            found.yes |= part.yes
            found.violated.update(part.violated)
            found.examined |= part.examined
            found.failed.update(part.failed)
            done += sum(isinstance(items[at], Transition) for at in batch)
            if on_progress is not None:
                on_progress(done, total)
    return found


def _refuse_by_themselves(
    spec: SpecUnderTest,
    items: Sequence[BatchItem],
    found: _Found,
    batch_size: int,
    timeout_s: float,
    workers: int,
    runner: RunBatch,
) -> None:
    """Refuse steps that are none of their action, although TLC could not walk through Next.

    An action that is FALSE by itself is so wherever Next calls it.
    """
    woven = {
        at: item
        for at in found.failed
        if isinstance(item := items[at], Transition) and item.action in spec.woven
    }
    if not woven:
        return
    alone = replace(spec, next="TRUE", places={}, woven=frozenset(), foreign=frozenset(), box=None)
    steps = list(woven.values())
    asked = _judge_items(alone, steps, batch_size, timeout_s, workers, None, runner)
    for number, at in enumerate(woven):
        if number in asked.examined and number not in asked.yes:
            del found.failed[at]
            found.examined.add(at)


def _doubtful(items: Sequence[BatchItem]) -> list[int]:
    """Return the positions of the items that TLC may fail to build."""
    clean: set[str] = set()
    known: dict[int, bool] = {}  # by id: the items hold the states

    def in_doubt(state: State | None) -> bool:
        if state is None:
            return False
        found = known.get(id(state))
        if found is None:
            found = known[id(state)] = state_is_doubtful(state, clean)
        return found

    def item_in_doubt(item: BatchItem) -> bool:
        if isinstance(item, StateCheck):
            return in_doubt(item.state)
        return in_doubt(item.pre) or in_doubt(item.post) or is_doubtful(item.params)

    return [at for at, item in enumerate(items) if item_in_doubt(item)]


class _Batch:
    """The runs that one batch needs; usually one."""

    def __init__(
        self, spec: SpecUnderTest, items: Sequence[BatchItem], timeout_s: float, runner: RunBatch
    ) -> None:
        self._spec = spec
        self._items = items
        self._timeout_s = timeout_s
        self._runner = runner
        self._runs = 0
        self._stops = 0
        self._probed = False
        self._bare = False
        self.found = _Found()

    def run(self, positions: Iterable[int]) -> _Found:
        waiting = [list(positions)]
        while waiting:
            pending = waiting.pop()
            if self._runs >= _MAX_RUNS:
                reason = f"TLC does not survive this batch; gave up after {_MAX_RUNS} runs"
                self.found.failed.update(dict.fromkeys(pending, reason))
            elif self._stops >= _MAX_STOPS and len(pending) > _CAREFUL_BATCH:
                waiting += [pending[_CAREFUL_BATCH:], pending[:_CAREFUL_BATCH]]
            else:
                waiting += reversed(self._run_once(pending))
        return self.found

    def _run_once(self, pending: list[int]) -> list[list[int]]:
        """Run TLC; return the lists of items that are to be run again."""
        careful = self._stops >= _MAX_STOPS
        self._runs += 1
        items = [self._items[at] for at in pending]
        try:
            run = self._runner(self._spec, items, self._timeout_s, careful=careful)
        except ModelGapError as error:
            return self._halve(pending, error.reason)
        order = self._read(run, pending)
        looked_at = {pending[number] for number in order}
        if careful:
            self._note_values(looked_at)
        if run.outcome is Outcome.SUCCESS:
            return []
        reason = _reason(run)
        if run.outcome is Outcome.PARSE_ERROR and not self._bare:
            self._spec, self._bare = _without_excerpts(self._spec), True
            return [pending]
        if not order:
            self._probe(run)
            return self._halve(pending, reason)
        self._stops += 1
        culprit = pending[order[-1]]
        if culprit not in self.found.yes:
            self._fail(culprit, reason)
        rest = [at for at in pending if at not in looked_at]
        return [rest] if rest else []

    def _note_values(self, looked_at: set[int]) -> None:
        """Fail what a careful run has looked at without coming to an end."""
        silent = looked_at - self.found.done - self.found.yes
        for at in silent:
            self._fail(at, f"TLC cannot evaluate it, nor {len(silent) - 1} others of its batch")

    def _fail(self, at: int, reason: str) -> None:
        self.found.examined.discard(at)
        self.found.failed[at] = reason

    def _read(self, run: TlcRun, pending: list[int]) -> list[int]:
        """Note what TLC printed; return the positions in `pending` in the order of its looks."""
        order: list[int] = []
        for line in run.printed:
            match = _MARK.fullmatch(line.strip())
            number = int(match[2]) - 1 if match is not None else -1
            if match is None or not 0 <= number < len(pending):
                continue
            at = pending[number]
            if match[1] == AT:
                order.append(number)
                self.found.examined.add(at)
            elif match[1] == YES:
                self.found.yes.add(at)
            elif match[1] == DONE:
                self.found.done.add(at)
            elif match[1] == OPEN:
                self.found.failed[at] = _NOT_TOLD
            elif match[3] is not None:
                self.found.violated.setdefault(at, set()).add(int(match[3]))
        return order

    def _halve(self, pending: list[int], reason: str) -> list[list[int]]:
        if len(pending) == 1:
            self.found.failed[pending[0]] = reason
            return []
        middle = len(pending) // 2
        return [pending[:middle], pending[middle:]]

    def _probe(self, failure: TlcRun) -> None:
        """Ask whether TLC stops without any item, too; then the specification is at fault.

        Raises:
            SpecError, ToolError: it does.
        """
        if self._probed:
            return
        self._probed = True
        run = self._runner(self._spec, _EMPTY_BATCH, self._timeout_s)
        match run.outcome:
            case Outcome.SUCCESS:
                return
            case Outcome.TIMEOUT | Outcome.CRASH:
                raise ToolError("TLC", _reason(run))
            case _:
                raise SpecError(self._spec.module, _reason(failure))


def _without_excerpts(spec: SpecUnderTest) -> SpecUnderTest:
    """Leave out what is text of the module itself: it may have names that are LOCAL there."""
    box = spec.box
    without = {name: found for name, found in spec.places.items() if not found[0].bounds}
    return replace(
        spec,
        places=without,
        woven=spec.woven | (spec.places.keys() - without.keys()),
        sides=(),
        box=None if box is None else replace(box, text=None),
    )


def _reason(run: TlcRun) -> str:
    if run.outcome is Outcome.TIMEOUT:
        return f"TLC gave no answer in {run.seconds:.0f} s"
    text = _BOILERPLATE.sub("", " ".join(run.message.split()))
    return f"TLC: {run.outcome.value}: {text[:_REASON_CHARACTERS]}"


def run_batch_in(
    spec: SpecUnderTest,
    items: Sequence[BatchItem],
    timeout_s: float,
    *,
    careful: bool,
    jvm_args: Sequence[str],
    jar: TlcJar | None = None,
    java: JavaHome | None = None,
) -> TlcRun:
    """Write a batch into a folder of its own, and run TLC there."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-batch-") as folder:
        module, config = write_batch(spec, items, Path(folder), careful=careful)
        return run_tlc(
            module,
            config,
            workers=1,
            timeout_s=timeout_s,
            libraries=(spec.module.parent, *spec.libraries),
            extra_args=("-dump", str(Path(folder) / "careful.dump")) if careful else (),
            jvm_args=jvm_args,
            jar=jar,
            java=java,
        )


def _run_batch(
    spec: SpecUnderTest,
    items: Sequence[BatchItem],
    timeout_s: float,
    /,
    *,
    careful: bool = False,
) -> TlcRun:
    return run_batch_in(spec, items, timeout_s, careful=careful, jvm_args=_JVM_ARGS)
