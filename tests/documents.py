"""The commands that documents print, and what a document says that becomes of them.

A command is a line of a fenced block that names no other language, or a code span in a line of a
table or in a paragraph. A span that begins with `--` is the command before it in the same line of
the table, or in the same paragraph, with these options, too. `(exit code 1` behind a span, and
`# exit 1` behind a line of a block, say how the command ends; without it it ends with 0.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.source_files import ROOT, text_files

_SHELL: Final = frozenset({"", "sh", "console"})
_COMMAND: Final = re.compile(r"(?:\.venv/bin/)?(?:rocketproof|make|python -m) \S")
_SPAN: Final = re.compile(r"`([^`\n]+)`(?: \(exit code (\d))?")
_ENDING: Final = re.compile(r"\bexit (?:code )?(\d)")


@dataclass(frozen=True, slots=True)
class Command:
    """A command as a document prints it."""

    document: str
    line: int
    text: str
    exit_code: int = 0
    options: str = ""
    """Of a span that begins with `--`: what is added to `text`."""

    @property
    def shown(self) -> str:
        """The command as somebody would type it."""
        return f"{self.text} {self.options}".rstrip()

    @property
    def words(self) -> list[str]:
        """The words behind `rocketproof`, `make` or `python -m`."""
        words = shlex.split(self.shown)
        return words[2:] if self.program == "python" else words[1:]

    @property
    def program(self) -> str:
        """`rocketproof`, `make` or `python`."""
        return shlex.split(self.text)[0].rpartition("/")[2]

    def __str__(self) -> str:
        return f"{self.document}:{self.line}: {self.shown}"


def documents() -> Iterator[str]:
    """Name all documents, by their paths in the project."""
    for path in text_files():
        if path.suffix == ".md":
            yield path.relative_to(ROOT).as_posix()


def commands(document: str) -> list[Command]:
    """Read the commands of a document, in their order."""
    return list(_commands(document, (ROOT / document).read_text("utf-8")))


def loose_options(document: str) -> set[str]:
    """Give the options that spans of a document begin with."""
    text = (ROOT / document).read_text("utf-8")
    return {span.split()[0] for span, _ in _SPAN.findall(text) if re.match(r"--[a-z]", span)}


def fenced(document: str, after: str) -> str:
    """Give the text of the first fenced block behind a line that begins with `after`."""
    lines = (ROOT / document).read_text("utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(after))
    first = next(at for at in range(start, len(lines)) if lines[at].startswith("```")) + 1
    last = next(at for at in range(first, len(lines)) if lines[at].startswith("```"))
    return "\n".join(lines[first:last]) + "\n"


def _commands(document: str, text: str) -> Iterator[Command]:
    language: str | None = None
    begun = ""
    last: Command | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            language = line[3:].strip() if language is None else None
        elif language is None:
            if not line.strip() or line.startswith("|"):
                last = None
            for span, code in _SPAN.findall(line):
                if _COMMAND.match(span):
                    last = Command(document, number, span, int(code or 0))
                    yield last
                elif last is not None and re.match(r"--[a-z]", span):
                    yield Command(document, number, last.text, int(code or 0), span)
        elif language in _SHELL:
            begun += line.removesuffix("\\")
            if not line.endswith("\\"):
                yield from _line(document, number, begun)
                begun = ""


def _line(document: str, number: int, line: str) -> Iterator[Command]:
    typed, _, comment = line.partition(" #")
    ending = _ENDING.search(comment)
    for part in re.split(r" ; | \|\| ", typed):
        if _COMMAND.match(part.strip()):
            text = " ".join(part.split())
            yield Command(document, number, text, int(ending[1]) if ending else 0)
