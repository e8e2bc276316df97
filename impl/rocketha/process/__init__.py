"""Nodes as processes: real sockets, files and clocks around the cores.

| module | what |
|---|---|
| `event_loop` | one thread: listening sockets, connections, timers, an end |
| `packets` | whole packets out of what a connection hears |
"""
