"""Nodes as processes: real sockets, files and clocks around the cores.

| module | what |
|---|---|
| `command_line` | what processes but the broker's begin and end with |
| `settings` | what a file of a broker or name server says, setting by setting |
| `event_loop` | one thread: listening sockets, connections, timers, an end |
| `packets` | whole packets out of what a connection hears |
| `controller` | a controller: `python -m rocketha.process.controller -c CONFIGURATION` |
| `controller_group` | one that is a member of a DLedger group, started in the same way |
| `controller_configuration`, `controller_records` | its file, and what it writes of its steps |
| `name_server` | a name server: `python -m rocketha.process.name_server -c CONFIGURATION` |
| `name_server_configuration` | its file, one of RocketMQ's |
| `embedded_controller` | a controller in the process of a name server |
| `server_links` | the connections of a controller or name server with brokers and tools |
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
