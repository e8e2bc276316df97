------------------------------ MODULE Prefixes ------------------------------
(* Beginnings of sequences: what one replica's log is of another's. *)
EXTENDS Sequences, Extrema

\* The first n elements; there is no such sequence where q has fewer.
Prefix(q, n) == SubSeq(q, 1, n)
IsPrefix(p, q) == Len(p) <= Len(q) /\ Prefix(q, Len(p)) = p
\* How many elements p and q have in common from the beginning on.
CommonPrefix(p, q) == MaxOf({n \in 0..Min(Len(p), Len(q)) : Prefix(p, n) = Prefix(q, n)})
\* Where p and q have the same element, they are the same up to there (Raft: Log Matching).
Matching(p, q) == \A n \in 1..Min(Len(p), Len(q)) : p[n] = q[n] => Prefix(p, n) = Prefix(q, n)
\* Of two sequences of which one is the beginning of the other, the longer one.
Longer(p, q) == IF IsPrefix(q, p) THEN p ELSE q
=============================================================================
