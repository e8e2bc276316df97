"""The judge of corpora reads canonical texts as the plain reading does, and no other texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tlatrace.errors import TlatraceError
from tlatrace.judgement.transition import Allowed, Failed
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.checker import Checker
from tlatrace.trace.canonical_text import read_canonical_state

pytestmark = pytest.mark.java

MODULE = """---- MODULE Any ----
EXTENDS Integers
CONSTANTS n1, n2
VARIABLES v, w
Init == w = 0 /\\ v = v
Put(x) == w' = x /\\ v' = v
Next == \\E x \\in 0..3 : Put(x)
====
"""
DEEP = "[" * 60 + "]" * 60
LONG = ",".join([f'"element number {number}"' for number in range(10, 40)])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder: Path = tmp_path_factory.mktemp("any")
    (folder / "Any.tla").write_text(MODULE)
    (folder / "Any.cfg").write_text("INIT Init\nNEXT Next\nCONSTANTS n1 = n1 n2 = n2\n")
    return load_model(folder / "Any.tla", folder / "Any.cfg")


def read(model: Model, value: str, before: Sequence[str]) -> object:
    """Read a value of `v` after others; what the plain reading refuses must be refused."""
    checker = Checker(model)
    found: object = None
    for other in (*before, value):
        text = f'{{"v":{other},"w":0}}'
        try:
            found = checker.state(text)
        except TlatraceError as error:
            found = type(error)
        try:
            expected: object = model.adopt(read_canonical_state(text))
        except TlatraceError:
            assert isinstance(found, type), f"{text} is read as {found}"
        else:
            assert found == expected, text
    return found


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ('{"#map":[["#set",[]]]}', '{"#set":[1]}'),
        ('{"#map":[["#map",[]]]}', '{"#map":[[[],1]]}'),
        ('{"#map":[["#tup",[]]]}', '{"#tup":[1]}'),
        ('{"#map":[["#model","n1"]]}', '{"#model":"n1"}'),
        ('{"#map":[["#bigint","x"]]}', '{"#bigint":"9007199254740992"}'),
        ('{"#map":[["#model","n1"]]}', '{"#model":"other"}'),
        ('{"#map":[[{"#model":"zz"},0]]}', '{"zz":1}'),
        ('{"#map":[[{"#model":"n1"},0]]}', '{"n1":1}'),
        ('{"n1":0,"n2":0}', '{"n1":1,"n2":1}'),
        ('{"!":0,"a":0}', '{"!":1,"a":1}'),
        ('{"#map":[["!",0],["#a",0]]}', '{"!":0,"#a":0}'),
        ('{"#map":[["#a",0],["#b",0]]}', '{"#a":0,"#b":0}'),
    ],
)
def test_what_a_variable_was_does_not_say_what_it_is(model: Model, before: str, text: str) -> None:
    assert read(model, text, [before]) == read(model, text, [])


NOT_CANONICAL = [
    '{"a" :999,"a":1,"b":0}',
    '{"a":999,"a":1,"b":0}',
    '{"b":0,"a":1}',
    '{"a": 1,"b":0}',
    '{"\\u0061":1,"b":0}',
    '{"a":1,"b":"\\u0062"}',
    '{"a":1,"b":"\\/"}',
    '{"a":1,"b":"\\u001F"}',
    '{"a":1,"b":"\\u000a"}',
    '{"a":1,"b":"\\ud83d\\ude00"}',
    '{"a":1,"b":"\ud800"}',
    '{"a":1,"b":"\n"}',
    '{"a":1,"b":-0}',
    '{"a":1,"b":01}',
    '{"a":1,"b":1.0}',
    '{"a":1,"b":1.5}',
    '{"a":1,"b":1E2}',
    '{"a":1,"b":NaN}',
    '{"a":1,"b":null}',
    '{"a":1,"b":{}}',
    '{"a":1,"b":{"#set":"xy"}}',
    '{"a":1,"b":{"#set":{"x":1}}}',
    '{"a":1,"b":{"#set":[2,1]}}',
    '{"a":1,"b":{"#set":[1,1]}}',
    '{"a":1,"b":{"#set":[1,2,10]}}',
    '{"a":1,"b":{"#set":["x","x!"]}}',
    '{"a":1,"b":{"#set":[1],"#tup":[1]}}',
    '{"a":1,"b":{"#set":[1],"x":1}}',
    '{"a":1,"b":{"#tup":[1]}}',
    '{"a":1,"b":{"#map":[]}}',
    '{"a":1,"b":{"#map":[[1,"x"],[2,"y"]]}}',
    '{"a":1,"b":{"#map":[["x",1]]}}',
    '{"a":1,"b":{"#map":[[3,"x"],[1,"y"]]}}',
    '{"a":1,"b":{"#map":[[3,"x"],[3,"y"]]}}',
    '{"a":1,"b":{"#map":[[3,"x","y"]]}}',
    '{"a":1,"b":{"#map":["xy"]}}',
    '{"a":1,"b":{"#map":[[{"#model":"n1"},0],["n1",1],[3,0]]}}',
    '{"a":1,"b":{"#bigint":"5"}}',
    '{"a":1,"b":{"#bigint":"09007199254740992"}}',
    '{"a":1,"b":9007199254740992}',
    '{"a":1,"b":-9007199254740992}',
    '{"a":1,"b":' + "9" * 5000 + "}",
    '{"a":1,"b":{"#bigint":"' + "9" * 1001 + '"}}',
    '{"a":1,"b":{"#model":"n 1"}}',
    '{"a":1,"b":{"#other":1}}',
    '{"\U0001f600":1,"\uffff":2}',
    f'{{"#set":[{LONG},"element number 1"]}}',
    f'{{"#set":[{LONG},"element number 39"]}}',
    f'{{"#set":[{LONG}, "x"]}}',
    f'{{"#set":[{LONG},["x" ]]}}',
    f'{{"a":1,"b":[[[[{DEEP}]]]]}}',
    f'{{"#set":[{LONG},[[[[{DEEP}]]]]]}}',
    "[" * 100_000,
    "[" * 65 + "]" * 65,
    '{"a":' * 65 + "0" + "}" * 65,
    '{"a":1,"b":2},"w":0,"v":{"a":1,"b":2}',
    '{"a":1,"b":2},"u":0',
]


@pytest.mark.parametrize("text", NOT_CANONICAL, ids=lambda text: str(text)[:40])
@pytest.mark.parametrize("before", [[], ['{"a":0,"b":0}', '{"a":1,"b":0}', f'{{"#set":[{LONG}]}}']])
def test_a_text_that_is_not_canonical_is_refused(
    model: Model, text: str, before: list[str]
) -> None:
    assert isinstance(read(model, text, before), type)


CANONICAL = [
    "[]",
    '"\x7f\u2028\U0001f600\\n\\u001f"',
    '{"\uffff":2,"\U0001f600":1}',
    '{"#set":["a!","a"]}',
    '{"#set":[1,10,2,{"#bigint":"9007199254740992"}]}',
    '{"#set":["n1",{"#model":"n1"}]}',
    '{"#map":[[0,1],[1,2]]}',
    '{"#map":[["!",0],["#a",0]]}',
    '{"#map":[["n1",0],[3,1]]}',
    '{"#map":[[1,0],[2,0],[true,1]]}',
    '{"#map":[[{"#model":"n1"},0],[{"#model":"n2"},{"#set":[]}]]}',
    '{"n1":"n2","n2":{"n1":0,"x":"n1"}}',
    '{"a#":1,"b":"#set"}',
    '{"":1}',
    f'{{"#set":[{LONG},[{DEEP}]]}}',
    '{"#set":[' * 63 + "]}" * 63,
    '{"#map":[[0,' * 64 + "1" + "]]}" * 64,
    "[" * 64 + "]" * 64,
    "9007199254740991",
]


@pytest.mark.parametrize("text", CANONICAL, ids=lambda text: str(text)[:40])
@pytest.mark.parametrize("before", [[], ['{"a":0,"b":0}', '{"n1":0,"n2":0}']])
def test_a_canonical_text_is_read(model: Model, text: str, before: list[str]) -> None:
    assert not isinstance(read(model, text, before), type)


@pytest.mark.parametrize("params", ["[1]", "[1] ", "[ ]", "", "{}", "no JSON", '{"#tup":[]}'])
def test_an_initial_state_has_no_parameters(model: Model, params: str) -> None:
    checker = Checker(model)
    state = checker.state('{"v":1,"w":0}')

    assert checker.step(None, "Init", "[]", state) == Allowed()
    assert isinstance(checker.step(None, "Init", params, state), Failed)
    assert isinstance(checker.step(state, None, params, state), Failed)


@pytest.mark.parametrize(
    "params", ["[1 ]", "[01]", "[-0]", "[1.0]", "[1,]", '{"#tup":[1]}', '{"#map":[[1,1]]}', "[1e0]"]
)
def test_parameters_are_read_from_canonical_texts_only(model: Model, params: str) -> None:
    checker: Checker = Checker(model)
    before, after = checker.state('{"v":1,"w":0}'), checker.state('{"v":1,"w":1}')

    assert checker.step(before, "Put", "[1]", after) == Allowed()
    assert isinstance(checker.step(before, "Put", params, after), Failed)
