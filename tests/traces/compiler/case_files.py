"""Files in `cases/`: TLA+ in, the printed tree out, or the refusal with its caret.

    === module Counter
    ---- MODULE Counter ----
    ...
    === configuration
    CONSTANT Step = 1
    === tree Add
    Add : bool =
      (= count' (+ count 1))
    === native Add
    def role1(s, t, p):
        ...
    === refused Clock
    Counter.tla:9:3: JavaTime has another value at each use
    ...

The first module is the root. `python -m tests.traces.compiler.case_files` writes anew what the
compiler makes of them; read the difference before it is kept.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tlatrace.compiler.emit_native.roles import NativeRoles
from tlatrace.compiler.ir.printer import printed
from tlatrace.compiler.lower.reader import Reader
from tlatrace.compiler.reading import read_tree
from tlatrace.errors import SubsetError
from tlatrace.tla.config import parse_config

__all__ = ["CASES", "Section", "made_of", "parse", "reader_of"]

CASES: Final = tuple(sorted((Path(__file__).parent / "cases").glob("*.case")))

_HEAD: Final = re.compile(r"=== (module|configuration|tree|refused|native)(?: (\w+))?")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file: its kind, the name of a module or an operator, and its text."""

    kind: str
    name: str
    text: str


def parse(text: str) -> list[Section]:
    """Take a file apart.

    Raises:
        ValueError: a line that begins with === is no head, or text stands before the first one.
    """
    found: list[Section] = []
    for line in text.splitlines():
        if line.startswith("=== "):
            head = _HEAD.fullmatch(line)
            if head is None:
                raise ValueError(f"no head of a section: {line}")
            found.append(Section(head[1], head[2] or "", ""))
        elif found:
            found[-1] = replace(found[-1], text=f"{found[-1].text}{line}\n")
        elif line:
            raise ValueError(f"before the first section: {line}")
    return found


def reader_of(sections: list[Section], folder: Path) -> Reader:
    """Read the modules of a file, which are written into a folder, under its configuration."""
    modules = [section for section in sections if section.kind == "module"]
    for section in modules:
        (folder / f"{section.name}.tla").write_text(section.text, "utf-8")
    root = folder / f"{modules[0].name}.tla"
    config = "".join([section.text for section in sections if section.kind == "configuration"])
    return read_tree(root, parse_config(config, root.with_suffix(".cfg")))


def made_of(sections: list[Section], reader: Reader) -> Iterator[Section]:
    """Yield the sections as the compiler makes them."""
    for section in sections:
        if section.kind == "native":
            roles = NativeRoles()
            roles.question(section.name, reader.definition(section.name).expression)
            written = roles.written()
            reasons = "".join([f"# left to Python: {why}\n" for _, why in written.unlowered])
            yield Section("native", section.name, written.text or reasons)
            continue
        if section.kind not in ("tree", "refused"):
            yield section
            continue
        try:
            text = printed(reader.definition(section.name))
            yield Section("tree", section.name, text)
        except SubsetError as error:
            yield Section("refused", section.name, f"{error}\n")


def _written(sections: Sequence[Section]) -> str:
    heads = [f"=== {section.kind} {section.name}".rstrip() for section in sections]
    texts = [section.text for section in sections]
    return "".join([f"{head}\n{text}" for head, text in zip(heads, texts, strict=True)])


if __name__ == "__main__":
    for path in CASES:
        parts = parse(path.read_text("utf-8"))
        with tempfile.TemporaryDirectory() as temporary:
            made = list(made_of(parts, reader_of(parts, Path(temporary))))
        path.write_text(_written(made), "utf-8")
        sys.stdout.write(f"{path.name}\n")
