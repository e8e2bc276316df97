"""The groups of which interoperation is examined go through their course; without Java."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketha.formats.remoting_command import Serialization
from rocketmq_peer import interop_groups, jars
from rocketmq_peer.configuration import ControllerKind
from rocketmq_peer.errors import PeerError, ProcessError
from rocketmq_peer.interop_groups import InteropKind, run_interop_group
from rocketmq_peer.jars import PeerJars
from rocketmq_peer.toolchain import Jdk
from rocketproof.cli import main
from tests.peers.rocketmq import toy_java
from tests.source_files import ROOT, SOURCE_ROOTS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def toy_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PeerJars:
    """A JDK whose `java` is a script."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f'#!/bin/sh\nexec {sys.executable} {toy_java.__file__} "$@"\n')
    java.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", ":".join(str(path) for path in (*SOURCE_ROOTS, ROOT)))
    monkeypatch.setattr(interop_groups, "_MESSAGES", 2)
    monkeypatch.setattr(interop_groups, "_LATE_S", 5.0)
    monkeypatch.setattr(interop_groups, "_PACE_S", 1.0)
    return PeerJars("5.3.3", tmp_path / "jars", Jdk(tmp_path / "jdk", "17"))


def done(run: Path) -> list[str]:
    lines = (run / "harness.ndjson").read_text().splitlines()
    said = [f"{line['do']} {line['node']}" for line in map(json.loads, lines)]
    return [one for one in said if one.partition(" ")[0] in ("start", "kill")]


COURSES = {
    InteropKind.FAILOVER: ["start b1", "start b2", "kill b1", "start b1"],
    InteropKind.CONTROLLERS: [
        *("start b1", "start b2", "kill c3", "start c3", "kill b1", "start b1"),
    ],
    InteropKind.LEGACY: ["start b1", "start b2", "kill b2", "start b2"],
}
FIRST = {
    InteropKind.FAILOVER: ["start namesrv", "start c1"],
    InteropKind.CONTROLLERS: ["start namesrv", "start c1", "start c2", "start c3"],
    InteropKind.LEGACY: ["start namesrv"],
}


@pytest.mark.parametrize("kind", list(InteropKind))
def test_a_group_goes_through_its_course(
    tmp_path: Path, toy_jars: PeerJars, kind: InteropKind
) -> None:
    run = tmp_path / "run"

    run_interop_group(run, toy_jars, kind, headers=Serialization.ROCKETMQ, quiet_s=0)

    course = [*FIRST[kind], *COURSES[kind]]
    assert done(run)[: len(course)] == course
    assert len((run / "clients.ndjson").read_text().splitlines()) == 3 * 2
    assert (run / "wire.ndjson").is_file()
    assert not list((run / "records").iterdir())
    conf = [(run / "nodes" / name / "node.conf").read_text() for name in ("b1", "b2")]
    assert all("enabledAppendPropCRC=true\n" in text for text in conf)
    roles = ["SYNC_MASTER", "SLAVE"] if kind is InteropKind.LEGACY else ["SLAVE", "SLAVE"]
    assert all(f"brokerRole={role}\n" in text for role, text in zip(roles, conf, strict=True))
    mode = "false" if kind is InteropKind.LEGACY else "true"
    assert all(f"enableControllerMode={mode}\n" in text for text in conf)


def test_one_broker_is_too_few(tmp_path: Path, toy_jars: PeerJars) -> None:
    with pytest.raises(PeerError, match="1 brokers: whoever is killed must leave one"):
        run_interop_group(tmp_path / "run", toy_jars, InteropKind.FAILOVER, brokers=1)


def test_a_client_whom_nobody_acknowledges_anything_ends_the_run(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interop_groups, "_LATE_S", 0.5)
    monkeypatch.setattr(interop_groups, "_TOPIC", "lost")
    with pytest.raises(ProcessError, match="no message was acknowledged in 0 s"):
        run_interop_group(tmp_path / "run", toy_jars, InteropKind.LEGACY, quiet_s=0)


def test_the_command_runs_a_group(
    tmp_path: Path, toy_jars: PeerJars, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[object, ...]] = []
    monkeypatch.setattr(jars, "find_jars", lambda version: (version, toy_jars))
    monkeypatch.setattr(
        interop_groups,
        "run_interop_group",
        lambda *words, **options: ran.append((*words, *options.values())),
    )
    words = ["peer", "rocketmq", "interop-run", str(tmp_path / "run"), "--version", "5.3.3"]

    told = CliRunner().invoke(main, words)
    assert (told.exit_code, told.output) == (
        0,
        f"{tmp_path / 'run'}: RocketMQ 5.3.3, failover: 0 s\n",
    )
    more = [
        "--kind",
        "controllers",
        "--brokers",
        "3",
        "--headers",
        "rocketmq",
        "--controller",
        "jRaft",
    ]
    assert CliRunner().invoke(main, [*words, *more]).exit_code == 0

    found = ("5.3.3", toy_jars)
    assert ran == [
        (
            tmp_path / "run",
            found,
            InteropKind.FAILOVER,
            2,
            Serialization.JSON,
            ControllerKind.DLEDGER,
        ),
        (
            tmp_path / "run",
            found,
            InteropKind.CONTROLLERS,
            3,
            Serialization.ROCKETMQ,
            ControllerKind.JRAFT,
        ),
    ]
