"""NDJSON traces: what is written is read back, and hostile files cost little and are named."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model_tests.value_strategies import traces
from tlatrace.errors import TraceFormatError, ValueFormatError
from tlatrace.trace import Event, Header, Implementation, Part, Silent, Trace
from tlatrace.trace.ndjson import (
    Limits,
    dump_trace,
    event_line,
    header_line,
    iter_events,
    open_trace,
    read_trace,
    write_trace,
)
from tlatrace.values import Json, record, tla_set

HEADER = '{"format":"rocketproof-trace","version":1,"spec":"EpochTruncation"}'
INIT = '{"step":0,"action":"Init","params":[],"state":{"x":0}}'
STEP = '{"step":1,"action":"Append","params":["b1"],"state":{"x":1}}'

MEMORY_CAP = 32 * 2**20

same_folder = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(name="written")
def written_file(tmp_path: Path) -> Callable[..., Path]:
    """Write lines, each with an end, to a file."""

    def write(*lines: str | bytes) -> Path:
        path = tmp_path / "trace.ndjson"
        raw = [line.encode() if isinstance(line, str) else line for line in lines]
        path.write_bytes(b"".join([line + b"\n" for line in raw]))
        return path

    return write


def refusal(path: Path, limits: Limits | None = None) -> TraceFormatError:
    """Read the file, and return the error that it must raise."""
    with pytest.raises(TraceFormatError) as caught:
        read_trace(path, limits or Limits())
    assert str(caught.value).startswith(str(path))
    return caught.value


# ---- what is written is read back ---------------------------------------------------------


def text_of(trace: Trace) -> bytes:
    """Spell a trace, so that True and 1 are told apart."""
    return b"" if trace.header is None else b"".join(dump_trace(trace.header, trace.events))


@same_folder
@given(trace=traces())
def test_reading_what_was_written_gives_the_same_trace(trace: Trace, tmp_path: Path) -> None:
    for name in ("trace.ndjson", "trace.ndjson.gz"):
        path = tmp_path / name
        write_trace(path, trace)

        assert text_of(read_trace(path)) == text_of(trace)


@same_folder
@given(trace=traces())
def test_the_same_trace_gives_the_same_bytes(trace: Trace, tmp_path: Path) -> None:
    for name in ("trace.ndjson", "trace.ndjson.gz"):
        write_trace(tmp_path / name, trace)
        first = (tmp_path / name).read_bytes()
        write_trace(tmp_path / name, read_trace(tmp_path / name))

        assert (tmp_path / name).read_bytes() == first


def test_lines_are_spelled_as_the_format_says() -> None:
    header = Header(
        spec="EpochTruncation",
        spec_sha256="ab" * 32,
        constants={"Brokers": tla_set(["b2", "b1"])},
        seed=7,
        implementation=Implementation(name="rocketha", version="0.1.0"),
        meta={"z": 1, "a": {"d": 1, "c": 2}},
    )
    event = Event(
        step=3,
        action="Transfer",
        params=("b1", 2),
        node="b1",
        observed={"log": record({"b1": (1,)}), "alive": tla_set([True])},
        clock=12,
    )

    assert header_line(header) == (
        '{"format":"rocketproof-trace","version":1,"spec":"EpochTruncation",'
        f'"spec_sha256":"{"ab" * 32}","constants":{{"Brokers":{{"#set":["b1","b2"]}}}},"seed":7,'
        '"implementation":{"name":"rocketha","version":"0.1.0"},"meta":{"a":{"c":2,"d":1},"z":1}}'
    )
    assert event_line(event) == (
        '{"step":3,"action":"Transfer","params":["b1",2],"node":"b1",'
        '"observed":{"alive":{"#set":[true]},"log":{"b1":[1]}},"clock":12}'
    )


def test_arguments_that_are_not_logged_are_spelled_null() -> None:
    part = Part(variable="role", at=("b1",), value="Slave")
    none = Event(step=1, action="A", known_params=(), parts=(part,))
    one = Event(step=1, action="A", known_params=("b1", None))

    assert (none.arguments, one.arguments) == (None, ("b1", None))
    assert event_line(one) == '{"step":1,"action":"A","params":["b1",null]}'
    assert event_line(none) == (
        '{"step":1,"action":"A","params":null,'
        '"parts":[{"variable":"role","at":["b1"],"value":"Slave"}]}'
    )


def test_silent_steps_ask_for_the_next_version() -> None:
    silent = header_line(Header(spec="A", silent=Silent(actions=("B",), most=2)))

    assert json.loads(silent)["version"] == 2
    assert json.loads(silent)["silent"] == {"actions": ["B"], "most": 2}
    assert json.loads(header_line(Header(spec="A")))["version"] == 1


def test_the_example_of_the_format_is_read(tmp_path: Path) -> None:
    document = Path(__file__).parents[3] / "traces" / "FORMAT.md"
    example = document.read_text(encoding="utf-8").split("```ndjson\n")[1].split("```")[0]
    path = tmp_path / "example.ndjson"
    path.write_text(example, encoding="utf-8")

    trace = read_trace(path)

    assert [event.action for event in trace.events] == ["Init", "ElectMaster", "Append", None]
    assert text_of(trace).decode() == example


@same_folder
@given(position=st.integers(min_value=0), junk=st.binary(max_size=3), dropped=st.integers(0, 3))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(
    position: int, junk: bytes, dropped: int, tmp_path: Path
) -> None:
    whole = f"{HEADER}\n{INIT}\n{STEP}\n".encode()
    at = position % len(whole)
    path = tmp_path / "damaged.ndjson"
    path.write_bytes(whole[:at] + junk + whole[at + dropped :])

    try:
        trace = read_trace(path)
    except TraceFormatError:
        return
    assert len(trace.events) <= 2


def test_events_are_read_one_at_a_time(written: Callable[..., Path]) -> None:
    path = written(HEADER, INIT, STEP, "garbage")

    header, events = open_trace(path)

    assert header == Header(spec="EpochTruncation")
    assert next(events).action == "Init"
    assert next(events) == Event(step=1, action="Append", params=("b1",), state={"x": 1})
    with pytest.raises(TraceFormatError):
        next(events)
    assert next(iter_events(path)).step == 0


# ---- nothing to examine is not an error ---------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"\n", b"\n  \r\n"])
def test_an_empty_file_is_a_trace_without_header_and_events(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "empty.ndjson"
    path.write_bytes(content)

    assert read_trace(path) == Trace(header=None, events=())


def test_a_header_alone_is_a_trace_without_events(written: Callable[..., Path]) -> None:
    trace = read_trace(written(HEADER))

    assert trace.header is not None
    assert trace.events == ()


def test_windows_line_ends_and_a_missing_last_one_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "trace.ndjson"
    path.write_bytes(f"{HEADER}\r\n{INIT}\r\n{STEP}".encode())

    assert len(read_trace(path).events) == 2


def test_unknown_keys_of_a_header_are_reported_and_not_refused(
    written: Callable[..., Path],
) -> None:
    trace = read_trace(written(HEADER[:-1] + ',"zone":1,"cluster":{}}', INIT))

    assert trace.header is not None
    assert trace.header.ignored == ("cluster", "zone")


# ---- wrong content ------------------------------------------------------------------------


def header_with(key: str, value: Json) -> str:
    """Spell the header with one field replaced."""
    return json.dumps({**json.loads(HEADER), key: value})


def silent_with(value: Json) -> str:
    """Spell a header of the next version that declares silent steps."""
    return json.dumps({**json.loads(HEADER), "version": 2, "silent": value})


def step_with(key: str, value: Json) -> str:
    """Spell the event of step 1 with one field replaced."""
    return json.dumps({**json.loads(STEP), key: value})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("garbage", "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "first line is not a header"),
        (INIT, "first line is not a header"),
        (header_with("version", 3), "version 3 of the format is not supported"),
        (header_with("version", True), "version true"),
        (header_with("version", 1.0), "version 1.0"),
        (header_with("spec", None), '"spec" is not a string'),
        (header_with("spec", "a b"), "not the name of a module"),
        (header_with("spec_sha256", "AB" * 32), "64 lower-case hexadecimal"),
        (header_with("constants", []), "a state is an object"),
        (header_with("constants", {"C": None}), "null is not a TLA+ value"),
        (header_with("constants", {"C D": 1}), "not the name of a constant"),
        (header_with("seed", "7"), '"seed" is not a 64-bit integer'),
        (header_with("seed", 2**63), '"seed" is not a 64-bit integer'),
        (header_with("implementation", "rocketha"), '"implementation" is not an object'),
        (header_with("implementation", {"name": "x"}), '"version" is not a string'),
        (header_with("meta", 1), '"meta" is not an object'),
        (header_with("silent", {"actions": ["A"]}), '"silent" needs "version":2'),
        (silent_with(["A"]), '"silent" is not an object'),
        (silent_with({"actions": ["A"], "least": 1}), '"silent" is not an object'),
        (silent_with({"actions": []}), '"actions" in "silent" is not an array'),
        (silent_with({"actions": ["A", "A"]}), '"A" in "silent" is not the name'),
        (silent_with({"actions": ["Init"]}), '"Init" in "silent" is not the name'),
        (silent_with({"actions": ["A b"]}), "not the name of an action"),
        (silent_with({"actions": ["A"], "most": -1}), '"most" in "silent" is negative'),
    ],
)
def test_a_wrong_header_is_refused_at_line_1(
    line: str, reason: str, written: Callable[..., Path]
) -> None:
    error = refusal(written(line, INIT))

    assert error.line == 1
    assert reason in error.reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("garbage", "not JSON: expecting value"),
        ("{", "not JSON"),
        (STEP + STEP, "not JSON: extra data"),
        ("1", "not a JSON object"),
        (step_with("observd", {}), 'unknown key "observd"'),
        (step_with("step", 2), "expected step 1, found 2"),
        (step_with("step", 0), "expected step 1, found 0"),
        (step_with("step", True), '"step" is not a 64-bit integer'),
        (step_with("step", None), "expected step 1, found null"),
        (step_with("action", 1), '"action" is not a string'),
        (step_with("action", "Append(b1)"), "not the name of an action"),
        (step_with("action", ""), "not the name of an action"),
        (step_with("action", "A" * 1000), "not the name of an action"),
        (step_with("action", "Init"), '"Init" is step 0'),
        (step_with("action", None), "has params"),
        (step_with("params", {}), '"params" is neither an array nor null'),
        (step_with("params", [[None]]), "null is not a TLA+ value"),
        (step_with("parts", {}), '"parts" is not an array'),
        (step_with("parts", [{}]), '"parts" holds something without'),
        (step_with("parts", [{"variable": "x", "at": [], "value": 1}]), '"at" in "parts"'),
        (step_with("parts", [{"variable": "x y", "at": [1], "value": 1}]), "a variable"),
        (step_with("parts", [{"variable": "x", "at": [1], "value": None}]), "null is not"),
        (step_with("node", 1), '"node" is not a string'),
        (step_with("clock", 1.5), '"clock" is not a 64-bit integer'),
        (step_with("state", []), 'in "state"'),
        (step_with("state", {"x": 1.0}), "a fraction"),
        (step_with("state", {"x y": 1}), "not the name of a variable"),
        (step_with("state", {"x": {"#set": 1}}), '"#set" does not hold what it must'),
        (step_with("observed", {}), 'both "state" and "observed"'),
        ('{"step":1,"params":[]}', 'no "action"'),
        ('{"step":1,"action":"A","params":[],"params":[1]}', '"params" stands twice'),
        (STEP.replace('{"x":1}', '{"x":{"y":[{"z":1,"z":2}]}}'), 'key "z" stands twice'),
        (STEP.replace('{"x":1}', '{"x":NaN}'), "NaN is not JSON"),
        (STEP.replace('{"x":1}', '{"x":-Infinity}'), "-Infinity is not JSON"),
        (STEP.replace('{"x":1}', '{"x":1e999}'), "a number is too large"),
        (STEP.replace('{"x":1}', '{"x":' + "1" * 1001 + "}"), "more than 1000 digits"),
        (STEP.replace('{"x":1}', '{"x":' + "1" * 5000 + "}"), "too many digits"),
        (STEP.replace('{"x":1}', '{"x":"\\ud800"}'), "half of a surrogate pair"),
        (STEP.replace('{"x":1}', '{"x":"\t"}'), "not JSON: invalid control character"),
        (STEP.encode().replace(b"b1", b"\xff"), "not UTF-8"),
        (b"\xef\xbb\xbf" + STEP.encode(), "not JSON"),
        (b"\x00", "not JSON"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_event_is_refused_at_its_line(
    line: str | bytes, reason: str, written: Callable[..., Path]
) -> None:
    error = refusal(written(HEADER, INIT, line))

    assert error.line == 3
    assert reason in error.reason


@pytest.mark.parametrize("first", [STEP, INIT.replace("Init", "Append"), INIT.replace("[]", "[1]")])
def test_the_first_event_is_the_initial_state(first: str, written: Callable[..., Path]) -> None:
    assert refusal(written(HEADER, first)).line == 2


def test_a_blank_line_in_the_middle_is_refused(written: Callable[..., Path]) -> None:
    error = refusal(written(HEADER, "", INIT))

    assert (error.line, error.reason) == (2, "the line is blank")


def test_a_syntax_error_is_placed_by_line_and_column(written: Callable[..., Path]) -> None:
    path = written(HEADER, '{"step":0,"action":?')

    assert str(refusal(path)) == f"{path}:2:20: not JSON: expecting value"


def test_bytes_that_are_not_utf8_are_placed_by_column(written: Callable[..., Path]) -> None:
    error = refusal(written(HEADER, b'{"step":\xff}'))

    assert (error.line, error.column) == (2, 9)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "absent").reason
    assert "cannot be read" in refusal(tmp_path).reason


# ---- size ---------------------------------------------------------------------------------


def peak_memory(read: Callable[[], object]) -> int:
    """Return the most bytes that Python objects took while `read` ran."""
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_of_100_mb_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.ndjson"
    with path.open("wb") as file:
        file.write(f"{HEADER}\n{INIT}\n".encode() + b'{"step":1,"action":"')
        for _ in range(100):
            file.write(b"A" * 10**6)

    peak = peak_memory(lambda: refusal(path))

    assert refusal(path).line == 3
    assert "longer than 1048576 bytes" in refusal(path).reason
    assert peak < MEMORY_CAP


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ("[", ""), ('{"a":', ""), ('{"#set":[', "]}"), ('{"a":"\\"","b":[', "]}")],
    ids=["closed", "open", "objects", "sets", "strings between"],
)
def test_nesting_of_100000_is_refused_in_bounded_memory(
    opening: str, closing: str, written: Callable[..., Path]
) -> None:
    count = 100_000 // max(1, len(opening) // 4)  # a line holds no more
    deep = opening * count + "1" + closing * count
    path = written(HEADER, INIT, '{"step":1,"action":"A","params":[],"state":{"x":' + deep + "}}")

    peak = peak_memory(lambda: refusal(path))

    assert refusal(path).line == 3
    assert "nested deeper" in refusal(path).reason
    assert peak < MEMORY_CAP


def test_a_header_nested_too_deep_is_refused(written: Callable[..., Path]) -> None:
    assert refusal(written("[" * 100_000)).line == 1


def test_brackets_inside_strings_do_not_count(written: Callable[..., Path]) -> None:
    brackets = "[{" * 1000 + '\\"[\\\\'
    path = written(HEADER, INIT.replace('{"x":0}', f'{{"x":"{brackets}"}}'))

    assert len(read_trace(path).events) == 1


def test_many_values_in_a_line_are_refused_in_bounded_memory(written: Callable[..., Path]) -> None:
    path = written(HEADER, INIT, STEP.replace('{"x":1}', '{"x":[' + "{}," * 340_000 + "1]}"))

    peak = peak_memory(lambda: refusal(path))

    assert "more than 100000 values" in refusal(path).reason
    assert peak < MEMORY_CAP


def test_the_number_of_events_and_bytes_is_limited(written: Callable[..., Path]) -> None:
    path = written(HEADER, INIT, STEP)

    assert refusal(path, Limits(events=1)).line == 3
    assert refusal(path, Limits(total_bytes=len(HEADER) + 10)).line == 2
    assert len(read_trace(path, Limits(events=2)).events) == 2


def test_a_gzip_bomb_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.ndjson.gz"
    with gzip.open(path, "wb") as file:
        file.write(f"{HEADER}\n{INIT}\n".encode())
        for step in range(1, 21):
            file.write(STEP.replace('"step":1', f'"step":{step}').encode() + b" " * 10**6 + b"\n")

    peak = peak_memory(lambda: refusal(path))

    assert "more than 100 times its size" in refusal(path).reason
    assert peak < MEMORY_CAP


def test_a_long_line_inside_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.ndjson.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(100):
            file.write(b"A" * 10**6)

    assert refusal(path).line == 1


def test_damaged_and_unsupported_compression_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress("\n".join([HEADER, INIT, STEP]).encode())
    path = tmp_path / "trace.ndjson.gz"
    for damaged in (
        whole[:-10],
        whole[:12] + b"\xff\xff" + whole[14:],
        whole[:-8] + bytes(8),
        whole + b"x",
    ):
        path.write_bytes(damaged)
        assert "the compressed data is damaged" in refusal(path).reason
    path.write_bytes(b"\x28\xb5\x2f\xfd....")
    assert "zstd is not supported" in refusal(path).reason


# ---- the writer refuses what the reader would ---------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        Event(step=1, action="A(b)", state={}),
        Event(step=1, action="A", state={"x y": 1}),
        Event(step=1, action="A", state={"x": "\ud800"}),
        Event(step=1, action="A", node="\ud800"),
        Event(step=1, action="A", state={"x": "a" * 2**20}),
        Event(step=1, action="A", params=tuple(range(100_001))),
    ],
    ids=["action", "variable", "string", "node", "length", "count"],
)
def test_an_event_that_could_not_be_read_is_not_written(event: Event) -> None:
    with pytest.raises(ValueFormatError):
        event_line(event)


def test_a_header_that_could_not_be_read_is_not_written() -> None:
    for header in (
        Header(spec="a b"),
        Header(spec="A", seed=2**64),
        Header(spec="A", spec_sha256="0"),
        Header(spec="A", constants={"c d": 1}),
        Header(spec="A", meta={"x": float("nan")}),
        Header(spec="A", meta={"x": "\ud800"}),
    ):
        with pytest.raises(ValueFormatError):
            header_line(header)
