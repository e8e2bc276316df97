"""Ports that tests give to servers are nobody's, and stay so."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests import free_ports as free_ports_module
from tests.free_ports import free_port, free_ports

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_ports_are_given_once() -> None:
    given = [port for _ in range(20) for port in free_ports(3)]
    assert len(set(given)) == 60


def test_ports_stand_in_a_row() -> None:
    first, second, third = free_ports(3)
    assert (second, third) == (first + 1, first + 2)


def test_a_port_that_somebody_has_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        number = (port - free_ports_module._FIRST) % free_ports_module._BLOCK
        monkeypatch.setattr(free_ports_module, "_next", iter((number, number + 1)))
        assert free_port() != port


@pytest.mark.skipif(not _RANGE.exists(), reason="Linux says which ports it gives to who connects")
def test_no_port_is_one_that_the_system_gives_to_who_connects() -> None:
    first, last = map(int, _RANGE.read_text().split())
    own = free_ports_module._FIRST, free_ports_module._BLOCKS * free_ports_module._BLOCK
    assert own[0] + own[1] <= first or own[0] > last
