------------------------ MODULE FalseSnapshotLoading ------------------------
(* The inductive invariant beside the operators of real bugs: with some of those in the place of the
   right ones, some step does not keep it.                                                       *)
EXTENDS InductiveSnapshotLoading, MutSnapshotLoading
=============================================================================
