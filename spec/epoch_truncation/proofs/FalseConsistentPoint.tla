------------------------ MODULE FalseConsistentPoint ------------------------
(* Wrong rules for the place of ConsistentPoint: with one of those, a slave keeps what its master does
   not have, or cuts what both have.                                                             *)
EXTENDS ConsistentPointTheorem

End(q, i, end) == IF i < Len(q) THEN q[i + 1].s ELSE end
Last(S) == CHOOSE x \in S : \A y \in S : y <= x
First(S) == CHOOSE x \in S : \A y \in S : x <= y
Nearer(a, b) == IF a <= b THEN a ELSE b

SameEntries(x, q) == {j \in DOMAIN q : q[j].e = x.e /\ q[j].s = x.s}
SameEpochs(x, q) == {j \in DOMAIN q : q[j].e = x.e}
SameStarts(x, q) == {j \in DOMAIN q : q[j].s = x.s}
Common(own, others) == {i \in DOMAIN own : SameEntries(own[i], others) # {}}

\* The slave's own end is enough, as in the mutant MinEnd.
OwnEnd(own, ownEnd, others, othersEnd) ==
  LET I == Common(own, others) IN IF I = {} THEN 0 ELSE End(own, Last(I), ownEnd)

OthersEnd(own, ownEnd, others, othersEnd) ==
  LET I == Common(own, others)
  IN IF I = {} THEN 0 ELSE End(others, Last(SameEntries(own[Last(I)], others)), othersEnd)

FartherEnd(own, ownEnd, others, othersEnd) ==
  LET I == Common(own, others)
      a == End(own, Last(I), ownEnd)
      b == End(others, Last(SameEntries(own[Last(I)], others)), othersEnd)
  IN IF I = {} THEN 0 ELSE IF a <= b THEN b ELSE a

\* The caches are compared from front to back.
FirstMatch(own, ownEnd, others, othersEnd) ==
  LET I == Common(own, others)
      i == First(I)
  IN IF I = {} THEN 0
     ELSE Nearer(End(own, i, ownEnd), End(others, Last(SameEntries(own[i], others)), othersEnd))

\* Entries count as common only when they end at the same offset, too.
WithTheirEnds(own, ownEnd, others, othersEnd) ==
  LET I == {i \in Common(own, others) :
              \E j \in SameEntries(own[i], others) : End(own, i, ownEnd) = End(others, j, othersEnd)}
  IN IF I = {} THEN 0 ELSE End(own, Last(I), ownEnd)

\* Only offsets are compared.
StartsOnly(own, ownEnd, others, othersEnd) ==
  LET I == {i \in DOMAIN own : SameStarts(own[i], others) # {}}
      i == Last(I)
  IN IF I = {} THEN 0
     ELSE Nearer(End(own, i, ownEnd), End(others, Last(SameStarts(own[i], others)), othersEnd))

\* Only epochs are compared, as in the mutant StartCompared: right if EpochStartUnique holds.
EpochsOnly(own, ownEnd, others, othersEnd) ==
  LET I == {i \in DOMAIN own : SameEpochs(own[i], others) # {}}
      i == Last(I)
  IN IF I = {} THEN 0
     ELSE Nearer(End(own, i, ownEnd), End(others, Last(SameEpochs(own[i], others)), othersEnd))
=============================================================================
