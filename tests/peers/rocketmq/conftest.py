"""What tests of several modules have in the place of Java."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rocketmq_peer.jars import PeerJars
from rocketmq_peer.toolchain import Jdk
from tests.peers.rocketmq import toy_java
from tests.source_files import ROOT, SOURCE_ROOTS


@pytest.fixture
def toy_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PeerJars:
    """A JDK whose `java` is a script."""
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f'#!/bin/sh\nexec {sys.executable} {toy_java.__file__} "$@"\n')
    java.chmod(0o755)
    paths = ":".join(str(path) for path in (*SOURCE_ROOTS, ROOT))
    monkeypatch.setenv("PYTHONPATH", paths)
    return PeerJars("5.3.3", tmp_path / "jars", Jdk(tmp_path / "jdk", "17"))
