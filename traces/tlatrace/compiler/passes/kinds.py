"""Kinds of values under inference: what is compared or assigned is of one kind.

A kind collects the strings and the model values that may stand where it stands, and has kinds for
its parts. Two kinds that turn out to be one are joined, with all their parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tlatrace.readings import UNKNOWN, Types
from tlatrace.readings import Kind as NumberedKind
from tlatrace.runtime.values import Atom, Fcn, RuntimeValue

__all__ = ["Kind", "as_types", "joined", "kind_of_value"]


class Kind:
    """One kind; another name for its `whole` once it is joined."""

    __slots__ = ("_elements", "_fields", "_images", "_keys", "_parent", "any_string", "joins",
                 "models", "strings", "unknown")  # fmt: skip

    def __init__(self, *, unknown: bool = False) -> None:
        self._parent: Kind | None = None
        self.strings: set[str] = set()
        self.models: set[str] = set()
        self.any_string = False
        self.joins = False
        """Whether strings of it are put one behind another."""
        self.unknown = unknown
        self._elements: Kind | None = None
        self._keys: Kind | None = None
        self._images: Kind | None = None
        self._fields: dict[str, Kind] = {}

    @property
    def whole(self) -> Kind:
        """The kind that this one was joined into."""
        kind = self
        while kind._parent is not None:
            if kind._parent._parent is not None:
                kind._parent = kind._parent._parent
            kind = kind._parent
        return kind

    @property
    def element(self) -> Kind:
        """The kind of the elements of a set."""
        kind = self.whole
        kind._elements = kind._elements or Kind()
        return kind._elements

    @property
    def key(self) -> Kind:
        """The kind of what is in the domain of a function."""
        kind = self.whole
        kind._keys = kind._keys or Kind()
        return kind._keys

    @property
    def image(self) -> Kind:
        """The kind of all that a function has; its fields are no longer told apart."""
        kind = self.whole
        if kind._images is None:
            kind._images = Kind()
            fields, kind._fields = kind._fields, {}
            for field in fields.values():
                kind.whole.image.join(field)
        return kind.whole._images or Kind()

    def field(self, name: str) -> Kind:
        """Return the kind of a field of a record, or of a tuple ("1")."""
        kind = self.whole
        return kind._images or kind._fields.setdefault(name, Kind())

    def join(self, other: Kind) -> None:
        """Make two kinds one."""
        waiting: list[tuple[Kind, Kind]] = [(self, other)]
        while waiting:
            one, two = waiting.pop()
            kind, gone = one.whole, two.whole
            if kind is gone:
                continue
            gone._parent = kind
            kind.strings |= gone.strings
            kind.models |= gone.models
            kind.any_string |= gone.any_string
            kind.joins |= gone.joins
            kind.unknown |= gone.unknown
            kind._elements = _either(kind._elements, gone._elements, waiting)
            kind._keys = _either(kind._keys, gone._keys, waiting)
            kind._images = _either(kind._images, gone._images, waiting)
            for name, field in gone._fields.items():
                waiting.append((kind._fields.setdefault(name, field), field))
            if kind._images is not None:
                waiting += [(kind._images, field) for field in kind._fields.values()]
                kind._fields = {}

    def parts(self) -> dict[str, Kind]:
        """Return the kinds of the parts that are known: "element", "key", "image", ".name"."""
        kind = self.whole
        named = {"element": kind._elements, "key": kind._keys, "image": kind._images}
        found = {name: part.whole for name, part in named.items() if part is not None}
        return found | {f".{name}": part.whole for name, part in kind._fields.items()}


def _either(one: Kind | None, two: Kind | None, waiting: list[tuple[Kind, Kind]]) -> Kind | None:
    if one is not None and two is not None:
        waiting.append((one, two))
    return one if one is not None else two


def joined(kinds: Iterable[Kind]) -> Kind:
    """Join all of them; of none, a kind that nothing is known of yet."""
    first, *others = [*kinds] or [Kind()]
    for other in others:
        first.join(other)
    return first


def kind_of_value(value: RuntimeValue) -> Kind:
    """Return the kind of a value that is known."""
    kind = Kind()
    match value:
        case str():
            kind.strings.add(value)
        case Atom():
            kind.models.add(value.name)
        case tuple():
            for at, item in enumerate(value, start=1):
                kind.field(str(at)).join(kind_of_value(item))
        case frozenset():
            for item in value:
                kind.element.join(kind_of_value(item))
        case Fcn():
            for key, image in value.items():
                kind.key.join(kind_of_value(key))
                part = kind.field(key) if isinstance(key, str) else kind.image
                part.join(kind_of_value(image))
        case _:
            pass
    return kind


def as_types(
    names: frozenset[str],
    strings: frozenset[str] | None,
    variables: Mapping[str, Sequence[Kind]],
    parameters: Mapping[str, Sequence[Sequence[Kind]]],
) -> Types:
    """Write kinds down, as far as they tell names of model values from strings.

    `strings` are those of `names` that may be strings where a kind is unknown; None: all are.
    """
    places = [*variables.values(), *[place for some in parameters.values() for place in some]]
    numbers: dict[Kind, int] = {}
    order: list[Kind] = [kind.whole for place in places for kind in place]
    for kind in order:  # it grows meanwhile
        if kind in numbers:
            continue
        if kind.unknown:
            numbers[kind] = UNKNOWN
            continue
        numbers[kind] = 1 + len([number for number in numbers.values() if number != UNKNOWN])
        order += kind.parts().values()
    unknown = NumberedKind(tuple(sorted(names)), tuple(sorted(strings or ())), strings is None)
    kinds = [unknown]
    for kind, number in numbers.items():
        if number == UNKNOWN:
            continue
        parts = {name: numbers[part] for name, part in kind.parts().items()}
        made = strings or frozenset() if kind.joins and kind.strings else frozenset()
        kinds.append(
            NumberedKind(
                models=tuple(sorted(kind.models)),
                strings=tuple(sorted(kind.strings & names | made)),
                any_string=kind.any_string,
                element=parts.get("element"),
                key=parts.get("key"),
                image=parts.get("image"),
                fields=tuple([(name[1:], part) for name, part in parts.items() if name[0] == "."]),
            )
        )

    def as_types(place: Sequence[Kind]) -> tuple[int, ...]:
        return tuple([numbers[kind.whole] for kind in place])

    return Types(
        names=tuple(sorted(names)),
        kinds=tuple(kinds),
        variables=tuple([(name, as_types(place)) for name, place in variables.items()]),
        parameters=tuple(
            [
                (name, tuple([as_types(place) for place in some]))
                for name, some in parameters.items()
            ]
        ),
    )
