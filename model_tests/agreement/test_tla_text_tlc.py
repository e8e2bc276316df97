"""Values come back from TLC as they went in: `to_tla`, TLC's parser and printer, `parse_tla`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from model_tests.agreement.evaluating import evaluate
from model_tests.value_strategies import uniform_tlc_values
from tlatrace.tla_text import to_tla
from tlatrace.values import ModelValue, Value, canonical, fcn, record, tla_set

pytestmark = pytest.mark.java

COUNT: Final = 300
NAMES: Final = ("b1", "b2", "None_", "n")

EDGES: Final[tuple[Value, ...]] = (
    (),
    tla_set([]),
    "",
    'a "quoted" \\ string\twith\nescapes\r\f',
    2**31 - 1,
    -(2**31),
    tla_set([tla_set([]), tla_set([1])]),
    record({"IF": 1, "x_1": (2,)}),
    record({"two words": 1, "a": True}),
    fcn([(0, "zero"), (1, "one")]),
    fcn([(ModelValue("b1"), ()), (ModelValue("b2"), tla_set([ModelValue("n")]))]),
    fcn([((1, 2), False), ((), True)]),
    ((1, (2, (3, (4, ())))), record({"a": record({"b": fcn([(-1, -1)])})})),
)


def test_values_come_back_from_tlc(tmp_path: Path) -> None:
    values = [*EDGES, *generated_values()]
    texts = [to_tla(value) for value in values]

    found = evaluate(
        texts,
        folder=tmp_path,
        definitions=f"CONSTANTS {', '.join(NAMES)}",
        config="CONSTANTS\n" + "".join(f"  {name} = {name}\n" for name in NAMES),
    )

    assert len(values) >= COUNT
    for value, text, back in zip(values, texts, found, strict=True):
        assert canonical(value) == canonical(back), text


def generated_values() -> list[Value]:
    """Draw different values, the same ones in every run."""
    drawn: dict[str, Value] = {}

    @settings(
        max_examples=4 * COUNT,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(uniform_tlc_values())
    def draw(value: Value) -> None:
        if len(drawn) < COUNT:
            drawn[canonical(value)] = value

    draw()
    return list(drawn.values())
