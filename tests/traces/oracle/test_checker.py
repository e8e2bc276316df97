"""States that say nearly the same again and again are read as if each were the first."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tlatrace.errors import TlatraceError
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.checker import Checker
from tlatrace.values import Value, canonical_state, record, tla_set

pytestmark = pytest.mark.java

MODULE = """---- MODULE Post ----
VARIABLES sent, boxes
Init == sent = {} /\\ boxes = [in |-> {}, out |-> {}]
Next == UNCHANGED <<sent, boxes>>
====
"""
LARGE = ",".join([f'{{"n":{number},"who":"somebody"}}' for number in range(10, 40)])
BOXES = '"boxes":{"in":{"#set":[]},"out":{"#set":[]}}'


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder: Path = tmp_path_factory.mktemp("post")
    (folder / "Post.tla").write_text(MODULE)
    (folder / "Post.cfg").write_text("INIT Init\nNEXT Next\n")
    return load_model(folder / "Post.tla", folder / "Post.cfg")


def checker_of(model: Model) -> Checker:
    return Checker(model)


def letter(draw: Random) -> Value:
    queues = tla_set([f"q{number}" for number in range(draw.randrange(3))])
    text = draw.choice(["plain", 'a quote " and a colon ":', "ä", "}"])
    return record({"n": draw.randrange(200), "qs": queues, "text": text})


def test_sets_that_grow_and_shrink_are_read_like_those_of_a_first_state(model: Model) -> None:
    draw, checker = Random(7), checker_of(model)
    sets: list[list[Value]] = [[], [], []]
    largest = 0
    for _ in range(400):
        elements = draw.choice(sets)
        if elements and draw.randrange(3) == 0:
            elements.pop(draw.randrange(len(elements)))
        else:
            elements += [letter(draw) for _ in range(draw.randrange(1, 4))]
        boxes = record({"in": tla_set(sets[1]), "out": tla_set(sets[2])})
        text = canonical_state({"sent": tla_set(sets[0]), "boxes": boxes})
        largest = max(largest, len(text))
        assert checker.state(text) == checker_of(model).state(text)
        assert model.show(checker.state(text)) == {"sent": tla_set(sets[0]), "boxes": boxes}
    assert largest > 5_000


def test_an_element_of_a_large_set_that_stays_is_the_same_object(model: Model) -> None:
    checker = checker_of(model)
    first, second = (
        checker.state(f'{{{BOXES},"sent":{{"#set":[{LARGE}{more}]}}}}')[1]
        for more in ("", ',{"n":40,"who":"somebody"}')
    )
    assert isinstance(first, frozenset)
    assert isinstance(second, frozenset)
    assert len(second) == len(first) + 1
    assert {id(element) for element in first} < {id(element) for element in second}


@pytest.mark.parametrize(
    "sent",
    [
        f'{{"#set":[{LARGE}],"#set":[{LARGE}]}}',
        f'{{"#set":[{LARGE}],"more":[]}}',
        f'{{"#set":[{LARGE},{{"n":1,"n":1}}]}}',
        f'{{"#set":[{LARGE},5]}}',
        f'{{"#set":[{LARGE},]}}',
        f'{{"#set":[{LARGE}',
    ],
)
def test_what_is_not_the_canonical_text_of_a_large_set_is_refused(model: Model, sent: str) -> None:
    with pytest.raises(TlatraceError):
        checker_of(model).state(f'{{{BOXES},"sent":{sent}}}')
