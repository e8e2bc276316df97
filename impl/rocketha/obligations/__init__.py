"""Obligations: what must have happened by some time in a run, read from what its nodes wrote.

A specification says which steps are allowed, and a node that takes none breaks none of it. What a
node owes is a deadline: a request that it received is answered within a time, a connection that is
silent is closed, a member that nobody hears is evicted.

| module | what |
|---|---|
| `obligation` | an obligation, what is due of it in a run, and what was missed |
| `requests` | whoever received a request answers it |

A protocol's obligations are in the module of its name, and its `SIMULATION` lists them.
"""
