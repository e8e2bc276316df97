"""Histories: what producers and consumers saw of a broker group, and whether it was promised.

| module | what |
|---|---|
| `history` | the calls, and the logs of the masters |
| `jsonl` | histories as files |
| `checker` | what a group promises its clients, and whether a history keeps it |
| `ordered` | what consumers that keep the order of messages are promised |
"""

from rocketha.histories.checker import Broken, Kept, Undecided, Verdict, check_history
from rocketha.histories.history import (
    ElectionHeld,
    FinalLog,
    History,
    HistoryEvent,
    LoggedMessage,
    Outcome,
    Promises,
    Put,
    Reign,
    Seen,
)
from rocketha.histories.jsonl import read_history, write_history

__all__ = [
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
    "Reign",
    "Seen",
    "Undecided",
    "Verdict",
    "check_history",
    "read_history",
    "write_history",
]
