"""Ratios against a named baseline, measured in the same run: `make bench`.

Each benchmark prints its medians and one ratio. The machine is never quiet, so only ratios travel.
"""

from __future__ import annotations

from benchmarks import batched_validation, record_decoding

if __name__ == "__main__":
    record_decoding.main()
    batched_validation.main()
