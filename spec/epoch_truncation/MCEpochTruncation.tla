-------------------------- MODULE MCEpochTruncation --------------------------
(* Bounds for TLC.  Each is a CONSTRAINT, so that mutants of the spec are bounded alike. *)
EXTENDS EpochTruncation, TLC

CONSTANTS
  MaxEpoch,      \* elections
  MaxLog,        \* records in a log
  MaxCrash,      \* power cuts in all
  MaxInFlight    \* packets on a connection

Sum[S \in SUBSET Broker] ==
  IF S = {} THEN 0 ELSE LET b == CHOOSE x \in S : TRUE IN inc[b] + Sum[S \ {b}]

Bounds ==
  /\ ctl.epoch <= MaxEpoch
  /\ \A b \in Broker : Len(log[b]) <= MaxLog
  /\ Sum[Broker] <= MaxCrash
  /\ \A s \in Broker : link[s] # NoLink => Len(link[s].down) <= MaxInFlight

\* Next quantifies over Nat, for which a finite part stands here.
MCNat == 0..MaxOf({MaxEpoch, MaxLog, MaxCrash} \cup {2}) + 1

Symmetry == Permutations(Broker)
=============================================================================
