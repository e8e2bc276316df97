"""A reproducible draw of mutations of a protocol's cores."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import rocketha
from rocketproof.implementation_mutation.effects import effect_names
from rocketproof.implementation_mutation.mutation import Kind, Mutation
from rocketproof.implementation_mutation.operators import mutations_of

__all__ = ["all_mutations", "core_folders", "draw"]

_ROOT: Final = Path(rocketha.__file__).parent


def all_mutations(cores: Sequence[str]) -> list[Mutation]:
    """List all mutations of cores, which are packages and modules of `rocketha`, by their names."""
    files = [path for core in cores for path in _files(core)]
    folders = {path.parent for path in files} | {_ROOT / "runtime"}
    trees = [_parsed(path) for folder in sorted(folders) for path in sorted(folder.glob("*.py"))]
    effects = effect_names(trees)
    return [
        mutation
        for path in files
        for mutation in mutations_of(_module(path), path, path.read_text("utf-8"), effects)
    ]


def core_folders(cores: Iterable[str]) -> list[str]:
    """Return the packages that cores are, or are in."""
    return sorted({core.split(".")[0] for core in cores})


def _files(core: str) -> list[Path]:
    place = _ROOT.joinpath(*core.split("."))
    files = sorted(place.glob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    assert files, f"{core} has no module"
    return files


def _module(path: Path) -> str:
    parts = path.relative_to(_ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def draw(
    mutations: Sequence[Mutation], sample: int, seed: int, is_apart: Callable[[Mutation], bool]
) -> list[Mutation]:
    """Draw so many mutations, each kind in turn, and those between that are counted apart.

    The same mutations and seed give the same draw, and a larger sample begins with a smaller one.
    Kinds have equal weights as long as they have mutations: there are ten guards for each flush.
    """
    random_source = random.Random(seed)
    of_kind = {kind: [one for one in mutations if one.kind is kind] for kind in Kind}
    for those in of_kind.values():
        random_source.shuffle(those)
    drawn, counted = [], 0
    for one in _in_turn(list(of_kind.values())):
        if counted == sample:
            break
        drawn.append(one)
        counted += not is_apart(one)
    return drawn


def _in_turn(lists: Sequence[list[Mutation]]) -> Iterator[Mutation]:
    while any(lists):
        for those in lists:
            if those:
                yield those.pop()
