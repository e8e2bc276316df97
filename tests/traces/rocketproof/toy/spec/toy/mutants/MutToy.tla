------------------------------- MODULE MutToy --------------------------------
(* One operator a known bug. *)
EXTENDS MCToy

\* A slave appends whatever comes.
AnyContinues(s, n) == TRUE
=============================================================================
