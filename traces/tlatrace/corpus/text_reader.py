"""Read states and parameters from canonical texts, and from no other texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from tlatrace.errors import TlatraceError, ValueFormatError
from tlatrace.trace.lines import DEFAULT_LIMITS
from tlatrace.trace.strict_json import parse_json
from tlatrace.validate.transition import Transition
from tlatrace.values import State, Value, canonical, from_json

__all__ = ["StateReader"]

_RAW_STATE: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NO_FILE: Final = Path("state")


@dataclass(slots=True)
class StateReader:
    """Reads states from canonical texts; equal texts of a variable become one value."""

    _values: dict[bytes, Value] = field(default_factory=dict)
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
        value = self._value(text.encode("utf-8", "surrogatepass"))
        if not isinstance(value, tuple):
            raise ValueFormatError("the parameters are not a tuple")
        return value

    def transition(self, pre: str | None, action: str | None, params: str, post: str) -> Transition:
        """Read a transition.

        Raises:
            ValueFormatError: a text is not canonical.
        """
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
        state = {name: self._value(bytes(part)) for name, part in raw.items()}
        # Each value is canonical; that no variable is there twice is shown by the length.
        names = [canonical(name) for name in raw]
        size = sum(len(part) for part in raw.values()) + 2 * len(raw) + 1
        size += sum(len(name.encode()) for name in names)
        if size + (not raw) != len(text.encode()) or list(raw) != sorted(raw):
            raise ValueFormatError("a state is not written canonically")
        return state

    def _value(self, text: bytes) -> Value:
        known = self._values.get(text)
        if known is None:
            try:
                known = from_json(parse_json(text, path=_NO_FILE, line=1, limits=DEFAULT_LIMITS))
            except TlatraceError as error:
                raise ValueFormatError(f"a value cannot be read ({error})") from None
            if canonical(known).encode() != text:
                raise ValueFormatError("a value is not written canonically")
            self._values[text] = known
        return known
