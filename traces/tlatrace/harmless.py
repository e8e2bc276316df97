r"""Texts of strangers, made harmless for terminals, build servers and reports.

File names, and names and values of traces, may hold anything: escape sequences that paint a
terminal, line breaks after which a build server reads a command (`::error::`), characters that turn
the direction of what follows, bytes that are no text. Whatever prints them asks `harmless`; reports
then escape for their own format.

Source: Unicode Technical Report 36, Unicode Security Considerations; GitHub Actions documentation,
"Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["harmless", "harmless_lines", "is_text", "without_commands"]

_COMMAND: Final = re.compile(r"^(\s*)(::|##\[)", re.MULTILINE)
"""What GitHub reads as a command, at the start of a line."""


def harmless(text: str) -> str:
    r"""Return one line in which every character can be seen: `\n`, `\x1b`, `\u202e` for others.

    A byte of a file name that is no UTF-8, which Python has as half of a surrogate pair, is `\xff`.
    """
    return text if text.isprintable() else "".join([_shown(character) for character in text])


def harmless_lines(text: str) -> str:
    """Return lines, each harmless, none of which begins as a command of a build server does."""
    return without_commands("\n".join([harmless(line) for line in text.split("\n")]))


def without_commands(text: str) -> str:
    """Return lines none of which begins as a command of a build server does."""
    return _COMMAND.sub(r"\1\\\2", text)


def is_text(text: str) -> bool:
    """Tell whether it can be written as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # os.fsdecode
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
