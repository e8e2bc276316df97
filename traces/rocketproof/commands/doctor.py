"""`rocketproof doctor`: is everything there that the other commands need?"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import click
from rich.markup import escape

from tlatrace.errors import TlatraceError
from tlatrace.extras import remedy
from tlatrace.oracle import load_model
from tlatrace.selfcheck.subjects import Subject, manifest_subjects, packaged_subjects
from tlatrace.terminal import open_console, open_table
from tlatrace.tools.jar import FEATURES, find_jar
from tlatrace.tools.java import find_java, spark_java_home
from tlatrace.tools.manifest import read_manifest
from tlatrace.tools.spec_root import find_samples, find_spec_root

_LIBRARIES: Final = (  # and the extra that each comes with
    ("pyspark", "corpora on Spark", "spark"),
    ("pyarrow", "corpora", "corpus"),
    ("z3-solver", "proofs", "proofs"),
    ("hypothesis", "tests driven by the model", "testing"),
    ("llvmlite", "machine code of specifications", "native"),
    ("jinja2", "reports of corpora", "report"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that rocketproof needs, and what was found of it."""

    name: str
    found: bool
    version: str
    where: str
    note: str = ""


@click.command(epilog="Example:  rocketproof doctor --model lock_quorum:small")
@click.option(
    "--model",
    "model_name",
    metavar="NAME|FILE",
    help="A model of the manifest, PROTOCOL:MODEL, or a module with a configuration of its name.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
def command(model_name: str | None, as_json: bool) -> None:
    """Show Java, the TLC jar and the libraries: what was found, where, which version.

    With --model: which of its actions and invariants become machine code, and why the others stay
    Python's.

    Exit codes: 0 everything is there, 2 something is missing.
    """
    if model_name is not None:
        _print_questions(examine_model(model_name), as_json=as_json)
        return
    findings = examine()
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        _print(findings)
    sys.exit(0 if all(finding.found for finding in findings) else 2)


def examine() -> tuple[Finding, ...]:
    """Look for everything that rocketproof needs."""
    return (
        Finding(name="Python", found=True, version=platform.python_version(), where=sys.executable),
        _look("Java", _java),
        _look("Java for Spark", _java_for_spark),
        _look("TLC", _tlc),
        _look("specifications", _specifications),
        _look("samples", _samples),
        *(_library(*library) for library in _LIBRARIES),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model can be asked, and who answers it."""

    question: str
    left_to_python: str
    """Why; "" for what becomes machine code."""


def examine_model(name: str) -> tuple[Question, ...]:
    """Compile a model, and say what becomes machine code.

    Raises:
        SpecError: there is no such model, or it is refused.
        ToolError: there is no Java or no jar.
    """
    subject = _subject(name)
    model = load_model(subject.module, subject.config, libraries=subject.libraries, native=True)
    assert model.source.native is not None
    native = [
        Question(question=role, left_to_python="") for role, _ in model.source.native.functions
    ]
    left = [
        Question(question=role, left_to_python=why) for role, why in model.source.native.unlowered
    ]
    return tuple(sorted([*native, *left], key=lambda one: one.question))


def _subject(name: str) -> Subject:
    if name.endswith(".tla"):
        module = Path(name)
        return Subject(name=module.stem, module=module, config=module.with_suffix(".cfg"))
    manifest = read_manifest(find_spec_root())
    found = manifest_subjects(manifest, [model.name for model in manifest.models])
    for subject in (*packaged_subjects(), *found):
        if subject.name == name:
            return subject
    listed = ", ".join(subject.name for subject in found)
    raise click.UsageError(f"no such model: {name} (known: {listed})")


def _print_questions(questions: tuple[Question, ...], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(question) for question in questions], indent=2))
        return
    table = open_table("Who answers", "question", "by", "why")
    for question in questions:
        by = "Python" if question.left_to_python else "machine code"
        table.add_row(escape(question.question), by, escape(question.left_to_python))
    open_console().print(table)
    native = sum(not question.left_to_python for question in questions)
    click.echo(f"{native} of {len(questions)} questions become machine code")


def _look(name: str, finder: Callable[[], Finding]) -> Finding:
    try:
        return finder()
    except TlatraceError as error:
        return Finding(name=name, found=False, version="", where="", note=str(error))


def _java() -> Finding:
    java = find_java()
    note = "; ".join((f"from {java.source}", *java.passed_over))
    return Finding(name="Java", found=True, version=java.version, where=str(java.home), note=note)


def _java_for_spark() -> Finding:
    home, java = spark_java_home(), find_java()
    plain = home == java.home
    return Finding(
        name="Java for Spark",
        found=True,
        version=java.version,
        where=str(home),
        note="as it is" if plain else "behind a script that drops an option it does not know",
    )


def _tlc() -> Finding:
    jar = find_jar()
    missing = [f"{gain} ({name})" for name, (_, _, gain) in FEATURES.items()
               if name not in jar.features]  # fmt: skip
    notes = [f"from {jar.source}", "sha256 as pinned" if jar.pinned else f"sha256 {jar.sha256}"]
    if missing:
        notes.append(f"a newer jar in TLA2TOOLS_JAR would add: {'; '.join(missing)}")
    return Finding(
        name="TLC", found=True, version=jar.version, where=str(jar.path), note=", ".join(notes)
    )


def _specifications() -> Finding:
    root = find_spec_root()
    manifest = read_manifest(root)
    note = (
        f"{len(manifest.models)} models, {len(manifest.witnesses)} witnesses, "
        f"{len(manifest.mutants)} mutants"
    )
    protocols = ", ".join(manifest.protocols)
    return Finding(name="specifications", found=True, version=protocols, where=str(root), note=note)


def _samples() -> Finding:
    folder = str(find_samples())
    note = "small traces, good and bad, to try the commands on"
    return Finding(name="samples", found=True, version="", where=folder, note=note)


def _library(name: str, use: str, extra: str) -> Finding:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        note = f"needed for {use}: {remedy(extra)}"
        return Finding(name=name, found=False, version="", where="", note=note)
    where = str(Path(str(found.locate_file(""))))
    return Finding(name=name, found=True, version=found.version, where=where, note=f"for {use}")


def _print(findings: tuple[Finding, ...]) -> None:
    table = open_table("What rocketproof found here", "what", "found", "version", "where and how")
    for finding in findings:
        table.add_row(
            finding.name,
            "[green]yes[/]" if finding.found else "[red]no[/]",
            escape(finding.version),
            escape("\n".join(text for text in (finding.where, finding.note) if text)),
        )
    open_console().print(table)
