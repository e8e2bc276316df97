"""Nodes as processes: real sockets, files and clocks around the cores.

| module | what |
|---|---|
| `event_loop` | one thread: listening sockets, connections, timers, an end |
| `packets` | whole packets out of what a connection hears |
| `controller` | a controller: `python -m rocketha.process.controller -c CONFIGURATION` |
| `controller_configuration`, `controller_records` | its file, and what it writes of its steps |
| `clock` | the time of a process |
"""
