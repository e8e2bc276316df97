"""Read states and parameters from canonical texts, and from no other texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec

from tlatrace.errors import ValueFormatError
from tlatrace.judgement.transition import Transition
from tlatrace.trace.canonical_text import read_canonical, read_canonical_variable
from tlatrace.values import State, Value, canonical

__all__ = ["StateReader"]

_RAW_STATE: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(slots=True)
class StateReader:
    """Reads states from canonical texts; equal texts of a variable become one value."""

    _values: dict[str, Value] = field(default_factory=dict)
    _params: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    _states: dict[str, State] = field(default_factory=dict)

    def state(self, text: str) -> State:
        """Read a state.

        Raises:
            ValueFormatError: not the canonical text of a state.
        """
        known = self._states.get(text)
        if known is None:
            known = self._states[text] = self._read(text)
        return known

    def params(self, text: str) -> tuple[Value, ...]:
        """Read the parameters of an action.

        Raises:
            ValueFormatError: not the canonical text of a tuple.
        """
        known = self._params.get(text)
        if known is None:
            value = read_canonical(text)
            if not isinstance(value, tuple):
                raise ValueFormatError("the parameters are not a tuple")
            known = self._params[text] = value
        return known

    def transition(self, pre: str | None, action: str | None, params: str, post: str) -> Transition:
        """Read a transition.

        Raises:
            ValueFormatError: a text is not canonical, or there are parameters without an action.
        """
        if params != "[]" and (pre is None or action is None):
            raise ValueFormatError("there are parameters without an action that takes them")
        return Transition(
            pre=None if pre is None else self.state(pre),
            action=action,
            params=self.params(params),
            post=self.state(post),
        )

    def _read(self, text: str) -> State:
        try:
            raw = _RAW_STATE.decode(text)
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
            raise ValueFormatError(f"a state cannot be read ({error})") from None
        parts = {name: bytes(part).decode() for name, part in raw.items()}
        fields = [f"{canonical(name)}:{part}" for name, part in parts.items()]
        if f"{{{','.join(fields)}}}" != text or list(parts) != sorted(parts):
            raise ValueFormatError("a state is not written canonically")
        return {name: self._value(part) for name, part in parts.items()}

    def _value(self, text: str) -> Value:
        known = self._values.get(text)
        if known is None:
            known = self._values[text] = read_canonical_variable(text)
        return known
