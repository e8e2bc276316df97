----------------------------- MODULE MCRegister -----------------------------
(* Finite models of Register: what they explore, and their symmetry. *)
EXTENDS RegisterProperties, TLC

CONSTANTS
  MaxTerm,       \* terms, and elections in all
  MaxWrites,     \* writes in all
  MaxReads,      \* reads that are entries, in all; 0: reads are none
  MaxIndexReads, \* versions that there may be at a read that is no entry; 0: there is none
  Explores       \* which of AnyTerm, Resign, LeadAgain, Install and Restart are explored

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..(MaxTerm + MaxWrites + MaxReads)
MCTerms == 1..MaxTerm

Elections == Cardinality(UNION {{<<t, i>> : i \in {k \in DOMAIN led[t] :
  led[t][k].kind = "noop" /\ led[t][k].term = t}} : t \in DOMAIN led})

Reads == Cardinality(UNION {{<<n, i>> : i \in {k \in DOMAIN log[n] : log[n][k].kind = "read"}} : n \in Node})

Bounded(action) ==
  CASE action = "Elect" -> Elections < MaxTerm
    [] action = "Write" -> writes < MaxWrites
    [] action = "LogRead" -> Reads < MaxReads
    [] action = "IndexRead" -> Len(Versions) <= MaxIndexReads
    [] action \in {"AnyTerm", "Resign", "LeadAgain", "Install", "Restart"} -> action \in Explores
    [] OTHER -> TRUE

Symmetry == Permutations(Node) \cup Permutations(Client)
=============================================================================
