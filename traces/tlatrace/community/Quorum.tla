-------------------------------- MODULE Quorum -------------------------------
(* The sets of quorums of S: any two quorums meet, larger sets are quorums.   *)

QuorumSystem(S) ==
  {Q \in SUBSET (SUBSET S) :
    /\ Q # {}
    /\ \A one, other \in Q : one \cap other # {}
    /\ \A one \in Q : \A larger \in SUBSET S : one \subseteq larger => larger \in Q}
==============================================================================
