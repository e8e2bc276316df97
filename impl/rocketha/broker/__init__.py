"""A broker of a group with a controller: identity, role, SyncStateSet, producers and consumers.

It is built around `rocketha.ha`, the replication of its log, and tells it what the controller says.

| module | what |
|---|---|
| `options`, `state` | settings, and what a broker keeps in memory |
| `events`, `effects` | what happens to it, and what it does |
| `core` | `step`: one event in, the next state, effects and at most one action out |
"""
