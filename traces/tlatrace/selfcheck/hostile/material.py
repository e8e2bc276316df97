"""Draw values of every kind, and the model that takes any of them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

from tlatrace.oracle import Model, load_model
from tlatrace.values import ExactString, ModelValue, State, Value, fcn, record, tla_set

__all__ = ["draw_state", "draw_value", "load_anything"]

_MODULE: Final = Path(__file__).with_name("Anything.tla")
_STRINGS: Final = (
    *("a", "b", "c", "n1", "n2", "", "#set", "#map", "a b", '":', '","b":', "}", "\\", '"', "a!"),
    *("\n", "\x1f", "\x7f", "é", "\u2028", "\uffff", "\U0001f600", ',"left":', "#", "/"),
)
_NAMES: Final = ("a", "b", "c", "n1", "n2", "left", "!", "#set", "#map", "#model", "é", "x#y")
_NAMED: Final = (
    *(ModelValue("n1"), ModelValue("n2"), ModelValue("n3"), ModelValue("other")),
    *(ExactString("n1"), ExactString("n3"), ExactString("a"), "n3"),
)
_NUMBERS: Final = (0, 1, 2, 3, 10, 11, 20, -1, -10, 2**53 - 1, 2**53, -(2**53), 2**64, 10**40)


def load_anything(*, native: bool = False, kept: bool = True) -> Model:
    """Compile the module in which two variables hold any value; with `native` for machine code."""
    return load_model(_MODULE, _MODULE.with_suffix(".cfg"), native=native, kept=kept)


def draw_state(draw: Random, count: int) -> State:
    """Draw a state of the module."""
    mark = draw.choice(["", "n3", "a", ExactString("n3"), draw_value(draw, 1)])
    left, right = draw_value(draw), draw_value(draw)
    return {"count": count, "left": left, "mark": "" if count == 0 else mark, "right": right}


def draw_value(draw: Random, depth: int = 3) -> Value:
    """Draw a value that is nested so deeply at most; equal parts are frequent."""
    kind = draw.randrange(12 if depth else 5)
    inside = depth - 1
    match kind:
        case 0:
            return draw.random() < 0.5
        case 1 | 2:
            return draw.choice(_NUMBERS) if draw.random() < 0.5 else draw.randrange(30)
        case 3:
            return draw.choice(_STRINGS)
        case 4:
            return draw.choice(_NAMED)
        case 5 | 6:
            return tuple([draw_value(draw, inside) for _ in range(draw.randrange(4))])
        case 7 | 8:
            if draw.random() < 0.1:  # known by their elements' texts
                return tla_set([record({"a": n, "b": "text"}) for n in draw.sample(range(99), 20)])
            return tla_set([draw_value(draw, inside) for _ in range(draw.randrange(4))])
        case 9 | 10:
            names = draw.sample(_NAMES, draw.randrange(4))
            return record({name: draw_value(draw, inside) for name in names})
        case _:
            keys = tla_set([draw_value(draw, min(inside, 1)) for _ in range(draw.randrange(4))])
            return fcn([(key, draw_value(draw, inside)) for key in keys])
