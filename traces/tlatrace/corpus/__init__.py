"""Corpora: many traces as Parquet, made and judged in Spark tasks.

The modules, in the order in which rows pass through them:

* `schema` and `manifest`: what a corpus is on disk.
* `generate`: runs a function per seed (or reads a file per trace) and writes the corpus.
* `scan`: pairs each state with the one before it; `judging` asks a judge about the distinct pairs.
  Both are kernels over Arrow batches and know nothing of Spark.
* `validate`: the Spark plan that joins them, and the verdict of every trace.
* `result`: what came out, for reports.

`session`, `progress`, `generate` and `validate` import pyspark; nothing is imported here, so that
`result` and `manifest` cost nothing.
"""
