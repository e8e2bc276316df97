"""Make a case small: fewer texts, and a shorter last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

__all__ = ["shrink"]

T = TypeVar("T")

_TRIES: Final = 3_000


def shrink(
    items: Sequence[T],
    still: Callable[[Sequence[T]], bool],
    text_of: Callable[[T], str],
    with_text: Callable[[T, str], T],
) -> list[T]:
    """Drop items before the last one, and characters of each, while the case is `still` one."""
    best = list(items)
    tries = 0

    def better(candidate: list[T]) -> bool:
        nonlocal best, tries
        tries += 1
        if tries > _TRIES or not still(candidate):
            return False
        best = candidate
        return True

    width = len(best) - 1
    while width > 0:
        at = 0
        while at < len(best) - 1:
            rest = [*best[:at], *best[min(at + width, len(best) - 1) :]]
            if not better(rest):
                at += width
        width //= 2
    for place in range(len(best)):
        width = len(text_of(best[place])) // 2
        while width > 0:
            at = 0
            while at < len(text_of(best[place])):
                text = text_of(best[place])
                shorter = with_text(best[place], text[:at] + text[at + width :])
                if not better([*best[:place], shorter, *best[place + 1 :]]):
                    at += width
            width //= 2
    return best
