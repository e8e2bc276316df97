"""RocketMQ's bytes: what travels between replicas and what lies on their disks.

| what                                       | module                                              |
|--------------------------------------------|-----------------------------------------------------|
| `commitlog/`, its records and segments     | `message`, `segment`                                |
| `checkpoint`                               | `store_checkpoint`                                  |
| `epochFileCheckpoint`                      | `epoch_file`                                        |
| `brokerIdentity`, `brokerIdentity-temp`    | `rocketha.storage.identity_store`                   |
| a controller's snapshot                    | `controller_snapshot`                               |
| replication with a controller, and without | `ha_packets`, `legacy_ha_packets`, `packet_stream`  |
| remoting frames                            | `remoting_command`, `remoting_frame`,               |
|                                            | `remoting_header`, `ext_fields`, `json_text`        |
| the controller's requests and answers      | `controller_requests`, `controller_responses`,      |
|                                            | `controller_request_codec`, `controller_bodies`,    |
|                                            | `controller_codes`                                  |
| members of a group                         | `broker_member_group`                               |
| what a broker answers of its epochs        | `epoch_entry_cache`                                 |
| what clients and slaves ask of a broker,   | `broker_requests`                                   |
| and it of a name server                    |                                                     |
| a name server's requests, answers, notice  | `name_server_requests`, `name_server_codec`,        |
|                                            | `name_server_bodies`, `register_broker_body`,       |
|                                            | `name_server_codes`, `fastjson_text`                |
| locks on queues                            | `lock_bodies`                                       |
| DLedger: entries and their checksums,      | `dledger_entry`, `dledger_data_file`,               |
| `data/`, `index/`                          | `dledger_index_file`                                |
| DLedger: `currterm`, `checkpoint`,         | `dledger_term_file`, `dledger_checkpoint`,          |
| `snapshot/`                                | `dledger_lines`, `dledger_snapshot`                 |
| DLedger: requests and answers              | `dledger_requests`, `dledger_request_codec`,        |
|                                            | `dledger_entry_json`, `dledger_codes`               |
| tables of offsets, between brokers and     | `offset_tables`                                     |
| `consumerOffset.json`, `delayOffset.json`  |                                                     |
| where a master replicates                  | `ha_info`                                           |
| what is not to be seen yet, or not again   | `due_messages`                                      |
| pops: check points and ACKs                | `pop_messages`                                      |
| puts into other masters, transactions,     | `put_requests`                                      |
| what consumers pop                         |                                                     |
| settings of servers                        | `properties`                                        |

Each has its byte tables, or its names, at its top.
"""
