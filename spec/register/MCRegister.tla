----------------------------- MODULE MCRegister -----------------------------
(* Finite models of Register: what they explore, and their symmetry. *)
EXTENDS RegisterProperties, TLC

CONSTANTS
  MaxTerm,       \* elections
  MaxWrites,     \* writes in all
  MaxReads,      \* reads that are entries, in all; 0: reads are none
  MaxIndexReads  \* versions that there may be at a read that is no entry; 0: there is none

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..(MaxTerm + MaxWrites + MaxReads)

Reads == Cardinality(UNION {{<<n, i>> : i \in {k \in DOMAIN log[n] : log[n][k].kind = "read"}} : n \in Node})

Bounded(action) ==
  CASE action = "Elect" -> newest < MaxTerm
    [] action = "Write" -> writes < MaxWrites
    [] action = "LogRead" -> Reads < MaxReads
    [] action = "IndexRead" -> Len(Versions) <= MaxIndexReads
    [] OTHER -> TRUE

Symmetry == Permutations(Node) \cup Permutations(Client)
=============================================================================
