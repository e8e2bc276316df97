"""Which known bugs explain a trace: the specification with their operators allows it.

A trace that diverges shows a step which the specification forbids. Each mutant of the manifest is
the specification with one operator, or several, as some release had them; where the trace conforms
to that, the step is what the bug does. Of a real system several bugs may be seen in one trace: then
it takes all of them to explain it. Where more than one set does, they are all named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import combinations

from rocketproof.engines import Judges, match_by_model
from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import ModelGapError, SpecError, SubsetError
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.oracle.load import load_model
from tlatrace.oracle.model import Model
from tlatrace.tla.config import Assignment, parse_config
from tlatrace.tools.manifest import Manifest, Mutant, read_manifest
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Trace
from tlatrace.values import Value, to_json

__all__ = ["explaining", "judge_with"]


def explaining(
    protocol: str, trace: Trace, diverges_at: int, names: Collection[str] | None = None
) -> tuple[tuple[str, ...], ...]:
    """Find small sets of a protocol's mutants to which a trace conforms.

    `diverges_at` is the step at which it diverges from the specification itself. With `names` only
    those mutants are tried: first all of them that can be together, as a release has them. If it
    conforms to that, those that it needs are the only set. Else one mutant joins others if the
    trace diverges later with it than without; two do where no single one does; all sets of the
    least number are named. Mutants that the trace's constants do not fit explain nothing, and none
    explains a trace whose steps are allowed, and violate an invariant.

    Raises: as `judge_with`.
    """
    mutants = [
        one
        for one in _manifest().mutants
        if one.protocol == protocol and (names is None or one.name in names)
    ]
    unchanged = [replace(one, overrides=()) for one in mutants[:1]]
    if unchanged and isinstance(judge_with(unchanged, trace), Conforms):
        return ()  # each step is allowed, and what it violates is an invariant
    together = _smallest(mutants, trace)
    if together is not None:
        return (together,)
    reached: dict[tuple[Mutant, ...], int] = {(): diverges_at}
    while reached:
        found, further = _joined(reached, mutants, 1, trace)
        if not found and not further:
            found, further = _joined(reached, mutants, 2, trace)
        if found:
            return tuple(found)
        reached = further
    return ()


def _smallest(mutants: Sequence[Mutant], trace: Trace) -> tuple[str, ...] | None:
    """Begin with all mutants that can be together, change what hinders, and leave out the rest.

    None: what a release has is not found this way.
    """
    kept: tuple[Mutant, ...] = ()
    for one in mutants:
        if _fit(one, kept) == kept:
            kept = (*kept, one)
    if len(kept) < 2:
        return None
    reached = _step_of(kept, trace)
    while reached is not None:
        neighbours = [tuple([other for other in kept if other is not one]) for one in kept]
        neighbours += [(*_fit(one, kept), one) for one in mutants if one not in kept]
        steps = [(_step_of(one, trace), one) for one in neighbours if one]
        conforming = [one for step, one in steps if step is None]
        if conforming:
            kept = conforming[0]
            break
        further, best = max(((step or 0, one) for step, one in steps), key=lambda found: found[0])
        if further <= reached:
            return None
        reached, kept = further, best
    for one in reversed(kept):
        fewer = tuple([other for other in kept if other is not one])
        if fewer and _step_of(fewer, trace) is None:
            kept = fewer
    return tuple([one.name for one in mutants if one in kept])


def _fit(mutant: Mutant, others: Sequence[Mutant]) -> tuple[Mutant, ...]:
    """Return those among others that override no operator in another way than a mutant."""
    mine = {text.partition("<-")[0].strip(): text for text in mutant.overrides}
    return tuple(
        [
            other
            for other in others
            if all(
                mine.get(text.partition("<-")[0].strip(), text) == text for text in other.overrides
            )
        ]
    )


def _step_of(mutants: Sequence[Mutant], trace: Trace) -> int | None:
    """Return how far a trace conforms; None: to its end."""
    verdict = judge_with(mutants, trace)
    if isinstance(verdict, Conforms):
        return None
    return verdict.step if isinstance(verdict, Diverges) else -1


def _joined(
    reached: Mapping[tuple[Mutant, ...], int],
    mutants: Sequence[Mutant],
    more: int,
    trace: Trace,
) -> tuple[list[tuple[str, ...]], dict[tuple[Mutant, ...], int]]:
    """Let so many mutants join each set; return sets that explain, and sets that get further."""
    found: list[tuple[str, ...]] = []
    further: dict[tuple[Mutant, ...], int] = {}
    tried: set[tuple[str, ...]] = set()
    for some, step in reached.items():
        for joining in combinations([one for one in mutants if one not in some], more):
            together = tuple([one for one in mutants if one in some or one in joining])
            called = tuple([one.name for one in together])
            if called in tried:
                continue
            tried.add(called)
            verdict = judge_with(together, trace)
            if isinstance(verdict, Conforms):
                found.append(called)
            elif isinstance(verdict, Diverges) and verdict.step > step:
                further[together] = verdict.step
    return found, further


def judge_with(mutants: Sequence[Mutant], trace: Trace) -> Verdict | None:
    """Hold a trace against the specification with the operators of mutants of one module.

    None: they cannot be judged with the constants of the trace.

    Raises:
        ToolError: there is no Java or no jar.
    """
    header = trace.header
    assert header is not None, "a trace of records has a header"
    model = _model_with(tuple(mutants), tuple(sorted(header.constants.items(), key=str)))
    if model is None:
        return None
    return match_by_model(Judges(choice=SpecChoice()), model, header, [trace])[0]


@lru_cache(maxsize=128)
def _model_with(
    mutants: tuple[Mutant, ...], constants: tuple[tuple[str, Value], ...]
) -> Model | None:
    """Compile the specification with the operators of mutants; None: it cannot be."""
    manifest, first = _manifest(), mutants[0]
    overrides = tuple(dict.fromkeys([text for one in mutants for text in one.overrides]))
    if len({text.partition("<-")[0].strip() for text in overrides}) < len(overrides):
        return None  # two of them override one operator, each in its own way
    folder = manifest.root / first.protocol
    text = "\n".join(("CONSTANTS", *overrides)) if overrides else ""
    config = parse_config(text, first.config)
    given = tuple(
        Assignment(name=name, text=f"{name} = {to_json(value)}", value=value)
        for name, value in constants
    )
    try:
        return load_model(
            first.module,
            replace(config, specification="Spec", assignments=(*given, *config.assignments)),
            libraries=(folder, *manifest.libraries_of(first.protocol)),
        )
    except (SpecError, SubsetError, ModelGapError):
        return None


@cache
def _manifest() -> Manifest:
    return read_manifest(find_spec_root(None))
