"""The controller: who is master of each broker group, and who has every acknowledged message.

| module | what |
|---|---|
| `state` | what a controller knows |
| `entry` | what changes it: the entries of its log, and their bytes |
| `machine` | `apply`: one entry in, the next state, an answer, events and effects out |
| `liveness`, `registration`, `sync_state_set`, `election`, `cleaning` | the rules for each entry |
| `queries` | what is answered from the state alone |
| `dispatch` | a frame in, a frame out or "close" |
| `node` | a controller on a disk: its log and snapshots are `rocketha.replicated_log` |
| `host` | what runs it: events in, effects performed through ports |
| `dledger_controller` | a member of a controller group: DLedger node and controller |
"""
