"""Every command that a document prints is one, and those of the first documents do what they say.

README.md and the documents in `traces/` are followed by somebody who types their commands in the
project's folder. What needs much time is typed with less to do, and what cannot be typed here is
listed with the reason; for the documents of the protocols, that the commands exist is enough.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import click
import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from tests.documents import Command, commands, documents, fenced, loose_options
from tests.source_files import ROOT

FOLLOWED: Final = (
    "README.md",
    *sorted(
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "traces").glob("*.md")
        if path.name != "CI.md"  # test_ci_page.py runs it
    ),
    "traces/samples/README.md",
)

_MINUTES: Final = "takes minutes"
_FETCHES: Final = "fetches 90 MB by Maven"
_BROKERS: Final = "starts real brokers; tests/peers/rocketmq has toys of them"
_RUNS: Final = "takes runs of real brokers; tests/traces/rocketproof has it with recorded ones"
_CLUSTER: Final = "needs a cluster; tests/traces/corpus starts one on loopback"
LESS: Final = {
    "rocketproof corpus generate epoch_truncation --runs 2000 --out C": ("--runs 30", _MINUTES),
    "rocketproof corpus generate pre_online --runs 2000 --out D": ("--runs 30", _MINUTES),
    "rocketproof corpus validate C --engine tlc --sample 5000": ("--sample 200", _MINUTES),
    "rocketproof campaign replica_group --seeds 0..999": ("--seeds 0..2", _MINUTES),
    "rocketproof campaign replica_group --seeds 0..99 --config rocketmq": (
        "--seeds 0..2",
        _MINUTES,
    ),
    "rocketproof campaign lock_quorum --seeds 0..999": ("--seeds 0..3", _MINUTES),
    "rocketproof campaign lock_quorum --seeds 0..999 --config rocketmq": ("--seeds 0..3", _MINUTES),
    "rocketproof campaign escape --seeds 0..199 --config rocketmq": ("--seeds 0..2", _MINUTES),
    "rocketproof campaign snapshot_loading --seeds 0..999": ("--seeds 0..3", _MINUTES),
    "rocketproof campaign dledger --seeds 0..999": ("--seeds 0..3", _MINUTES),
    "rocketproof campaign register --seeds 0..999": ("--seeds 0..2", _MINUTES),
    "rocketproof campaign replica_group --controllers 3 --seeds 0..2999": (
        "--seeds 0..2",
        _MINUTES,
    ),
    "rocketproof mutants epoch_truncation": ("--bug B05", _MINUTES),
    "rocketproof mutants lock_quorum --records": (
        "--bug CountOnce",
        "takes minutes; tests/traces/rocketproof/test_records_of_protocols.py has known bugs",
    ),
    "rocketproof mutants PROTOCOL": ("--bug B05 --no-runs", "stands for any protocol"),
    "rocketproof rings --weekly --engine native": (
        "--only lock_quorum/three --only lock_quorum/RefusedStops",
        _MINUTES,
    ),
    "rocketproof prove": ("ConsistentPoint --entries 2", "z3 takes half a minute of CPU for all"),
    "rocketproof selfcheck": ("--only hostile --cases 20", _MINUTES),
}
"""command -> (options that are added, why): the last of two equal options counts."""

NOT_TYPED: Final = {
    "make demo": "installs all packages; `rocketproof demo` is a test of its own",
    "make test": "is what runs this test",
    "rocketproof selfcheck --only random-steps --steps 200000": (
        "takes an hour; the tests of selfcheck take a few of these steps"
    ),
    "rocketproof demo --runs 150": "is a test of its own, which compares what is printed",
    "rocketproof mutate-implementation lock_quorum --sample 40 --seed 1": (
        "takes minutes; tests/traces/rocketproof/test_implementation_mutation.py has it"
    ),
    "rocketproof rings --push --budget 600": "takes minutes; CI runs it by `make rings`",
    "rocketproof rings --weekly": "takes hours",
    "rocketproof peer rocketmq doctor": "asks what is on the machine; tests/peers/rocketmq has it",
    "rocketproof peer rocketmq fetch": _FETCHES,
    "rocketproof peer rocketmq fetch --version 5.5.0": _FETCHES,
    "rocketproof peer rocketmq run truncation --version 5.3.3": _BROKERS,
    "rocketproof peer rocketmq name-server --version 5.3.3": _BROKERS,
    "rocketproof peer rocketmq run early_shrink --version 5.5.0": _BROKERS,
    "rocketproof peer rocketmq hunt --seeds 0..99 --hours 2 --out H": _BROKERS,
    "rocketproof peer rocketmq ledger RUN...": _RUNS,
    "rocketproof peer rocketmq report W2 RUN...": _RUNS,
    "rocketproof corpus validate C --master spark://HOST:7077": _CLUSTER,
    "rocketproof corpus validate C --master spark://HOST:7077 "
    "--spark-conf spark.executor.memory=4g": _CLUSTER,
    "python -m benchmarks.long_partial_traces": _MINUTES,
    "python -m benchmarks.symmetric_search": _MINUTES,
    "python -m benchmarks.hidden_parts": _MINUTES,
    "python -m benchmarks.records 40 lock_quorum": "half a minute of CPU",
}
"""command -> why it is only looked up."""

PLACEHOLDERS: Final = {"N": "1", "PROTOCOL": "epoch_truncation", "<protocol>": "epoch_truncation"}
_WRITES: Final = frozenset({"--out", "--write-baseline", "--history", "--records"})

ALL: Final = [command for document in documents() for command in commands(document)]
TYPED: Final = [
    command for command in ALL if command.document in FOLLOWED and command.shown not in NOT_TYPED
]


def leading(command: Command) -> tuple[click.Command, list[str], list[str]]:
    """Find what a command line calls: the click command, its names, the words behind them."""
    found: click.Command = main
    words = [PLACEHOLDERS.get(word, word) for word in command.words]
    names = ["rocketproof"]
    while isinstance(found, click.Group) and words:
        below = found.get_command(click.Context(found), words[0])
        assert below is not None, f"{command}: there is no command {words[0]}"
        names.append(words.pop(0))
        found = below
    return found, names, words


def is_mention(command: Command) -> bool:
    """Tell whether a document only names a command which needs more than that."""
    found, _, words = leading(command)
    needs = isinstance(found, click.Group) or any(one.required for one in found.params)
    return not words and needs


def check_rocketproof(command: Command) -> None:
    found, names, words = leading(command)
    if is_mention(command):
        return
    if names[-1] == "shrink":  # B stands for a switch there
        words = [re.sub("^B$", "B14", word) for word in words]
    try:
        found.make_context(" ".join(names), words)
    except click.UsageError as error:
        if "does not exist" not in error.format_message():  # a file of the reader's
            pytest.fail(f"{command}: {error.format_message()}")


def check_make(command: Command) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in command.words:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{command}: no such target"


def check_python(command: Command) -> None:
    module = command.words[0]
    assert importlib.util.find_spec(module) is not None, f"{command}: there is no {module}"


CHECKS: Final = {"rocketproof": check_rocketproof, "make": check_make, "python": check_python}


@pytest.mark.parametrize("document", sorted({command.document for command in ALL}))
def test_every_command_of_a_document_exists(document: str) -> None:
    for command in commands(document):
        CHECKS[command.program](command)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rocketproof validate run.ndjson --speck My.tla", "No such option"),
        ("rocketproof validat run.ndjson", "there is no command validat"),
        ("rocketproof campaign replica_group", "Missing option"),
        ("rocketproof corpus validate C --sample many", "Invalid value"),
        ("make everything", "no such target"),
        ("python -m benchmarks.nothing", "there is no benchmarks.nothing"),
    ],
)
def test_a_command_that_is_none_is_seen(text: str, said: str) -> None:
    command = Command("README.md", 1, text)
    with pytest.raises((AssertionError, pytest.fail.Exception), match=said):
        CHECKS[command.program](command)


def options(command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            below = command.get_command(click.Context(command), name)
            assert below is not None
            yield from options(below)
    for parameter in command.params:
        yield from parameter.opts


@pytest.mark.parametrize("document", FOLLOWED)
def test_every_option_that_a_document_names_is_one(document: str) -> None:
    assert loose_options(document) <= set(options(main))


def tables(document: str) -> list[list[str]]:
    """Give the rows of each table of a document, without its head."""
    text = (ROOT / document).read_text("utf-8")
    found = re.findall(r"^\|.*\n\|(?:-+\|)+\n((?:\|.*\n)*)", text, re.MULTILINE)
    return [rows.splitlines() for rows in found]


def test_the_readme_has_ten_commands_and_the_rest_a_page() -> None:
    shown, *_ = [rows for rows in tables("README.md") if any("`rocketproof" in row for row in rows)]
    assert 5 <= len(shown) <= 10
    assert "](traces/COMMANDS.md)" in (ROOT / "README.md").read_text("utf-8")
    said = {*commands("README.md"), *commands("traces/COMMANDS.md")}
    named = {leading(one)[1][1] for one in said if one.program == "rocketproof"}
    assert set(main.commands) <= named, "a command is on neither page"


def test_what_is_listed_here_is_in_the_documents() -> None:
    shown = {command.shown for command in ALL if command.document in FOLLOWED}
    assert set(LESS) | set(NOT_TYPED) <= shown
    assert not set(LESS) & set(NOT_TYPED)
    assert len(TYPED) > 40
    assert {"README.md", "traces/MAPPING.md"} <= {command.document for command in TYPED}


def test_long_campaigns_are_typed_with_fewer_seeds() -> None:
    long = {
        command.shown
        for command in TYPED
        if "campaign" in command.words and re.search(r"--seeds 0\.\.\d\d", command.shown)
    }
    assert long
    assert long <= set(LESS), "each would take minutes, in every run of the tests"


@dataclass(slots=True)
class Follower:
    """Somebody who types what a document says, in a folder that looks like the project's."""

    document: str
    folder: Path
    results: dict[str, Result] = field(default_factory=dict)

    def type(self, command: Command) -> Result:
        """Run a command, and before it those that write what it reads; each one once."""
        if command.shown not in self.results:
            for earlier in self._before(command):
                self.type(earlier)
            added, _ = LESS.get(command.shown, ("", ""))
            words = [PLACEHOLDERS.get(word, word) for word in command.words] + added.split()
            self.results[command.shown] = CliRunner().invoke(main, words)
        return self.results[command.shown]

    def _before(self, command: Command) -> Iterator[Command]:
        """Give the commands of the document whose files this one needs and does not have."""
        needed = {word.partition("/")[0] for word in command.words} - _written(command)
        for other in commands(self.document):
            if other == command:
                return
            for name in _written(other) & needed:
                if not (self.folder / name).exists():
                    yield other


def _written(command: Command) -> set[str]:
    words = command.words
    return {after for word, after in pairwise(words) if word in _WRITES}


MINE: Final = """\
{"format":"rocketproof-trace","version":1,"spec":"My","constants":{}}
{"step":0,"action":"Init","params":[],"state":{"holder":"Nobody","queue":[],"token":0}}
{"step":1,"action":"Request","params":["c1"],"state":{"holder":"Nobody","queue":["c1"],"token":0}}
{"step":2,"action":"Grant","params":["c1"],"state":{"holder":"c1","queue":[],"token":1}}
"""
"""What README.md calls your trace: one of My.tla, which is the lock server under another name."""


@pytest.fixture(scope="module")
def followers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Follower]:
    """Prepare a folder for each document: the project's folders, and somebody's own files."""
    found = {}
    for document in FOLLOWED:
        folder = tmp_path_factory.mktemp(Path(document).stem)
        for name in ("spec", "traces"):
            (folder / name).symlink_to(ROOT / name, target_is_directory=True)
        for path in (ROOT / "traces" / "samples" / "lock_server").iterdir():
            text = path.read_text("utf-8")
            (folder / path.name).write_text(text)
            if path.stem.lower().replace("_", "") == "lockserver":
                mine = text.replace("LockServer", "My").replace("token + 1", "(token + 1) % 5")
                (folder / f"My{path.suffix}").write_text(mine)  # has finitely many states
        (folder / "my.ndjson").write_text(MINE)
        (folder / "DIR").mkdir()
        found[document] = Follower(document, folder)
    return found


ONE_WORKER: Final = pytest.mark.xdist_group("documents")  # what a command writes, others read


@pytest.mark.java
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            one, id=str(one), marks=pytest.mark.spark if "spark" in one.words else ONE_WORKER
        )
        for one in TYPED
        if one.program == "rocketproof" and not is_mention(one)
    ],
)
def test_a_command_ends_as_its_document_says(
    command: Command,
    followers: dict[str, Follower],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if "spark" in command.words:
        request.getfixturevalue("spark")  # started here, not in the folder
    follower = followers[command.document]
    monkeypatch.chdir(follower.folder)

    result = follower.type(command)

    assert result.exit_code == command.exit_code, result.output


def pattern(line: str) -> re.Pattern[str]:
    """Read a line of shown output: `...` stands for what is left out."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in line.split("...")]
    return re.compile(".*".join(parts))


@pytest.mark.java
@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_demo_prints_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spec").symlink_to(ROOT / "spec", target_is_directory=True)
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(main, ["demo", "--runs", "150", "--out", "D"])

    assert result.exit_code == 0, result.output
    printed = [re.sub("[│┃]", " ", line) for line in result.output.splitlines()]
    at = 0
    shown = [line for line in fenced("README.md", "## What `make demo` shows").splitlines() if line]
    assert len(shown) > 10
    for line in shown:
        found = [n for n in range(at, len(printed)) if pattern(line).search(printed[n])]
        assert found, f"{line!r} is not printed behind line {at}:\n{result.output}"
        at = found[0] + 1
    assert (tmp_path / "D" / "report.html").exists()
