--------------------------- MODULE QuorumTheorems ----------------------------
(* The names of theorems on the module Quorum, for modules that hold proofs:  *)
(* nothing is proved or evaluated here.                                       *)
EXTENDS Quorum, Integers, FiniteSets

THEOREM QuorumsIntersect == TRUE
THEOREM QuorumSuperset == TRUE
THEOREM MajoritiesQuorumSystem == TRUE
==============================================================================
