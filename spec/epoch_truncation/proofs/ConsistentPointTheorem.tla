----------------------- MODULE ConsistentPointTheorem -----------------------
(* A slave cuts its log exactly where it stops being its master's: what follows of invariants of
   EpochTruncation for the rule ConsistentPoint, and what must be known besides.  z3 proves it for
   offsets, epochs and logs of any size (rocketproof prove ConsistentPoint): ConsistentPointExact, which
   TLC looks at in small models, in two parts.                                                   *)
EXTENDS EpochTruncationProperties

\* ---- Assumed, beside EpochWellFormed, EpochLeLog, EpochFaithful and EpochStartUnique ----

\* Part of TypeOK that is needed; each record is of a master's epoch, and those begin with 1.
Naturals ==
  \A b \in Broker :
    /\ \A i \in DOMAIN epochs[b] : epochs[b][i].s >= 0
    /\ \A o \in 1..Len(log[b]) : log[b][o] > 0

\* Both logs have a record at place o, and it is of the same epoch.
Agree(a, b, o) == o <= Len(log[a]) /\ o <= Len(log[b]) /\ log[a][o] = log[b][o]

\* Brokers that know an epoch have the same records before it.  LogMatching follows from this; it
\* says something of an epoch without records, too.
MasterEpochHistory ==
  \A a, b \in Up : a # b => \A i \in DOMAIN epochs[a], j \in DOMAIN epochs[b] :
    epochs[a][i].e = epochs[b][j].e =>
      \A o \in 1..epochs[a][i].s : o <= epochs[b][j].s => Agree(a, b, o)

\* ---- Claimed ----

Point(a, b) == ConsistentPoint(epochs[a], Len(log[a]), Starts(epochs[b]), Len(log[b]))

\* Nothing is kept that the master does not have.
Sound ==
  \A a, b \in Up : a # b =>
    /\ Point(a, b) >= 0
    /\ \A o \in 1..Point(a, b) : Agree(a, b, o)

\* Nothing is cut that the master has, and that may have been acknowledged.
Maximal ==
  \A a, b \in Up : a # b /\ Point(a, b) >= 0 => ~Agree(a, b, Point(a, b) + 1)

\* An example must have this: the logs part behind a common epoch, inside of both.
Diverged ==
  \E a, b \in Up : a # b /\ Len(epochs[a]) > 1 /\ Len(epochs[b]) > 1
    /\ Point(a, b) > 0 /\ Point(a, b) < Len(log[a]) /\ Point(a, b) < Len(log[b])
=============================================================================
