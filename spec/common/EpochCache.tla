----------------------------- MODULE EpochCache -----------------------------
(* The epoch cache of a broker (EpochFileCache): a sequence of [e: epoch, s: start, end: end or -1],
   one for each master epoch that has a part in its log, by rising epochs.  An end is not stored: it
   is the next start, and the last epoch has no bound.
   Source: EpochFileCache of apache/rocketmq at 8fc57f1468; published rule: RIP-44, "log
   truncation".                                                                                  *)
EXTENDS Sequences, Extrema

EpochStart == [e : Nat, s : Nat]
EpochEntry == [e : Nat, s : Nat, end : Nat \cup {-1}]
NoEntry == [e |-> 0, s |-> 0, end |-> -1]

LastEpoch(q) == IF q = <<>> THEN 0 ELSE q[Len(q)].e
Starts(q) == [i \in DOMAIN q |-> [e |-> q[i].e, s |-> q[i].s]]
WithEnds(q) ==
  [i \in DOMAIN q |-> [e |-> q[i].e, s |-> q[i].s, end |-> IF i < Len(q) THEN q[i + 1].s ELSE -1]]
\* The epoch of offset o (findEpochEntryByOffset).
EpochAt(q, o) ==
  LET I == {i \in DOMAIN q : q[i].s <= o /\ (q[i].end = -1 \/ o < q[i].end)}
  IN IF I = {} THEN NoEntry ELSE q[MaxOf(I)]

\* An epoch in which nothing was written gives way to the next one.             \* CHECK B03
\*                                                                              \* CHECK LateDispatch
AppendEpoch(q, e, s) ==
  WithEnds(SelectSeq(q, LAMBDA x : x.s < s) \o <<[e |-> e, s |-> s, end |-> -1]>>)
\* What a slave notes of the epoch x that a packet carries, if it is new to it.
WithEpoch(q, x) == IF x.e = LastEpoch(q) THEN q ELSE AppendEpoch(q, x.e, x.s)
\* The new last entry has no bound again.                                       \* CHECK B04
TruncateSuffixByOffset(q, o) == WithEnds(SelectSeq(q, LAMBDA x : x.s < o))      \* CHECK KeptEpochs
TruncateSuffixByEpoch(q, e) == WithEnds(SelectSeq(q, LAMBDA x : x.e < e))
\* At start-up, entries beyond the end of the log go.                           \* CHECK B83
RecoverEpochs(q, end) == WithEnds(SelectSeq(q, LAMBDA x : x.s <= end))

EndAt(q, i, end) == IF i < Len(q) THEN q[i + 1].s ELSE end
SameStart(x, y) == x.e = y.e /\ x.s = y.s                                       \* CHECK StartCompared
NearerEnd(a, b) == Min(a, b)                                                    \* CHECK MinEnd
\* Compares two caches from back to front: up to where the two logs are sure to agree.
ConsistentPoint(own, ownEnd, others, othersEnd) ==
  LET I == {i \in DOMAIN own : \E j \in DOMAIN others : SameStart(own[i], others[j])}
      i == MaxOf(I)
      j == MaxOf({x \in DOMAIN others : SameStart(own[i], others[x])})
  IN IF I = {} THEN 0 ELSE NearerEnd(EndAt(own, i, ownEnd), EndAt(others, j, othersEnd))

\* What a cache says of the log that it belongs to is so: of each record the epoch.
IsFaithful(q, log) == \A o \in 0..(Len(log) - 1) : EpochAt(q, o).e = log[o + 1]
=============================================================================
