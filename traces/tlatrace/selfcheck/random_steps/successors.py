r"""The third judge: TLC's own lists of the states that may follow, for several relations at once.

    Rp__Init == Rp__of \in 0..2 /\ Rp__open = TRUE /\ (\/ x = 0 /\ ... \/ x = 1 /\ ...)
    Rp__Next == /\ Rp__open /\ Rp__open' = FALSE /\ Rp__of' = Rp__of
                /\ \/ Rp__of = 0 /\ Free
                   \/ Rp__of = 1 /\ Next1
                   \/ Rp__of = 2 /\ Next2

TLC enumerates each relation in each of the given states, one step far, and writes the graph.
Nothing of ours reads the relations: neither where they call an action, nor with what bounds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tlatrace.errors import ToolError
from tlatrace.judgement.specification import PREFIX
from tlatrace.tla_text import to_tla
from tlatrace.tlc.state_graph import read_dot
from tlatrace.tools.tlc import Outcome, run_tlc
from tlatrace.tools.tlc_config import without_sections
from tlatrace.values import State, canonical_state

__all__ = ["successor_lists"]

_OF: Final = f"{PREFIX}of"
_OPEN: Final = f"{PREFIX}open"
_MODULE: Final = f"{PREFIX}Lists"
_JVM_ARGS: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss64m", "-Xmx4g")


def successor_lists(
    module: Path,
    config: str,
    relations: Sequence[str],
    states: Sequence[State],
    *,
    timeout_s: float = 300.0,
) -> list[dict[str, list[State]]]:
    """Return for each relation: canonical text of a state -> the states that may follow it.

    `config` is a configuration of the module; its Init and Next are not used.

    Raises:
        ToolError: TLC does not finish: the relations have no value in one of the states, or there
            is no Java or no jar.
    """
    with tempfile.TemporaryDirectory(prefix="rocketproof-lists-") as name:
        folder = Path(name)
        path, cfg, dump = folder / f"{_MODULE}.tla", folder / f"{_MODULE}.cfg", folder / "steps.dot"
        path.write_text(_text(module.stem, relations, states), "utf-8")
        kept = without_sections(config, frozenset({"INIT", "NEXT", "SPECIFICATION"}))
        cfg.write_text(f"INIT {PREFIX}Init\nNEXT {PREFIX}Next\n{kept}", "utf-8")
        run = run_tlc(
            path,
            cfg,
            timeout_s=timeout_s,
            libraries=[module.parent],
            extra_args=("-dump", "dot", str(dump)),
            jvm_args=_JVM_ARGS,
        )
        if run.outcome is not Outcome.SUCCESS:
            reason = f"{run.outcome.value}: {' '.join(run.message.split())[:400]}"
            raise ToolError("TLC", f"the successors of {module.stem}: {reason}")
        graph = read_dot(dump)
    if len(graph.states) != run.distinct:
        raise ToolError("TLC", f"{len(graph.states)} states in the graph, not {run.distinct}")
    known: list[dict[str, list[State]]] = [
        {canonical_state(state): [] for state in states} for _ in relations
    ]
    plain = {at: _plain(state) for at, state in graph.states.items()}
    for start, _, end in graph.edges:
        of = graph.states[start][_OF]
        assert isinstance(of, int)
        known[of][canonical_state(plain[start])].append(plain[end])
    return known


def _plain(state: State) -> State:
    return {name: value for name, value in state.items() if not name.startswith(PREFIX)}


def _text(module: str, relations: Sequence[str], states: Sequence[State]) -> str:
    given = [
        " /\\ ".join([f"{name} = {to_tla(state[name])}" for name in sorted(state)])
        for state in states
    ]
    return "\n".join(
        [
            f"---- MODULE {_MODULE} ----",
            f"EXTENDS {module}",
            f"VARIABLES {_OF}, {_OPEN}",
            f"{PREFIX}Init == {_OPEN} = TRUE /\\ {_OF} \\in 0..{len(relations) - 1} /\\ (",
            *[f"  \\/ {line}" for line in given],
            "  )",
            f"{PREFIX}Next == {_OPEN} /\\ {_OPEN}' = FALSE /\\ {_OF}' = {_OF} /\\ (",
            *[f"  \\/ {_OF} = {at} /\\ {name}" for at, name in enumerate(relations)],
            "  )",
            "====\n",
        ]
    )
