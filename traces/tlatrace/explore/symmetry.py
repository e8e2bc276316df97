"""States that are the same but for a permutation of model values, as SYMMETRY declares.

TLC closes the declared permutations under composition, and keeps of all images of a state the one
that it met first. A state has an image for each permutation but the identity.

Source: tlc2.util.MVPerms (permutationSubgroup) of TLC 2.15.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import Atom, Fcn, LazyValue, RuntimeValue, function

__all__ = ["Images", "images_of"]

_MAX_PERMUTATIONS: Final = 5_040
_MAX_KNOWN: Final = 200_000


class Images:
    """The images of states under permutations."""

    def __init__(self, permutations: Iterable[Mapping[RuntimeValue, RuntimeValue]]) -> None:
        self._known: list[
            tuple[Mapping[RuntimeValue, RuntimeValue], dict[RuntimeValue, RuntimeValue]]
        ] = [(p, {}) for p in permutations]

    @property
    def permutations(self) -> list[Mapping[RuntimeValue, RuntimeValue]]:
        """The permutations, each without the values that stay where they are."""
        return [permutation for permutation, _ in self._known]

    def __len__(self) -> int:
        return len(self._known)

    def __call__(self, state: ModelState) -> Iterator[ModelState]:
        """Yield the images of a state that differ from it."""
        for permutation, known in self._known:
            if len(known) > _MAX_KNOWN:
                known.clear()
            image = tuple([_image(value, permutation, known) for value in state])
            if image != state:
                yield image


def images_of(declared: RuntimeValue, name: str) -> Images:
    """Read the value of the operator that SYMMETRY names: a set of permutations.

    Raises:
        EvaluationError: it is no set of permutations of model values, or they are too many.
    """
    if not isinstance(declared, frozenset):
        raise EvaluationError(f"SYMMETRY {name} is no set")
    generators = [_permutation(item, name) for item in declared]
    identity: frozenset[tuple[RuntimeValue, RuntimeValue]] = frozenset()
    group = {identity}
    waiting = [identity]
    while waiting:
        known = dict(waiting.pop())
        for generator in generators:
            composed = _composed(known, generator)
            if composed not in group:
                if len(group) >= _MAX_PERMUTATIONS:
                    reason = f"SYMMETRY {name} has more than {_MAX_PERMUTATIONS} permutations"
                    raise EvaluationError(reason)
                group.add(composed)
                waiting.append(composed)
    return Images([dict(pairs) for pairs in group if pairs])


def _permutation(item: RuntimeValue, name: str) -> dict[RuntimeValue, RuntimeValue]:
    """Read a permutation, without the values that stay where they are."""
    if isinstance(item, Fcn) and set(item) == set(item.values()):
        if all(isinstance(key, Atom) for key in item):
            return {key: image for key, image in item.items() if key is not image}
    elif item == ():
        return {}
    raise EvaluationError(f"SYMMETRY {name} has an element that permutes no model values")


def _composed(
    first: Mapping[RuntimeValue, RuntimeValue], then: Mapping[RuntimeValue, RuntimeValue]
) -> frozenset[tuple[RuntimeValue, RuntimeValue]]:
    pairs = [(key, then.get(first.get(key, key), first.get(key, key))) for key in {*first, *then}]
    return frozenset([(key, image) for key, image in pairs if key is not image])


def _image(
    value: RuntimeValue,
    permutation: Mapping[RuntimeValue, RuntimeValue],
    known: dict[RuntimeValue, RuntimeValue],
) -> RuntimeValue:
    match value:
        case Atom():
            return permutation.get(value, value)
        case tuple() | frozenset() | Fcn():
            image = known.get(value)
            if image is None:
                image = known[value] = _composite(value, permutation, known)
            return image
        case LazyValue():
            return _image(value.whole(), permutation, known)
        case _:
            return value


def _composite(
    value: tuple[RuntimeValue, ...] | frozenset[RuntimeValue] | Fcn,
    permutation: Mapping[RuntimeValue, RuntimeValue],
    known: dict[RuntimeValue, RuntimeValue],
) -> RuntimeValue:
    match value:
        case tuple():
            return tuple([_image(item, permutation, known) for item in value])
        case frozenset():
            return frozenset([_image(item, permutation, known) for item in value])
        case Fcn():
            pairs = value.items()
            return function(
                {
                    _image(key, permutation, known): _image(image, permutation, known)
                    for key, image in pairs
                }
            )
