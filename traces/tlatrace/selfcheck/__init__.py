"""Does the compiled model agree with TLC?

Three comparisons: whole labelled state graphs, values of constant expressions, and verdicts on
corrupted steps. The specifications and expressions are part of the package, so that an installation
can check itself.
"""

from __future__ import annotations
