"""The models of a checkout of tlaplus/Examples, by machine code and by TLC: `FOLDER [NAME...]`.

Whoever runs it has the checkout; each `manifest.json` there says which models it has and how long
they take: those of at most 15 seconds are checked here. Counts and depths of models that hold must
be equal, else names of invariants and lengths of counterexamples. Seconds include all: Python, SANY
and LLVM's code from the cache, where a first run with one state put it; Java for TLC.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

LONGEST: Final = "00:00:15"
TIMEOUT_S: Final = 120
COMMAND: Final = (sys.executable, "-m", "rocketproof", "check")


@dataclass(frozen=True, slots=True)
class ExampleModel:
    """A module with a configuration."""

    name: str
    module: Path
    config: Path


def main() -> int:
    """Print a row for each model, and how many are equal; 1 if one is not."""
    root, *wanted = sys.argv[1:]
    equal = different = 0
    left: dict[str, str] = {}
    for model in models_of(Path(root)):
        if wanted and not any(name in model.name for name in wanted):
            continue
        found = answer_of(model, "native", "--max-states", "1")
        if found.get("engine") == "native":
            found = answer_of(model, "native")
        if found.get("engine") != "native":
            left[model.name] = why_not(found)
            print(f"{model.name:60} left: {left[model.name]}", flush=True)
            continue
        expected = answer_of(model, "tlc")
        if undecided(found, expected):
            left[model.name] = " ".join(f"TLC: {expected.get('message', expected)}".split())
            print(f"{model.name:60} left: {left[model.name]}", flush=True)
            continue
        is_equal = compared(found) == compared(expected)
        equal, different = equal + is_equal, different + (not is_equal)
        print(
            f"{model.name:60} {'equal' if is_equal else 'DIFFERENT'} "
            f"{compared(found)} {'' if is_equal else compared(expected)} "
            f"{found['seconds']:.2f} s, TLC {expected['seconds']:.2f} s",
            flush=True,
        )
    print(f"{equal} equal, {different} different, {len(left)} left")
    return int(different > 0 or equal == 0)


def models_of(root: Path) -> Iterator[ExampleModel]:
    """Read the manifests: what TLC searches, and is not long."""
    for path in sorted(root.rglob("manifest.json")):
        for module in json.loads(path.read_text("utf-8"))["modules"]:
            for model in module.get("models", []):
                if model["mode"] == "exhaustive search" and model["runtime"] <= LONGEST:
                    yield ExampleModel(
                        str(Path(model["path"]).relative_to("specifications").with_suffix("")),
                        root / module["path"],
                        root / model["path"],
                    )


def answer_of(model: ExampleModel, engine: str, *options: str) -> dict[str, Any]:
    """Have an engine check a model; the answer, or what went wrong as its message."""
    command = [*COMMAND, str(model.module), "--config", str(model.config), "--engine", engine]
    command += ["--json", "--timeout", str(TIMEOUT_S), *options]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=2 * TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return {"message": "it did not end"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"message": (done.stderr or done.stdout).strip()[-300:]}
    return answer


def undecided(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Tell whether TLC says nothing; so it is, too, with an ASSUME that only TLC has read."""
    if expected.get("outcome") == "evaluation error":
        return any(item.startswith("the ASSUME") for item in found["unchecked"])
    return expected.get("outcome") not in ("success", "invariant violated", "deadlock")


def compared(answer: dict[str, Any]) -> tuple[Any, ...]:
    """Return what must be equal."""
    if answer["outcome"] == "success":
        return "success", answer["distinct"], answer["depth"]
    return answer["outcome"], answer["violated"], len(answer["states"])


def why_not(answer: dict[str, Any]) -> str:
    """Say why machine code did not search."""
    reasons = [note for note in answer.get("notes", []) if note.startswith("not by machine code")]
    return " ".join((reasons or [str(answer.get("message", answer))])[0].split())


if __name__ == "__main__":
    sys.exit(main())
