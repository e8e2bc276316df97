"""An action with its parameters, as a test takes it and prints it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from tlatrace.judgement.difference import call_text
from tlatrace.values import Fcn, ModelValue, TlaSet, Value, canonical, fcn, tla_set

__all__ = ["Call", "Step", "call_of", "plain"]


class _Printer(Protocol):
    def text(self, text: str, /) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Call:
    """One action with its parameters; two are equal if they are the same in TLA+."""

    action: str
    params: tuple[Value, ...] = field(compare=False)
    """Model values are strings here."""
    text: str
    """The canonical text of the parameters."""

    def __repr__(self) -> str:
        return call_text(self.action, self.params)

    def _repr_pretty_(self, printer: _Printer, _cycle: bool) -> None:
        """Write what hypothesis prints of a call that it has drawn."""
        printer.text(repr(self))

    @property
    def simplicity(self) -> tuple[str, int, str]:
        """Return a key that puts simple parameters before others: shrinking goes there."""
        return self.action, len(self.text), self.text


Step: TypeAlias = Call | str
"""What a run does: an action, or the name of a call that must change nothing."""


def call_of(action: str, params: tuple[Value, ...]) -> Call:
    """Make a call of values that may have model values in them."""
    shown = tuple([plain(param) for param in params])
    return Call(action=action, params=shown, text=canonical(shown))


def plain(value: Value) -> Value:
    """Make strings of model values, as recorders write them."""
    match value:
        case ModelValue(name=name):
            return name
        case tuple():
            return tuple([plain(element) for element in value])
        case TlaSet():
            return tla_set([plain(element) for element in value])
        case Fcn():
            return fcn([(plain(key), plain(image)) for key, image in value.pairs])
        case _:
            return value
