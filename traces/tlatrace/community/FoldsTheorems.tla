---------------------------- MODULE FoldsTheorems ----------------------------
(* The names of theorems on the module Folds, for modules that hold proofs:   *)
(* nothing is proved or evaluated here.                                       *)
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
==============================================================================
