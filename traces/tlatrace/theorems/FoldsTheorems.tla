---- MODULE FoldsTheorems ----
\* The names that proofs cite: nothing is claimed here, and no model checker looks at them.
EXTENDS Folds, FiniteSets

THEOREM MapThenFoldSetDef == TRUE
THEOREM MapThenFoldSetEmpty == TRUE
THEOREM MapThenFoldSetNonempty == TRUE
THEOREM MapThenFoldSetBijection == TRUE
THEOREM MapThenFoldSetEqual == TRUE
THEOREM MapThenFoldSetType == TRUE
THEOREM MapThenFoldSetAC == TRUE
THEOREM MapThenFoldSetACAddElement == TRUE
THEOREM MapThenFoldSetDisjointUnion == TRUE
====
