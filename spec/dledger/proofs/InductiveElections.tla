-------------------------- MODULE InductiveElections --------------------------
(* What must be added to OneLeaderPerTerm of DLedger so that each step keeps it, from every state in
   which all of this holds, reachable or not: an inductive invariant.  z3 proves that for any terms
   and any number of requests and leaders (rocketproof prove OneLeaderPerTerm).

   No history of votes is needed.  Who leads is known by a majority that can vote for nobody else in
   that term: each of it has voted for this leader, or is in a larger term, and no other candidate of
   the term counts it.                                                                           *)
EXTENDS DLedgerProperties

\* m votes for nobody but c in term t, now and later.
BoundTo(m, c, t) == term[m] > t \/ (term[m] = t /\ vote[m] = c)

Accepts(m, c) == round[c][m].result = "ACCEPT"

\* Who has accepted a candidate of a term votes for no other one in it.
AcceptIsVote == \A c, m \in Node : Accepts(m, c) => BoundTo(m, c, term[c])

\* Nor has it voted for another one that is in that term still.
OneAccept ==
  \A c, d, m \in Node : c # d /\ term[c] = term[d] => ~(Accepts(m, c) /\ Accepts(m, d))

\* Nobody counts m for another leader than c in term t.
CountedForNone(m, c, t) == \A d \in Node : d # c /\ term[d] = t => ~Accepts(m, d)

\* A majority cannot make another leader of the term.
LeaderHasQuorum ==
  \A l \in sent :
    Quorum({m \in Node : BoundTo(m, l.by, l.term) /\ CountedForNone(m, l.by, l.term)})
=============================================================================
