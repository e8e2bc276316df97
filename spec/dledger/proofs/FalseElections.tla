---------------------------- MODULE FalseElections ----------------------------
(* The inductive invariant beside the operators of bugs: with one of those in the place of the right
   one, some step does not keep it.                                                              *)
EXTENDS InductiveElections, MutDLedger
=============================================================================
