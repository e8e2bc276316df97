"""Let TLC evaluate expressions: one start of Java for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tlatrace.tla_text import parse_tla
from tlatrace.tools.tlc import QUICK_JVM_ARGS, Outcome, run_tlc
from tlatrace.values import Value

__all__ = ["evaluate"]

_MODULE: Final = """\
---- MODULE Evaluating ----
EXTENDS {extends}
{definitions}
{prints}
====
"""


def evaluate(
    expressions: Sequence[str],
    *,
    folder: Path,
    definitions: str = "",
    extends: str = "Integers, Sequences, FiniteSets, TLC",
    config: str = "",
    libraries: Sequence[Path] = (),
    timeout_s: float = 300.0,
) -> list[Value]:
    """Return the values of the expressions, read from what TLC prints.

    Expressions may use `definitions`, which stand in a module that extends `extends`.
    """
    prints = "\n".join(
        f'ASSUME PrintT("{number}") /\\ PrintT({expression})'
        for number, expression in enumerate(expressions)
    )
    module = folder / "Evaluating.tla"
    module.write_text(_MODULE.format(extends=extends, definitions=definitions, prints=prints))
    settings = folder / "Evaluating.cfg"
    settings.write_text(config)
    run = run_tlc(
        module, settings, libraries=libraries, timeout_s=timeout_s, jvm_args=QUICK_JVM_ARGS
    )
    assert run.outcome is Outcome.SUCCESS, run.message

    texts: list[list[str]] = []
    for line in run.printed:
        if line == f'"{len(texts)}"':
            texts.append([])
        else:
            texts[-1].append(line)
    assert len(texts) == len(expressions)
    return [parse_tla("\n".join(lines)) for lines in texts]
