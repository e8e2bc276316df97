"""Which model a corpus is held against, and who judges."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocketproof.trace_inputs import SpecChoice
from tlatrace.corpus.corpora import corpora_in
from tlatrace.corpus.manifest import CorpusManifest, read_manifest
from tlatrace.corpus.result import CorpusResult, nothing_in
from tlatrace.corpus.sums import sum_of_results
from tlatrace.errors import CorpusError, EvaluationError, ModelGapError, SubsetError
from tlatrace.extras import installed
from tlatrace.judgement.difference import difference
from tlatrace.judgement.specification import (
    SpecUnderTest,
    differing_constants,
    module_sha256,
)
from tlatrace.judgement.transition import Transition
from tlatrace.oracle import Model
from tlatrace.readings import differing_values
from tlatrace.trace import Header
from tlatrace.values import State, state_from_json

if TYPE_CHECKING:  # imported when it is needed: `--help` does not wait for Arrow
    from tlatrace.corpus.checker import RowsSource
    from tlatrace.corpus.examples import Allowed
    from tlatrace.corpus.validate import Driver

__all__ = ["AUTO", "COMPILED", "CORPUS_ENGINES", "NATIVE", "TLC", "NearestOfModel", "judge_corpora"]

AUTO, NATIVE, COMPILED, TLC = "auto", "native", "compiled", "tlc"
CORPUS_ENGINES = (AUTO, NATIVE, COMPILED, TLC)
_MANY_STEPS = 200_000
"""So many are judged by Python in the time that LLVM takes."""

_MAX_LINES = 12


def judge_corpora(
    folder: Path,
    choice: SpecChoice,
    open_driver: Callable[[int], AbstractContextManager[Driver]],
    *,
    engine: str,
    sample: int | None,
    store: Path | None,
    seed: int,
) -> CorpusResult:
    """Judge all traces of a corpus, or of the corpora of a folder, with one driver for all steps.

    `engine` is one of `CORPUS_ENGINES`. TLC is asked besides about `sample` accepted transitions,
    of which each corpus has its share, or all (None), and about the rejected ones. Where it is
    asked and the specification cannot be compiled, TLC judges everything.

    Raises:
        CorpusError: it was recorded with other constants, or cannot be read.
        DisagreementError: TLC contradicts the compiled model.
        SpecError: the specification is wrong, or cannot be compiled.
        ToolError: a tool failed.
    """
    corpora = corpora_in(folder)
    results = {corpus: nothing_in(corpus) for corpus in corpora}
    steps = {
        corpus: read_manifest(corpus).steps
        for corpus, nothing in results.items()
        if nothing is None
    }
    total = sum(steps.values())
    if total:
        with open_driver(total) as driver:
            for corpus, count in steps.items():
                share = None if sample is None else -(-sample * count // total)
                results[corpus] = _judge_corpus(
                    corpus, choice, driver, engine=engine, sample=share, store=store, seed=seed
                )
    found = [result for result in results.values() if result is not None]
    return found[0] if corpora == (folder,) else sum_of_results(folder, found)


def _judge_corpus(
    folder: Path,
    choice: SpecChoice,
    driver: Driver,
    *,
    engine: str,
    sample: int | None,
    store: Path | None,
    seed: int,
) -> CorpusResult:
    from tlatrace.corpus.model_source import ModelCheckerSource
    from tlatrace.corpus.tlc_judge import tlc_judge
    from tlatrace.corpus.validate import Subject, TlcRecheck, validate_corpus

    manifest = read_manifest(folder)
    constants = state_from_json(dict(manifest.constants))
    header = Header(spec=manifest.spec or "", constants=constants)
    by_tlc = engine == TLC
    try:
        model = choice.model(header)
    except SubsetError:
        if not by_tlc:
            raise
        return _by_tlc(folder, choice.load(header), driver, manifest, choice.module_of(header))
    _check_constants(folder, constants, model)
    notes = _notes(manifest, model.module, choice.module_of(header))
    native = None
    if _suits_machine_code(engine, manifest.steps, model):
        native, why = _machine_code(choice.model(header, native=True))
        notes += why
    subject = Subject(
        module=model.module,
        fingerprint=model.fingerprint,
        source=ModelCheckerSource(model.source),
        rows=native,
        actions=model.next_actions,
        variables=model.variables,
        notes=notes,
    )
    tlc = None
    if by_tlc:
        tlc = TlcRecheck(tlc_judge(choice.load(header)), sample)
    return validate_corpus(
        folder, subject, driver, tlc=tlc, store=store, make_example=NearestOfModel(model), seed=seed
    )


def _suits_machine_code(engine: str, steps: int, model: Model) -> bool:
    """Tell whether machine code is to be asked: where it is there, or soon pays for itself."""
    if engine in (COMPILED, NATIVE) or not installed("native"):
        return engine == NATIVE
    from tlatrace.oracle.native import is_kept

    return steps >= _MANY_STEPS or is_kept(model.fingerprint)


def _machine_code(model: Model) -> tuple[RowsSource | None, tuple[str, ...]]:
    """Compile a model's machine code, once for all workers; None, and why there is none."""
    from tlatrace.corpus.model_source import ModelCheckerSource
    from tlatrace.oracle.native_rows import NotNative

    source = ModelCheckerSource(model.source)
    try:
        source.open_rows()
    except NotNative as reason:
        return None, (f"there is no machine code, Python has judged all: {reason}",)
    return source, ()


def _by_tlc(
    folder: Path, spec: SpecUnderTest, driver: Driver, manifest: CorpusManifest, recorded: Path
) -> CorpusResult:
    from tlatrace.corpus.by_tlc import validate_by_tlc
    from tlatrace.corpus.examples import NearestSuccessor
    from tlatrace.corpus.lookup import AcceptSource
    from tlatrace.corpus.tlc_judge import tlc_judge
    from tlatrace.corpus.validate import Subject

    differing = differing_constants(spec, state_from_json(dict(manifest.constants)))
    if differing:
        raise _other_constant(folder, differing[0])
    alone = "the model compiler refuses this specification: TLC has judged everything"
    subject = Subject(
        module=spec.name,
        fingerprint="",
        source=AcceptSource(),
        actions=spec.next_actions,
        variables=spec.variables,
        notes=(alone, *_notes(manifest, spec.name, recorded)),
    )
    return validate_by_tlc(
        folder, subject, driver, tlc_judge(spec), make_example=NearestSuccessor(spec)
    )


def _check_constants(folder: Path, recorded: State, model: Model) -> None:
    differing = differing_values(model.values, recorded)
    if differing:
        raise _other_constant(folder, differing[0])


def _other_constant(folder: Path, name: str) -> CorpusError:
    reason = f"was recorded with another value of the constant {name}"
    return CorpusError(folder, f"{reason} than the specification has here")


def _notes(manifest: CorpusManifest, name: str, module: Path) -> tuple[str, ...]:
    if manifest.spec_sha256 in (None, module_sha256(module)):
        return ()
    return (f"{name} is not the same text as when the corpus was recorded",)


@dataclass(frozen=True, slots=True)
class NearestOfModel:
    """Says where the claimed action leads to instead, by the compiled model."""

    model: Model

    def __call__(self, transition: Transition, /) -> Allowed:
        """Find the nearest state that the action leads to from the state before."""
        from tlatrace.corpus.examples import Allowed

        model = self.model
        if transition.pre is None or transition.action is None:
            return Allowed(None)
        try:
            before, after = model.adopt(transition.pre), model.adopt(transition.post)
            params = model.adopt_params(transition.action, transition.params)
            found = model.bound_successors(before, transition.action, params)
        except (EvaluationError, ModelGapError) as error:
            return Allowed(None, str(error))
        if not found:
            return Allowed((), "the action is not possible here")
        observed = model.show(after)
        nearest = min([difference(model.show(step.post), observed) for step in found], key=len)
        lines = [change.text("expected, but the trace has") for change in nearest]
        return Allowed(tuple(lines[:_MAX_LINES]))
