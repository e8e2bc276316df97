"""Histories: what clients saw of a cluster or a node, and whether it was promised.

| module | what |
|---|---|
| `history` | the calls, and the logs of the masters |
| `jsonl` | histories as files |
| `checker` | what a group promises its clients, and whether a history keeps it |
| `ordered` | what consumers that keep the order of messages are promised |
| `registers` | what a node with registers, a log and snapshots promises to its readers |
| `linearizability` | what registers promise to all their clients together |
| `replicas` | what replication promises to whoever reads the replicas, and to producers |
| `acting_master` | what clients of groups whose slaves act are promised, of all kinds |
| `clients` | the clients of any protocol: something to check, and bytes to compare |
| `verdicts` | what is said of them |
"""

from rocketha.histories.checker import Kept, Verdict, check_history
from rocketha.histories.history import (
    BecameMaster,
    ElectionHeld,
    FinalLog,
    History,
    HistoryEvent,
    LoggedMessage,
    Outcome,
    Promises,
    Put,
    Seen,
)
from rocketha.histories.jsonl import read_history, write_history
from rocketha.histories.verdicts import AllKept, AnyVerdict, Broken, Undecided

__all__ = [
    "AllKept",
    "AnyVerdict",
    "BecameMaster",
    "Broken",
    "ElectionHeld",
    "FinalLog",
    "History",
    "HistoryEvent",
    "Kept",
    "LoggedMessage",
    "Outcome",
    "Promises",
    "Put",
    "Seen",
    "Undecided",
    "Verdict",
    "check_history",
    "read_history",
    "write_history",
]
