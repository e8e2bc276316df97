"""Nodes as processes: real sockets, files and clocks around the cores.

| module | what |
|---|---|
| `command_line` | what the processes of a controller and of a DLedger node begin and end with |
| `event_loop` | one thread: listening sockets, connections, timers, an end |
| `packets` | whole packets out of what a connection hears |
| `controller` | a controller: `python -m rocketha.process.controller -c CONFIGURATION` |
| `controller_group` | one that is a member of a DLedger group, started in the same way |
| `controller_configuration`, `controller_records` | its file, and what it writes of its steps |
| `controller_links` | its connections with brokers and tools |
| `broker` | a broker of a group: `python -m rocketha.process.broker -c CONFIGURATION` |
| `broker_configuration` | its file, one of RocketMQ's |
| `replication_sockets`, `node_timers` | its ports: connections of replication, what wakes it |
| `rocketmq_master` | what a master of RocketMQ says otherwise than ours |
| `controller_channel`, `controller_channels`, `name_server_channel` | whom it registers with |
| `client_service`, `queue_index` | its producers and consumers, and where their messages are |
| `dledger` | a node of a DLedger group: `python -m rocketha.process.dledger -c CONFIGURATION` |
| `dledger_configuration`, `dledger_remoting` | its file, and its port: requests over sockets |
| `store_lock` | keeps other processes from a node's files |
| `calls` | a question to another process, and its answer |
| `clock` | the time of a process |
"""
