"""A whole group by hand: it registers, elects, replicates, acknowledges, expands and fails over."""

from __future__ import annotations

from rocketha.broker.effects import PutStatus
from rocketha.ha.state import Role
from tests.impl.broker.bench import running


def test_a_group_registers_elects_and_expands() -> None:
    bench = running(3)
    assert [r.id for r in bench.replicas] == [1, 2, 3]
    assert bench.group.master == 1
    assert bench.group.members == {1, 2, 3}
    assert [r.state.ha.role for r in bench.replicas] == [Role.MASTER, Role.SLAVE, Role.SLAVE]
    assert bench[1].state.local == bench.group.sync_state_set
    assert bench[1].state.pending is None


def test_a_message_is_acknowledged_when_all_have_it_and_consumers_see_it_then() -> None:
    bench = running(3)
    put = bench.put(1)
    assert bench.status(put) is None
    assert bench.pull(1) == b""
    bench.settle()
    assert bench.status(put) == PutStatus.PUT_OK
    log = bench[1].log
    assert bench.pull(1) == log.read(log.min_offset, log.max_phy_offset) != b""
    assert [bench.pull(n) for n in (2, 3)] == [None, None]
    assert len({r.log.read(log.min_offset, 4096) for r in bench.replicas}) == 1


def test_after_the_masters_death_another_is_master_and_has_all() -> None:
    bench = running(3)
    bench.put(1)
    bench.settle()
    bench.stop(1)
    bench.pass_time(times=20)
    bench.designate(2)
    bench.pass_time(times=20)
    assert bench.group.master == 2
    assert bench.group.members == {2, 3}
    put = bench.put(2)
    bench.settle()
    assert bench.status(put) == PutStatus.PUT_OK
    bench.start(1)
    bench.pass_time(times=20)
    assert bench.group.members == {1, 2, 3}
    assert len({r.log.read(bench[1].log.min_offset, 4096) for r in bench.replicas}) == 1
