"""Ratios against a named baseline, measured in the same run: `make bench`.

Each benchmark prints its medians and one ratio. The machine is never quiet, so only ratios travel.
"""

from __future__ import annotations

from benchmarks import (
    batched_validation,
    compiled_validation,
    controller_group,
    controller_restart,
    corpus_drivers,
    dledger_store,
    generation,
    linearizability,
    long_partial_traces,
    machine_code,
    name_server,
    name_server_process,
    native_search,
    record_decoding,
    records,
    symmetric_search,
)

if __name__ == "__main__":
    record_decoding.main()
    batched_validation.main()
    compiled_validation.main()
    generation.main()
    corpus_drivers.main()
    machine_code.main()
    long_partial_traces.main()
    symmetric_search.main()
    native_search.main()
    name_server.main()
    name_server_process.main()
    controller_restart.main()
    controller_group.main()
    records.main()
    linearizability.main()
    dledger_store.main()
