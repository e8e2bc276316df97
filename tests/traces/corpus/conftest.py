"""One Spark session for all tests of a run: it takes ten seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tlatrace.corpus.session import SparkSession, open_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session; commands that open one inside a test get this one."""
    with open_session(2, name="tests") as session:
        yield session
