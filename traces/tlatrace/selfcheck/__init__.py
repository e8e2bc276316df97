"""Does the compiled model agree with TLC?

On what is written: whole labelled state graphs, values of expressions, and verdicts on corrupted
steps; the specifications and expressions are part of the package, so that an installation can check
itself. On what is drawn: steps of random specifications (`random_steps`), where TLC's own list of
successors judges the model, and what is ours in the judge of batches; values of random expressions
(`random_expressions`); the corrupted steps in processes that order sets otherwise (`hash_seeds`).
"""

from __future__ import annotations
