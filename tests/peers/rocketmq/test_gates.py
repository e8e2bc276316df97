"""Where threads of brokers wait: the files that the agent looks at."""

from __future__ import annotations

from pathlib import Path

from rocketmq_peer.gates import PROPOSE, Gates


def test_a_gate_is_a_file_as_long_as_it_is_shut(tmp_path: Path) -> None:
    gates = Gates(tmp_path / "gates")
    gates.open("b1", PROPOSE)
    gates.shut("b1", PROPOSE)
    assert [one.name for one in gates.of("b1").iterdir()] == [PROPOSE]
    assert not list(gates.of("b2").iterdir())
    gates.open("b1", PROPOSE)
    assert not list(gates.of("b1").iterdir())


def test_who_waits_says_so_until_a_gate_is_shut_again(tmp_path: Path) -> None:
    gates = Gates(tmp_path)
    gates.shut("b1", PROPOSE)
    assert not gates.is_reached("b1", PROPOSE)
    (gates.of("b1") / f"{PROPOSE}.reached").touch()
    assert gates.is_reached("b1", PROPOSE)
    gates.open("b1", PROPOSE)
    assert gates.is_reached("b1", PROPOSE)
    gates.shut("b1", PROPOSE)
    assert not gates.is_reached("b1", PROPOSE)
