"""How tests run together: those of a module on one worker, and no test by the clock."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tlatrace.corpus.session import SparkSession

settings.register_profile("rocketproof", deadline=None, print_blob=True)
settings.load_profile("rocketproof")  # the machine is never quiet: time says nothing of a test
os.environ.pop("COLUMNS", None)  # pytest-xdist tells its workers 80; what they print is a log


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that share something in one group, which runs on one worker.

    All Spark tests share a session, which takes ten seconds to start, and those of a module its
    fixtures and what it caches: simulated runs for the most part.
    """
    for item in items:
        if item.get_closest_marker("spark") is not None:
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def pytest_collection_finish() -> None:
    """Look for garbage seldom, and not among what has been imported: it takes a tenth of the time.

    Simulated runs and sets of states make many objects at once, and hardly any garbage in circles.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session, which takes ten seconds to start; commands that open one get this one.

    It is the first of its process, so that workers start here, where `tests` can be imported.
    """
    from tlatrace.corpus.session import open_session

    with open_session(2, name="tests") as session:
        yield session
