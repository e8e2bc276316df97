"""Random expressions, constant and of a state, evaluated by TLC and by the compiled model."""

from __future__ import annotations
