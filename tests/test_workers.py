"""Tests of one group run on one worker: pytest-xdist sees its marks."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("workers")
def test_a_group_is_seen(request: pytest.FixtureRequest) -> None:
    by_groups = request.config.getoption("loadgroup", default=False)

    assert request.node.nodeid.endswith("@workers") == bool(by_groups)
