"""What one worker remembers of what it has judged: bounded, and never wrong.

Everything here is a cache by content. Forgetting costs a second judgement and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tlatrace.corpus.fingerprint import TransitionKey, digest, digest_of_bytes
from tlatrace.corpus.rows import Rows

__all__ = ["Digests", "Memo"]

_MOST_STATES: Final = 100_000


@dataclass(slots=True)
class Memo:
    """Transitions that were accepted, at most `2 * size`: two generations, the older one goes."""

    size: int = 80_000
    """About 200 bytes each."""
    young: set[TransitionKey] = field(default_factory=set)
    """Those of the younger generation; another object when it has grown old."""
    _old: set[TransitionKey] = field(default_factory=set)

    def __contains__(self, key: TransitionKey) -> bool:
        if key in self.young:
            return True
        if key in self._old:
            self.add(key)
            return True
        return False

    def __len__(self) -> int:
        return len(self.young | self._old)

    def add(self, key: TransitionKey) -> None:
        """Remember a transition."""
        if len(self.young) >= self.size:
            self._old, self.young = self.young, set()
        if self.size:
            self.young.add(key)


@dataclass(slots=True)
class Digests:
    """Digests of the texts that were seen last; saves half of the time where states repeat."""

    characters: int = 16 << 20
    """What all texts together may have."""
    _known: dict[str, bytes] = field(default_factory=dict)
    _used: int = 0
    _of_states: dict[int, bytes] = field(default_factory=dict)
    """By the numbers that a `RowJudge` gives them."""

    def of(self, text: str) -> bytes:
        """Return the digest of a text."""
        found = self._known.get(text)
        if found is None:
            self._used += len(text)
            if self._used > self.characters:
                self._known.clear()
                self._used = len(text)
            found = self._known[text] = digest(text)
        return found

    def of_row(self, rows: Rows, at: int) -> bytes:
        """Return the digest of the state of a row that machine code has read."""
        number = rows.state_number(at)
        assert number >= 0, "machine code has read the state"
        found = self._of_states.get(number)
        if found is None:
            if len(self._of_states) >= _MOST_STATES:
                self._of_states.clear()
            found = self._of_states[number] = digest_of_bytes(rows.raw(at))
        return found
