"""Linearizability of keyed registers: is there an order of all operations that explains answers?

| module | what |
|---|---|
| `operation` | what clients did and saw, and what cannot be |
"""
