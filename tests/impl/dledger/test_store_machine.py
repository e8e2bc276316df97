"""A DLedger store beside a list, in any order of operations, ends and power cuts."""

from __future__ import annotations

import random
from collections import Counter
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rocketha.dledger.store import DLedgerStore
from rocketha.errors import PowerCutError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from tests.impl.dledger.store_model import (
    OPTIONS,
    Append,
    DeleteBefore,
    Keep,
    Life,
    Operation,
    Reset,
    Sync,
    Truncate,
    seen,
)

bodies = st.binary(max_size=12) | st.sampled_from((bytes(90), b"z" * 150, bytes(200)))
seeds = st.integers(0, 1 << 32)


class StoreMachine(RuleBasedStateMachine):
    """Performs operations on both; some run into a power cut."""

    done: ClassVar[Counter[str]] = Counter()

    @initialize()
    def begin(self) -> None:
        self.disk = MemoryDisk()
        self.life = Life()
        self.store = DLedgerStore.open(self.disk, OPTIONS)
        self.cut_at: int | None = None
        self.seed = 0
        self.perform(Keep(0))

    def perform(self, operation: Operation) -> None:
        """Do it; or let the power go off in the middle of it."""
        self.done[type(operation).__name__] += 1
        if self.cut_at is None:
            self.life.perform(self.store, (operation,))
            return
        disk = CutDisk(self.disk, cut_before=self.cut_at)
        self.cut_at = None
        # Recovery counts, too.
        try:
            store = DLedgerStore.open(disk, OPTIONS)
            self.life.log = seen(store)
            self.life.perform(store, (operation,))
        except PowerCutError:
            self.done["cut within"] += 1
        self.cut_power(self.seed)

    @rule(at=st.integers(0, 25), seed=seeds)
    def prepare_cut(self, at: int, seed: int) -> None:
        """Let the next operation run into a power cut, after a restart of the program."""
        self.cut_at, self.seed = at, seed

    @rule(
        some=st.lists(st.tuples(bodies, st.sampled_from(DLedgerEntryType)), min_size=1, max_size=6),
        newer=st.integers(0, 1),
        follower=st.booleans(),
    )
    def append(
        self, some: list[tuple[bytes, DLedgerEntryType]], newer: int, follower: bool
    ) -> None:
        term = max(0, self.life.log.end_term) + newer
        for body, kind in some:
            self.perform(Append(term, body, kind, follower=follower))

    @rule()
    def sync(self) -> None:
        self.perform(Sync())

    @rule(newer=st.integers(0, 3), vote=st.sampled_from((None, "n0", "n1")))
    def keep(self, newer: int, vote: str | None) -> None:
        kept = self.life.log.kept
        self.perform(Keep((kept.curr_term if kept else 0) + newer, vote))

    @precondition(lambda self: self.life.log.entries)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        log = self.life.log
        self.perform(Truncate(data.draw(st.integers(log.before[0] + 1, log.end))))

    @rule(some=st.lists(bodies, min_size=1, max_size=6), back=st.integers(0, 5))
    def append_and_truncate(self, some: list[bytes], back: int) -> None:
        """Let a follower write entries, and lose some of them to another leader."""
        term = max(0, self.life.log.end_term)
        for body in some:
            self.perform(Append(term, body, DLedgerEntryType.NORMAL, follower=True))
        log = self.life.log
        if log.entries:  # else a power cut took them
            self.perform(Truncate(max(log.before[0] + 1, log.end - back)))

    @precondition(lambda self: self.life.log.entries)
    @rule(data=st.data())
    def delete_before(self, data: st.DataObject) -> None:
        log = self.life.log
        self.perform(DeleteBefore(data.draw(st.integers(log.before[0] + 1, log.end))))

    @rule(index=st.integers(0, 40), newer=st.integers(0, 1))
    def reset(self, index: int, newer: int) -> None:
        self.perform(Reset(index, max(0, self.life.log.end_term) + newer))

    @rule()
    def restart(self) -> None:
        """The program ends, and the machine goes on."""
        self.reopen()

    @rule(seed=seeds)
    def cut_power(self, seed: int) -> None:
        cut = self.disk.power_cut(random.Random(seed))
        self.done["power cuts"] += 1
        self.done["torn"] += cut.torn > 0
        self.reopen()

    def reopen(self) -> None:
        self.store = DLedgerStore.open(self.disk, OPTIONS)
        found = seen(self.store)
        refusal = self.life.refusal(found)
        assert refusal is None, refusal
        self.life = Life(found)

    @invariant()
    def is_the_list(self) -> None:
        if hasattr(self, "life"):
            assert seen(self.store) == self.life.log


def test_a_store_is_a_list_that_loses_what_was_not_synchronized() -> None:
    StoreMachine.done.clear()
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=150,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    done = StoreMachine.done
    names = ("Append", "Sync", "Keep", "Truncate", "DeleteBefore", "Reset", "cut within", "torn")
    assert all(done[name] >= 20 for name in names), done
