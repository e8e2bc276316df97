"""Linearizability of keyed registers: is there an order of all operations that explains answers?

| module | what |
|---|---|
| `operation` | what clients did and saw, and what cannot be |
| `checker` | a history against the promise: each key by itself, by one of the two next |
| `wing_gong` | the search of Wing, Gong and Lowe, for any operations of registers |
| `zones` | the zones of Gibbons and Korach, if no value is written twice |
| `shrinking` | a smallest part of a history that is wrong |
| `timeline` | such a part, drawn |

Both ways are held against each other and against brute force on random histories, and the search
against the logs that Porcupine is tested with: `python -m benchmarks.linearizability --agree N`,
`python -m benchmarks.etcd_logs FOLDER`.
"""

from rocketha.histories.linearizability.checker import (
    Exhausted,
    LinearizabilityVerdict,
    Linearizable,
    Method,
    NotLinearizable,
    check_linearizability,
)
from rocketha.histories.linearizability.operation import Kind, Operation, RegisterHistory, Value
from rocketha.histories.linearizability.shrinking import Smallest, shrink
from rocketha.histories.linearizability.timeline import draw

__all__ = [
    "Exhausted",
    "Kind",
    "LinearizabilityVerdict",
    "Linearizable",
    "Method",
    "NotLinearizable",
    "Operation",
    "RegisterHistory",
    "Smallest",
    "Value",
    "check_linearizability",
    "draw",
    "shrink",
]
