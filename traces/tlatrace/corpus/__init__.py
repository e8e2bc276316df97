"""Corpora: many traces as Parquet, made and judged in processes or in Spark tasks.

The modules, in the order in which rows pass through them:

* `schema` and `manifest`: what a corpus is on disk; `writer`: one part of it.
* `generate`: runs a function per seed (or reads a file per trace) and writes the parts. `writers`
  keep traces of different constants apart, `finished` makes a corpus of each set, `corpora` is the
  folder of them, and `sums` adds up what was found in them.
* `kernel`: judges sorted steps with a checker; knows Arrow batches, and no engine. `checker` is
  what it asks of a model, `findings` what it says; `fingerprint`, `memo` and `sketch` are parts.
* `local` and `on_spark`: the drivers, which bring all steps to kernels; `worker` is what they
  share.
* `store`: what earlier runs have accepted.
* `recheck`: TLC's word on a sample and on all that was rejected.
* `verdicts` and `validate`: from findings to a verdict for every trace, with the accounting.
* `result`: what came out, for reports.

`session`, `progress` and `on_spark` import pyspark; nothing is imported here, so that `result` and
`manifest` cost nothing.
"""
