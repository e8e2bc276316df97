---------------------------- MODULE FalsePreOnline ----------------------------
(* The inductive invariant beside the operators of real bugs: with one of those in the place of the
   right one, some step does not keep it, or is not what is promised of steps.                   *)
EXTENDS InductivePreOnline, MutPreOnline
=============================================================================
