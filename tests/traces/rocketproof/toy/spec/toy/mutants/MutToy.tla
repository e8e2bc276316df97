------------------------------- MODULE MutToy --------------------------------
(* One operator a known bug. *)
EXTENDS MCToy

\* A slave appends whatever comes.
OffsetContinuesContinues(s, n) == TRUE
=============================================================================
