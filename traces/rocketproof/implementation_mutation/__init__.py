"""Small mutations of the cores, and what of them runs notice.

| module | what |
|---|---|
| `mutation` | a mutation: where it is, its text before and after, its stable name, its diff |
| `source_text` | a module's text, by the places of its syntax tree |
| `operators` | all mutations of a module: comparisons, guards, constants, stale fields, resets |
| `effects` | which calls make effects, and the mutations that drop or swap them |
| `sampling` | a reproducible draw of mutations of a protocol's cores |
| `equivalents` | mutations that are known to change nothing, with the reason for each |
| `type_check` | which mutations are no program, for those who check types |
| `run_task` | what a process is asked that runs one mutation, and what it answers |
| `limits` | how much a run may use |
| `line_watch` | which runs come to the lines of a mutation |
| `child` | what a process does that runs one mutation; it imports rocketha when it is mutated |
| `examination` | the runs of one mutation, and which of the columns reject it |
| `measure` | the processes of a sample, and their results |
| `rates` | kill rates with their intervals |
| `report` | the text and the JSON of a measurement |

No library does it: mutmut and cosmic-ray (both alive and free, the latter without types) know the
operators of Python only, not effects, `replace` or fsync. They ask a test suite, by pytest or by a
shell; here the question is which judge of a run says no.
"""
