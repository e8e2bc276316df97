"""Linearizability of keyed registers: is there an order of all operations that explains answers?

| module | what |
|---|---|
| `operation` | what clients did and saw, and what cannot be |
| `checker` | a history against the promise: each key by itself, by one of the two next |
| `wing_gong` | the search of Wing, Gong and Lowe, for any operations of registers |
| `zones` | the zones of Gibbons and Korach, if no value is written twice |
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

__all__ = [
    "Exhausted",
    "Kind",
    "LinearizabilityVerdict",
    "Linearizable",
    "Method",
    "NotLinearizable",
    "Operation",
    "RegisterHistory",
    "Value",
    "check_linearizability",
]
