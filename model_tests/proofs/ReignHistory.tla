---------------------------- MODULE ReignHistory ----------------------------
(* An assumption of the theorem ConsistentPoint that is no invariant of the specification: brokers
   that know an epoch have the same records before it.                                          *)
EXTENDS MCEpochTruncation

ReignHistory ==
  \A a, b \in Up : a # b => \A i \in DOMAIN epochs[a], j \in DOMAIN epochs[b] :
    epochs[a][i].e = epochs[b][j].e => CommonPrefix(log[a], log[b]) >= epochs[a][i].s
=============================================================================
