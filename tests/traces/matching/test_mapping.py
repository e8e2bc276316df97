"""Mappings in TOML, and logs of other systems read with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.traces.matching.toy import lock_server
from tlatrace.errors import SpecError, TraceFormatError
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.matching import match_traces, read_log, read_mapping
from tlatrace.trace import Change, Event, ParamPart, Part, Silent, Trace
from tlatrace.trace.lines import Limits
from tlatrace.values import Json, ModelValue, Value, fcn, record, tla_set

SAMPLES: Final = Path(__file__).parents[3] / "traces" / "samples" / "lock_server"
HEAD: Final = 'format = "rocketproof-mapping"\nversion = 1\nspec = "M"\n'
ONE: Final = '[action]\nfield = "a"\n[params]\nAct = []\n'

Read = Callable[[str, str], Trace]


@pytest.fixture(name="read")
def read_text(tmp_path: Path) -> Read:
    """Read a log with a mapping, both given as texts; the mapping gets its first lines."""

    def read(mapping: str, log: str) -> Trace:
        (tmp_path / "map.toml").write_text(HEAD + mapping)
        (tmp_path / "log.jsonl").write_text(log)
        return read_log(tmp_path / "log.jsonl", read_mapping(tmp_path / "map.toml")).trace

    return read


def first(trace: Trace) -> Event:
    """Return the event of the first line, behind an initial state that no line shows."""
    return trace.events[1]


# ---- the sample ---------------------------------------------------------------------------


def test_the_log_of_the_lock_server_conforms_with_its_silent_steps() -> None:
    mapping = read_mapping(SAMPLES / "lock_server.toml")
    log = read_log(SAMPLES / "server.jsonl", mapping)

    assert log.trace.header is not None
    assert log.trace.header.silent == Silent(actions=("Expire",), most=1)
    assert log.lines == (2, 2, 3, 5, 6, 7, 8, 9, 10)
    grant = log.trace.events[5]
    assert (grant.action, grant.params, grant.observed) == ("Grant", ("c2",), {"token": 2})
    assert (grant.node, grant.clock) == ("client-9", 1718000033)
    assert match_traces(lock_server(), [log.trace]) == [Conforms(9)]


def test_a_release_of_a_lock_that_another_client_has_diverges_at_its_line() -> None:
    mapping = read_mapping(SAMPLES / "lock_server.toml")
    log = read_log(SAMPLES / "two_holders.jsonl", mapping)

    (found,) = match_traces(lock_server(), [log.trace])

    assert isinstance(found, Diverges)
    assert log.lines[found.step] == 5
    assert 'Release("c1")' in found.expected
    assert "no such step is possible; possible are Expire, Release, Request" in found.observed


# ---- lines to events ----------------------------------------------------------------------


def test_an_action_is_renamed_or_taken_as_it_is_or_left_open(read: Read) -> None:
    log = '{"a":"x"}\n{"a":"Act"}\n'
    names = '[action]\nfield = "a"\n{}\n[action.names]\nx = "Act"\n[params]\nAct = []\n'

    for other, actions in (("same", ["Act", "Act"]), ("unnamed", ["Act", None])):
        trace = read(names.format(f'other = "{other}"'), log)
        assert [event.action for event in trace.events[1:]] == actions
    assert first(read("", log)).action is None


def test_an_action_without_a_name_is_refused_at_its_line(read: Read) -> None:
    mapping = '[action]\nfield = "a"\n[action.names]\nx = "Act"\n[params]\nAct = []\n'

    with pytest.raises(TraceFormatError, match=r"log.jsonl:2: the action 'y' stands not in"):
        read(mapping, '{"a":"x"}\n{"a":"y"}\n')


@pytest.mark.parametrize(
    ("params", "arguments"),
    [
        ("[]", ()),
        ('"?"', None),
        ('["p.x", "?"]', (5, None)),
        ('["p.x", "l.1"]', (5, "two")),
        ('[["p", "x"], {value = {"#model" = "m"}}]', (5, ModelValue("m"))),
        ('[{field = "none", optional = true}]', (None,)),
    ],
)
def test_arguments_are_taken_from_fields(params: str, arguments: object, read: Read) -> None:
    line = '{"a":"Act","p":{"x":5},"l":["one","two"]}\n'

    trace = read(f'[action]\nfield = "a"\nother = "same"\n[params]\nAct = {params}\n', line)

    assert first(trace).arguments == arguments


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('field = "n"', 7),
        ('field = "s"\nas = "set"', tla_set([1, 2])),
        ('field = "s"', (2, 1, 2)),
        ('field = "d"\nas = "number"', -12),
        ('field = "n"\nas = "text"', "7"),
        ('field = "yes"\nas = "text"', "true"),
        ('field = "yes"', True),
        ('field = "o"', record({"x": 1, "y": "Z"})),
        ('field = "o"\nnames = {x = 1, y = 2, z = "Q"}', (1, "Q")),
        ('field = "o"\nnames = {x = {"#model" = "m"}}', fcn([(ModelValue("m"), 1), ("y", "z")])),
        ('field = "nil"\nnull = "nobody"', "nobody"),
        ('value = [1, {"#set" = []}]', (1, tla_set([]))),
        ('tuple = ["n", {value = 1}]', (7, 1)),
        ('set = ["n", {field = "d", as = "number"}]', tla_set([7, -12])),
        ('record = {a = "n", b = {tuple = []}}', record({"a": 7, "b": ()})),
        ('sum = ["n", {value = 1}, {field = "d", as = "number"}]', -4),
        ('field = "yes"\nas = "negated"', False),
        ('field = "tla"\nas = "tla"', (1, record({"a": tla_set([2])}))),
    ],
)
def test_values_are_formed_as_declared(source: str, value: object, read: Read) -> None:
    line = '{"n":7,"s":[2,1,2],"d":"-12","yes":true,"o":{"x":1,"y":"z"},"nil":null,'
    line += '"tla":"<<1, [a |-> {2}]>>"}\n'

    trace = read(f'[names]\nz = "Z"\n[[observe]]\nvariable = "v"\n{source}\n', line)

    assert first(trace).observed == {"v": value}
    assert first(trace).observed is not None


def test_parts_of_variables_belong_to_the_node_of_the_line(read: Read) -> None:
    rule = '[[observe]]\nvariable = "term"\nat = ["id", {value = "cur"}]\nfield = "t"\n'

    trace = read(rule, '{"id":"n1","t":3}\n')

    assert first(trace).parts == (Part(variable="term", at=("n1", "cur"), value=3),)


def test_rules_belong_to_actions_and_optional_fields_may_be_missing(read: Read) -> None:
    mapping = (
        '[action]\nfield = "a"\nother = "same"\n[params]\nAct = []\nOther = []\n'
        '[[observe]]\nvariable = "v"\nfield = "x"\nonly = ["Act"]\n'
        '[[observe]]\nvariable = "w"\nfield = "y"\noptional = true\n'
    )

    trace = read(mapping, '{"a":"Act","x":1}\n{"a":"Other","x":2,"y":3}\n')

    assert [event.observed for event in trace.events[1:]] == [{"v": 1}, {"w": 3}]


def test_the_first_line_may_show_the_initial_state(read: Read) -> None:
    mapping = (
        'init = "first line"\n[action]\nfield = "a"\nother = "same"\n[params]\nAct = []\n'
        '[[observe]]\nvariable = "v"\nfield = "x"\nonly = ["Init"]\n'
    )

    trace = read(mapping, '{"x":1}\n{"a":"Act"}\n')

    assert [(e.action, e.observed) for e in trace.events] == [("Init", {"v": 1}), ("Act", None)]


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ('is = "x"', [2, 3, 4]),
        ('is = ["x", 1]', [3, 4]),
        ('not = ["x"]', [1]),
        ("is = true", [1, 2, 4]),
        ("present = false", [1, 2, 3]),
        ("present = true", [4]),
    ],
)
def test_lines_are_skipped_by_condition(condition: str, kept: list[int], tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(HEAD + f'[[skip]]\nfield = "k.l"\n{condition}\n')
    values: list[Json] = ["x", 1, True]
    lines = ['{"k":{"l":"x"}}', '{"k":{"l":1}}', '{"k":{"l":true}}', '{"k":1}']
    assert len(lines) == len(values) + 1
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")

    log = read_log(tmp_path / "log.jsonl", read_mapping(tmp_path / "map.toml"))

    assert list(log.lines[1:]) == kept


@pytest.mark.parametrize(
    ("condition", "skipped"),
    [
        ('all = [{field = "a", is = 1}, {field = "b", not = 1}]', [2]),
        ('any = [{field = "a", not = 1}, {field = "b", is = 2}]', [2, 3]),
        ('none = [{field = "a", is = 2}, {field = "b", is = 2}]', [1]),
        ('any = [{all = [{field = "a", is = 2}]}, {none = [{field = "b", is = 1}]}]', [2, 3]),
        ('field = "a"\nsame = "b"', [1]),
        ('field = "a"\ndiffers = "b"', [2, 3]),
        ('field = "a"\nless = "b"', [2]),
        ('field = "b"\nless = 2', [1, 3]),
        ('field = "l.-1"\nis = "z"', [1, 2]),
    ],
)
def test_conditions_are_joined_and_compare_fields(
    condition: str, skipped: list[int], tmp_path: Path
) -> None:
    (tmp_path / "map.toml").write_text(HEAD + f"[[skip]]\n{condition}\n")
    (tmp_path / "log.jsonl").write_text(
        '{"a":1,"b":1,"l":["y","z"]}\n{"a":1,"b":2,"l":["z"]}\n{"a":2,"b":1,"l":["z","y"]}\n'
    )

    log = read_log(tmp_path / "log.jsonl", read_mapping(tmp_path / "map.toml"))

    assert sorted({1, 2, 3} - set(log.lines)) == skipped


def test_a_line_without_its_action_is_refused_or_open_or_no_step(read: Read) -> None:
    log = '{"a":"Act"}\n{"b":1}\n'
    text = '[action]\nfield = "a"\nmissing = "{}"\nother = "same"\n[params]\nAct = []\n'

    for missing, actions in (("unnamed", ["Act", None]), ("skip", ["Act"])):
        trace = read(text.format(missing), log)
        assert [event.action for event in trace.events[1:]] == actions
    with pytest.raises(TraceFormatError, match=r"log.jsonl:2: the line has no field a"):
        read(text.format("error"), log)


def test_cases_tell_actions_by_other_fields(read: Read) -> None:
    mapping = (
        '[action]\nfield = "a"\nother = "skip"\n[action.names]\nplain = "Plain"\n'
        '[[action.case]]\nif = {all = [{field = "a", is = "recv"}, {field = "t", less = "m"}]}\n'
        'action = ["UpdateTerm", "Receive"]\n'
        '[[action.case]]\nif = {field = "a", is = "recv"}\naction = "Receive"\n'
        "[params]\nPlain = []\nReceive = []\nUpdateTerm = []\n"
        '[[observe]]\nvariable = "term"\nfield = "t"\nwhen = "before"\n'
        '[[observe]]\nvariable = "seen"\nfield = "m"\nonly = ["Receive"]\n'
        '[[observe]]\nvariable = "last"\nvalue = 9\n'
    )
    log = '{"a":"recv","t":1,"m":2}\n{"a":"recv","t":2,"m":2}\n{"a":"plain","t":5}\n{"a":"no"}\n'

    trace = read(mapping, log)

    def show(event: Event) -> tuple[str | None, list[int], object]:
        return event.action, [int(str(p.value)) for p in event.clues.before], event.observed

    assert [show(event) for event in trace.events[1:]] == [
        ("UpdateTerm", [1], None),
        ("Receive", [], {"seen": 2, "last": 9}),
        ("Receive", [2], {"seen": 2, "last": 9}),
        ("Plain", [5], {"last": 9}),
    ]


def test_a_line_may_hold_several_steps(tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(
        HEAD + 'each = {field = "batch", optional = true}\nnode = "id"\n'
        '[action]\nfield = "each.op"\nmissing = "skip"\nother = "same"\n'
        '[params]\nAct = ["each.x", "id"]\n'
        '[[skip]]\nfield = "each.x"\nis = 2\n'
    )
    (tmp_path / "log.jsonl").write_text(
        '{"id":"n","batch":[{"op":"Act","x":1},{"op":"Act","x":2},{"op":"Act","x":3}]}\n'
        '{"id":"m"}\n{"id":"m","batch":[]}\n{"id":"m","batch":[{"op":"Act","x":4}]}\n'
    )

    log = read_log(tmp_path / "log.jsonl", read_mapping(tmp_path / "map.toml"))

    assert [(e.params, e.node) for e in log.trace.events[1:]] == [
        ((1, "n"), "n"),
        ((3, "n"), "n"),
        ((4, "m"), "m"),
    ]
    assert log.lines == (1, 1, 1, 4)
    assert log.counts.text() == "4 lines, 2 skipped; Act 3"


def test_updates_of_a_recorder_become_changes(read: Read) -> None:
    mapping = '[names]\nrm-0 = "r0"\n[updates]\nvariables = ["msgs", "store"]\nnull = "none"\n'
    log = (
        '{"msgs":[{"op":"AddElement","path":[],"args":[{"rm":"rm-0"}]},'
        '{"op":"Clear","path":[],"args":[]}]}\n'
        '{"store":[{"op":"SetKey","path":["rm-0"],"args":[1,null]},'
        '{"op":"AddElements","path":[],"args":[[1,2]]}]}\n'
    )

    trace = read(mapping, log)

    def change(variable: str, at: tuple[Value, ...], operation: str, *args: Value) -> Change:
        return Change(variable=variable, at=at, operation=operation, arguments=args)

    assert trace.events[1].clues.changes == (
        change("msgs", (), "add", record({"rm": "r0"})),
        change("msgs", (), "set", tla_set([])),
    )
    assert trace.events[2].clues.changes == (
        change("store", ("r0",), "set key", 1, "none"),
        change("store", (), "add all", tla_set([1, 2])),
    )


def test_changes_expressions_and_arguments_are_declared(read: Read) -> None:
    mapping = (
        '[action]\nfield = "a"\nother = "same"\n[params]\nAct = ["?"]\nNo = []\n'
        '[expressions]\nlength = "[i \\\\in Node |-> Len(log[i])]"\n'
        '[[change]]\nvariable = "log"\nat = ["id"]\ndo = "append"\nwith = "x"\n'
        'only = ["Act"]\nif = {field = "x", present = true}\n'
        '[[observe]]\nvariable = "length"\nat = ["id"]\nfield = "n"\n'
        '[[observe]]\nargument = 1\nat = [{value = "term"}]\nfield = "t"\nonly = ["Act"]\n'
    )

    trace = read(mapping, '{"a":"Act","id":"i","x":7,"n":3,"t":2}\n{"a":"No","id":"i","n":3}\n')

    assert trace.header is not None
    assert trace.header.expressions == {"length": "[i \\in Node |-> Len(log[i])]"}
    clues = first(trace).clues
    assert clues.changes == (Change(variable="log", at=("i",), operation="append", arguments=(7,)),)
    assert clues.expressions == (Part(variable="length", at=("i",), value=3),)
    assert clues.params == (ParamPart(number=1, at=("term",), value=2),)
    assert trace.events[2].clues.changes == ()
    assert trace.events[2].clues.params == ()


def test_silent_steps_are_bound_to_the_actions_before_which_they_happen(read: Read) -> None:
    trace = read('silent = {actions = ["A", "B"], before = {A = ["X"]}}\n', '{"a":1}\n')

    assert trace.header is not None
    assert trace.header.silent == Silent(actions=("A", "B"), only_before={"A": frozenset(["X"])})


def test_a_log_without_a_step_has_no_events(read: Read) -> None:
    trace = read('[[skip]]\nfield = "a"\npresent = true\n', '{"a":1}\n')

    assert trace.header is not None
    assert trace.events == ()


# ---- logs that do not fit -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("mapping", "line", "reason"),
    [
        ("", "[]", "not a JSON object"),
        ("", '{"a":1,"a":2}', "stands twice"),
        ("", '{"a":NaN}', "NaN is not JSON"),
        ("", "{" * 100, "nested deeper"),
        (ONE, '{"b":1}', "no field a, where the action stands"),
        (ONE, '{"a":1}', "is not a string"),
        (ONE + '[[observe]]\nvariable = "v"\nfield = "x.y"\n', '{"a":"Act","x":1}', "field x.y"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\n', '{"x":null}', "the field x is null"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\n', '{"x":[null]}', "it holds null"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\n', '{"x":1.5}', "fraction"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\nas = "set"\n', '{"x":1}', "not an array"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\nas = "number"\n', '{"x":"1e3"}', "digits"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\nas = "text"\n', '{"x":[]}', "neither"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\n', '{"x":' + "[" * 66 + "]" * 66 + "}", "deep"),
        ('clock = "x"\n', '{"x":"now"}', "not a 64-bit integer"),
        ('[[skip]]\nfield = "x"\nsame = "y"\n', '{"x":1}', "no field y, which is compared"),
        ('[[skip]]\nfield = "x"\nless = 2\n', '{"x":"1"}', "compared as a number"),
        ('[[observe]]\nvariable = "v"\nsum = ["x"]\n', '{"x":"1"}', "no number"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\nas = "negated"\n', '{"x":1}', "boolean"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\nas = "tla"\n', '{"x":"<<"}', "field x"),
        ('each = "x"\n', '{"x":1}', "no array"),
        ('each = "x"\n', '{"x":[1],"each":2}', "has a field 'each'"),
        ('updates = ["x"]\n', '{"x":1}', "no array of updates"),
        ('updates = ["x"]\n', '{"x":[{"op":"Init","path":[],"args":[]}]}', "unknown operation"),
        ('updates = ["x"]\n', '{"x":[{"op":"Add","path":[],"args":[]}]}', "0 arguments, not 1"),
        ('updates = ["x"]\n', '{"x":[{"op":"Add","path":[]}]}', 'no "args"'),
        ('updates = ["x"]\n', '{"x":[{"op":"Add","path":[],"args":[null]}]}', "holds null"),
        ('updates = ["x"]\n', '{"x":[{"op":"Add","at":[],"args":[1]}]}', "is not an object with"),
        ('node = "x"\n', '{"x":1}', "is not a string"),
        ('[[observe]]\nvariable = "v"\nfield = "x"\n' * 2, '{"x":1}', "two rules"),
    ],
)
def test_a_line_that_does_not_fit_is_refused_with_file_and_line(
    mapping: str, line: str, reason: str, read: Read
) -> None:
    if "[action]" in mapping:
        mapping = mapping.replace('"a"\n', '"a"\nother = "same"\n', 1)
    with pytest.raises(TraceFormatError) as caught:
        read(mapping, line + "\n")

    assert caught.value.line == 1
    assert reason in caught.value.reason


def test_an_action_without_declared_arguments_is_refused(read: Read) -> None:
    with pytest.raises(TraceFormatError, match=r"\[params\] lacks the action Fly"):
        read('[action]\nfield = "a"\nother = "same"\n', '{"a":"Fly"}\n')


def test_the_limits_are_those_of_the_reader(tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(HEAD)
    log = tmp_path / "log.jsonl"
    log.write_text('{"a":"' + "x" * 100 + '"}\n{}\n')
    mapping = read_mapping(tmp_path / "map.toml")

    for limits, line in ((Limits(line_bytes=50), 1), (Limits(events=2), 2)):
        with pytest.raises(TraceFormatError) as caught:
            read_log(log, mapping, limits)
        assert caught.value.line == line


# ---- mappings that are wrong --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x =\n1", 1, "not TOML"),
        (f"x = {'9' * 5000}", None, "not TOML"),
        ("", None, 'no format = "rocketproof-mapping"'),
        ('format = "rocketproof-mapping"\nversion = 2\n', 2, "no version = 1"),
        ('format = "rocketproof-mapping"\nversion = true\n', 2, "no version = 1"),
        (HEAD + 'observed = "x"\n', 4, "unknown key 'observed'"),
        (HEAD.replace('"M"', '"a b"'), None, "not the name of a module"),
        (HEAD + 'init = "first"\n', 4, "init of the mapping is not one of unknown, first line"),
        (HEAD + "silent = {}\n", None, "actions of silent"),
        (HEAD + 'silent = {actions = ["A"], most = -1}\n', 4, "most of silent"),
        (HEAD + 'silent = {actions = ["A"], least = 1}\n', 4, "unknown key 'least'"),
        (HEAD + "[action]\n", 4, "has no field of the log"),
        (HEAD + '[action]\nfield = "a"\nothers = "same"\n', 6, "unknown key 'others'"),
        (HEAD + '[action]\nfield = "a"\nother = "x"\n', 6, "error, same, unnamed"),
        (HEAD + '[action]\nfield = "a"\n[action.names]\nx = 1\n', 7, "not the name of one"),
        (HEAD + '[action]\nfield = "a"\n[action.names]\nx = "Act"\n', 7, "[params] lacks Act"),
        (HEAD + "[params]\nAct = 1\n", 5, "neither an array nor"),
        (HEAD + "[params]\nAct = [1]\n", 5, "no field of the log"),
        (HEAD + '[params]\nAct = [{field = "a", value = 1}]\n', 5, "unknown key 'field'"),
        (HEAD + "[[skip]]\nis = 1\n", 4, "has no field of the log"),
        (HEAD + '[[skip]]\nfield = "a"\n', 4, "exactly one of is, not, present"),
        (HEAD + '[[skip]]\nfield = "a"\nis = 1\nnot = 2\n', 4, "exactly one"),
        (HEAD + '[[skip]]\nfield = "a"\npresent = 1\n', 6, "not a boolean"),
        (HEAD + '[skip]\nfield = "a"\n', 4, "not an array of tables"),
        (HEAD + '[[observe]]\nfield = "a"\n', None, "has no variable"),
        (HEAD + '[[observe]]\nvariable = "v"\n', 5, "no field of the log"),
        (HEAD + '[[observe]]\nvariable = "v"\nfield = "a"\nform = 1\n', 7, "unknown key 'form'"),
        (HEAD + '[[observe]]\nvariable = "v"\nfield = "a"\nas = "bag"\n', 7, "plain, set, number"),
        (HEAD + '[[observe]]\nvariable = "v"\nfield = "a"\nonly = []\n', 7, "only of"),
        (HEAD + "[names]\nx = 1.5\n", 5, "fraction"),
        (HEAD + "[[skip]]\nall = []\n", 5, "joins nothing"),
        (HEAD + '[[skip]]\nall = [{field = "a"}]\n', 4, "exactly one of"),
        (HEAD + '[[skip]]\nfield = "a"\nis = 1\nsame = "b"\n', 4, "exactly one of"),
        (HEAD + '[[skip]]\nfield = "a"\nless = 1.5\n', 6, "less has no field"),
        (HEAD + '[[skip]]\nany = [{field = "a", is = 1}]\nis = 1\n', 6, "unknown key 'is'"),
        (HEAD + '[action]\nfield = "a"\nmissing = "x"\n', 6, "error, unnamed, skip"),
        (HEAD + '[[action.case]]\naction = "A"\n', 4, "if of an"),
        (HEAD + '[action]\nfield = "a"\n[action.names]\nx = []\n', 7, "not the name of one"),
        (HEAD + 'silent = {actions = ["A"], before = {B = ["A"]}}\n', 4, "unknown key 'B'"),
        (HEAD + '[expressions]\n"a b" = "1"\n', 5, "no name with TLA+ text"),
        (HEAD + "[expressions]\na = 1\n", 5, "no name with TLA+ text"),
        (HEAD + '[[observe]]\nargument = 0\nfield = "a"\n', 5, "no number from 1"),
        (HEAD + '[[observe]]\nargument = 1\nwhen = "before"\nfield = "a"\n', 6, "the same"),
        (HEAD + '[[observe]]\nvariable = "v"\nwhen = "now"\nfield = "a"\n', 6, "after, before"),
        (HEAD + '[[change]]\nvariable = "v"\n', 5, "has no do"),
        (HEAD + '[[change]]\nvariable = "v"\ndo = "push"\n', 6, "is not one of"),
        (HEAD + '[[change]]\nvariable = "v"\ndo = "add"\n', None, "takes 1 values in with"),
        (HEAD + '[[change]]\nvariable = "v"\ndo = "add"\nwith = "x"\nto = 1\n', 8, "'to'"),
        (HEAD + "updates = []\n", None, "variables of updates"),
        (HEAD + 'updates = {variables = ["a"], unchanged = ["b"]}\n', 4, "no variable of it"),
        (HEAD + "[constants]\nC = 2024-01-01\n", 5, "not a TLA+ value"),
    ],
)
def test_a_wrong_mapping_is_refused_with_its_line(
    text: str, line: int | None, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "map.toml"
    path.write_text(text)

    with pytest.raises(SpecError) as caught:
        read_mapping(path)

    assert reason in caught.value.reason
    assert caught.value.line == line


def test_a_mapping_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")

    for name in ("nowhere.toml", "bytes.toml"):
        with pytest.raises(SpecError):
            read_mapping(tmp_path / name)


def test_the_example_of_the_document_is_the_sample() -> None:
    document = (SAMPLES.parents[1] / "MAPPING.md").read_text("utf-8")
    sample = (SAMPLES / "lock_server.toml").read_text("utf-8")

    assert sample.split("\n", 1)[1] in document
    assert (SAMPLES / "server.jsonl").read_text("utf-8").splitlines()[6] in document
