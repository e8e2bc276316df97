"""Strings with the names of model values: the types decide, or the trace; else it is undecided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from tlatrace.judgement.specification import SpecUnderTest, load_spec
from tlatrace.judgement.transition import Allowed, Refused
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.matching import match_traces, read_log, read_mapping
from tlatrace.matching.view import View, view_trace
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.checker import Checker
from tlatrace.tla.config import read_config
from tlatrace.tlc.traces import validate_traces
from tlatrace.trace import Event, Header, Part, Trace
from tlatrace.trace.itf import read_itf, write_itf
from tlatrace.values import (
    ExactString,
    ModelValue,
    Value,
    canonical,
    canonical_state,
    fcn,
    from_json,
    state_from_json,
    tla_set,
)

pytestmark = pytest.mark.java

ROLES = r"""---- MODULE Roles ----
EXTENDS Naturals, Sequences
CONSTANTS Node, Leader
VARIABLES role, shown, count, log
Init == /\ role = [n \in Node |-> "follower"]
        /\ shown = "none"
        /\ count = [a |-> 0, b |-> 0]
        /\ log = <<>>
Show(text) == shown' = text /\ UNCHANGED <<role, count, log>>
Lead(n) == /\ role' = [role EXCEPT ![n] = Leader]
           /\ count' = [count EXCEPT !.a = @ + 1]
           /\ log' = Append(log, [who |-> n, what |-> "b"])
           /\ UNCHANGED shown
Next == (\E text \in {"Leader", "a"} : Show(text)) \/ (\E n \in Node : Lead(n))
====
"""
ROLES_CONFIG = "INIT Init\nNEXT Next\nCONSTANT Node = {a, b}\nCONSTANT Leader = Leader\n"

MADE = r"""---- MODULE Made ----
EXTENDS Naturals, Sequences
CONSTANTS Node
VARIABLES name, node
Init == name = "b" /\ node \in Node
Number == name' = name \o "1" /\ UNCHANGED node
Next == Number
====
"""

MIXED = r"""---- MODULE Mixed ----
EXTENDS Naturals
CONSTANTS Node
VARIABLES word, node
RECURSIVE Same(_, _)
Same(value, n) == IF n = 0 THEN value ELSE Same(value, n - 1)
Init == word = "none" /\ node \in Node
Say(n) == word' = Same("a", 1) /\ node' = Same(node, 1)
Next == \E n \in Node : Say(n)
TypeOK == word \in {"none", "a"} /\ node \in Node
====
"""
MAPPING = """format = "rocketproof-mapping"
version = 1
spec = "Mixed"
init = "first line"

[[observe]]
variable = "word"
field = "word"
NAMES

[[observe]]
variable = "node"
field = "node"
names = {b = {"#model" = "b"}}
"""
MIXED_CONFIG = "INIT Init\nNEXT Next\nCONSTANT Node = {a, b}\n"

START = {"role": {"a": "follower", "b": "follower"}, "shown": "none", "count": {"a": 0, "b": 0}}
SHOWN: dict[str, object] = {**START, "shown": "Leader", "log": []}
LED: dict[str, object] = {
    **SHOWN,
    "role": {"a": "follower", "b": "Leader"},
    "count": {"a": 1, "b": 0},
    "log": [{"who": "b", "what": "b"}],
}


Step: TypeAlias = tuple[str, Sequence[object], object]


@dataclass(frozen=True)
class Subject:
    """One specification for both judges."""

    model: Model
    spec: SpecUnderTest

    def judge(self, *steps: Step) -> list[Verdict]:
        events = tuple(
            Event(
                step=at,
                action=action,
                params=tuple([from_json(param) for param in params]),
                state=state_from_json(state),
            )
            for at, (action, params, state) in enumerate(steps)
        )
        trace = Trace(header=Header(spec=self.model.module), events=events)
        return [*match_traces(self.model, [trace]), *validate_traces(self.spec, [trace])]


def subject(folder: Path, name: str, text: str, config: str) -> Subject:
    module, given = folder / f"{name}.tla", folder / f"{name}.cfg"
    module.write_text(text)
    given.write_text(config)
    return Subject(load_model(module, given), load_spec(module, config=read_config(given)))


@pytest.fixture(scope="module")
def roles(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return subject(tmp_path_factory.mktemp("roles"), "Roles", ROLES, ROLES_CONFIG)


def test_the_types_tell_strings_from_model_values(roles: Subject) -> None:
    verdicts = roles.judge(
        ("Init", [], {**START, "log": []}), ("Show", ["Leader"], SHOWN), ("Lead", ["b"], LED)
    )

    assert verdicts == [Conforms(3), Conforms(3)]
    assert roles.model.reading.clashing == {"shown", "count", "log"}
    assert roles.model.reading.has_clashing_parameters("Show")
    assert not roles.model.reading.has_clashing_parameters("Lead")


@pytest.mark.parametrize(
    "wrong",
    [
        {"shown": {"#model": "Leader"}},
        {"role": {"a": "follower", "b": {"#str": "Leader"}}},
        {"count": {"#map": [[{"#model": "a"}, 1], [{"#model": "b"}, 0]]}},
        {"role": {"#map": [[{"#str": "a"}, "follower"], [{"#str": "b"}, "Leader"]]}},
        {"log": [{"who": "b", "what": {"#model": "b"}}]},
    ],
)
def test_a_trace_that_says_which_is_believed(roles: Subject, wrong: dict[str, object]) -> None:
    verdicts = roles.judge(
        ("Init", [], {**START, "log": []}),
        ("Show", ["Leader"], SHOWN),
        ("Lead", ["b"], {**LED, **wrong}),
    )

    assert [type(verdict) for verdict in verdicts[:1]] == [Diverges]
    assert not any(isinstance(verdict, Conforms) for verdict in verdicts)


def test_a_string_may_be_made_of_others(tmp_path: Path) -> None:
    """The string "b1" stands nowhere in the text, and Init and Next say that it is one."""
    config = "INIT Init NEXT Next CONSTANT Node = {b1, b2}"
    made = subject(tmp_path, "Made", MADE, config)

    first = {"name": "b", "node": "b1"}

    after = {"name": "b1", "node": "b1"}
    verdicts = made.judge(("Init", [], first), ("Number", [], after))

    assert verdicts == [Conforms(2), Conforms(2)]
    assert made.model.reading.clashing == {"name"}


def test_a_trace_may_say_it_everywhere(roles: Subject) -> None:
    exact = {
        "role": {"#map": [[{"#model": "a"}, {"#str": "follower"}], [{"#model": "b"}, "follower"]]},
        "shown": {"#str": "none"},
        "count": {"#map": [[{"#str": "a"}, 0], [{"#str": "b"}, 0]]},
        "log": [],
    }
    after = {**exact, "shown": {"#str": "Leader"}}

    verdicts = roles.judge(("Init", [], exact), ("Show", [{"#str": "Leader"}], after))

    assert verdicts == [Conforms(2), Conforms(2)]


def test_a_corpus_reads_as_a_trace_does(roles: Subject) -> None:
    checker = Checker(roles.model)

    def state(obj: object) -> str:
        return canonical_state(state_from_json(obj))

    start = checker.state(state({**START, "log": []}))
    shown, led = checker.state(state(SHOWN)), checker.state(state(LED))
    assert isinstance(checker.step(None, "Init", "[]", start), Allowed)
    assert isinstance(checker.step(start, "Show", '["Leader"]', shown), Allowed)
    assert isinstance(checker.step(start, "Show", '[{"#model":"Leader"}]', shown), Refused)
    assert isinstance(checker.step(shown, "Lead", '["b"]', led), Allowed)
    assert isinstance(checker.step(shown, "Lead", '[{"#str":"b"}]', led), Refused)
    for wrong in ({"count": {"#map": [[{"#model": "a"}, 1], [{"#model": "b"}, 0]]}},):
        bad = checker.state(state({**LED, **wrong}))
        assert isinstance(checker.step(shown, "Lead", '["b"]', bad), Refused)
    assert roles.model.adopt(state_from_json(LED)) == led


def test_parts_of_variables_are_read_by_types(roles: Subject) -> None:
    def partial(at: Value, value: Value, variable: str = "count") -> Verdict:
        event = Event(
            step=1,
            action="Lead",
            known_params=(None,),
            parts=(Part(variable=variable, at=(at,), value=value),),
        )
        trace = Trace(header=Header(spec="Roles"), events=(Event(step=0, action="Init"), event))
        return match_traces(roles.model, [trace])[0]

    assert partial("a", 1) == Conforms(2)
    assert partial("b", "Leader", "role") == Conforms(2)
    assert partial(1, from_json({"who": "a", "what": "b"}), "log") == Conforms(2)
    assert isinstance(partial(from_json({"#model": "a"}), 1), Diverges)
    assert isinstance(partial("b", from_json({"#str": "Leader"}), "role"), Diverges)


def test_where_init_and_next_do_not_tell_the_clash_is_named(tmp_path: Path) -> None:
    mixed = subject(tmp_path, "Mixed", MIXED, MIXED_CONFIG)
    first: Step = ("Init", [], {"word": "none", "node": "b"})

    verdicts = mixed.judge(first, ("Say", ["b"], {"word": "a", "node": "b"}))

    assert verdicts[0] == verdicts[1]
    assert isinstance(verdicts[0], Undecided)
    assert '"a" in the variable word may be the string or the model value' in verdicts[0].reason
    exact = {"word": {"#str": "a"}, "node": {"#model": "b"}}
    assert mixed.judge(first, ("Say", ["b"], exact)) == [Conforms(2), Conforms(2)]
    wrong = {"word": {"#model": "a"}, "node": "b"}
    assert [type(item) for item in mixed.judge(first, ("Say", ["b"], wrong))] == [Diverges] * 2


def test_what_an_invariant_declares_comes_first(tmp_path: Path) -> None:
    mixed = subject(tmp_path, "Mixed", MIXED, MIXED_CONFIG + "INVARIANT TypeOK\n")

    verdicts = mixed.judge(
        ("Init", [], {"word": "none", "node": "a"}), ("Say", ["a"], {"word": "a", "node": "a"})
    )

    assert verdicts == [Conforms(2), Conforms(2)]


@pytest.mark.parametrize("value", ["STRING", 'Node \\cup {"a"}'])
def test_a_set_of_both_tells_nothing(tmp_path: Path, value: str) -> None:
    text = MIXED.replace("Same(node, 1)", "node").replace('word \\in {"none", "a"} /\\ ', "")
    text = text.replace('word = "none"', f"word \\in ({value}) /\\ word \\in Node")
    mixed = subject(tmp_path, "Mixed", text, MIXED_CONFIG)

    (read,) = match_traces(
        mixed.model,
        [
            Trace(
                header=Header(spec="Mixed"),
                events=(Event(step=0, action="Init", state={"word": "b", "node": "b"}),),
            )
        ],
    )

    assert isinstance(read, Undecided) == (value == "STRING")


def test_a_specification_that_does_not_compile_has_clashes_only_where_strings_are(
    tmp_path: Path,
) -> None:
    text = MIXED.replace("EXTENDS Naturals", "EXTENDS Naturals, TLC").replace(
        'word = "none"', 'word = "none" /\\ JavaTime > 0'
    )
    module, config = tmp_path / "Mixed.tla", tmp_path / "Mixed.cfg"
    module.write_text(text)
    config.write_text(MIXED_CONFIG)
    spec = load_spec(module, config=read_config(config))

    assert spec.reading.clashing == {"word", "node"}
    assert canonical(spec.reading.variable("node", "b")) == '{"#model":"b"}'
    assert json.loads(canonical(spec.reading.variable("node", from_json({"#str": "a"})))) == "a"


def test_what_is_seen_of_a_run_says_which_strings_are_no_model_values(tmp_path: Path) -> None:
    text = ROLES.replace("====", "Seen == [text |-> shown, who |-> [n \\in Node |-> Leader]]\n====")
    module, config = tmp_path / "Roles.tla", tmp_path / "Roles.cfg"
    module.write_text(text)
    config.write_text(ROLES_CONFIG)
    model = load_model(module, config, expressions=["Seen"])
    events = (Event(step=0, action="Init", state=state_from_json({**START, "log": []})),)
    more = Event(
        step=1, action="Show", params=("Leader",), state=state_from_json({**SHOWN, "log": []})
    )
    view = View(
        operator="Seen",
        spec="Seen",
        spec_sha256=None,
        variables=frozenset(["text", "who"]),
        constants=frozenset(),
    )

    seen = view_trace(model, Trace(header=Header(spec="Roles"), events=(*events, more)), view)

    assert seen.events[1].state is not None
    assert canonical_state(seen.events[1].state) == (
        '{"text":{"#str":"Leader"},"who":{"#map":[[{"#model":"a"},{"#model":"Leader"}],'
        '[{"#model":"b"},{"#model":"Leader"}]]}}'
    )


def test_a_mapping_may_say_what_the_types_do_not(tmp_path: Path) -> None:
    mixed = subject(tmp_path, "Mixed", MIXED, MIXED_CONFIG)
    mapping, log = tmp_path / "mixed.toml", tmp_path / "mixed.jsonl"
    log.write_text('{"word":"none","node":"b"}\n{"word":"a","node":"b","by":"b"}\n')
    said = MAPPING.replace("NAMES", 'names = {a = {"#str" = "a"}}')

    mapping.write_text(MAPPING.replace("NAMES", ""))
    (open_,) = match_traces(mixed.model, [read_log(log, read_mapping(mapping)).trace])
    mapping.write_text(said)
    (known,) = match_traces(mixed.model, [read_log(log, read_mapping(mapping)).trace])

    assert isinstance(open_, Undecided)
    assert '"a" in the variable word' in open_.reason
    assert known == Conforms(2)


def test_exact_strings_go_through_itf(tmp_path: Path) -> None:
    exact = fcn([(ExactString("a"), ExactString("b")), (ModelValue("a"), "b")])
    event = Event(step=0, action="Init", state={"x": exact, "y": tla_set([ExactString("a")])})
    trace = Trace(header=Header(spec="M"), events=(event,))
    path = tmp_path / "m.itf.json"

    write_itf(path, trace)

    assert read_itf(path) == trace
