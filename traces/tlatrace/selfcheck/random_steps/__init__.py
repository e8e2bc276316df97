"""Random specifications, judged by both engines and by TLC's own lists of successors."""

from __future__ import annotations
