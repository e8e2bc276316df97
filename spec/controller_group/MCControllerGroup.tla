-------------------------- MODULE MCControllerGroup --------------------------
(* Finite models of ControllerGroup: what they explore, and their symmetry. *)
EXTENDS ControllerGroupProperties, TLC

CONSTANTS
  MaxTerm,       \* leaders
  MaxAlter,      \* requests to alter, without copies
  MaxElect,      \* requests to elect, without copies
  MaxCalls,      \* requests that leaders take, with copies
  MaybeDead      \* whether a leader may count a member as dead

\* Next quantifies over Nat; a finite part of it stands here.
MCNat == 0..(MaxTerm + MaxCalls + 1)

Number(kind) == Cardinality({r \in sent : r.kind = kind})

Bounded(action) ==
  CASE action = "Elect" -> newest < MaxTerm
    [] action = "AskAlter" -> Number("alter") < MaxAlter
    [] action = "AskElection" -> Number("elect") < MaxElect
    [] action = "Take" -> Cardinality(calls) < MaxCalls
    [] action = "Dead" -> MaybeDead
    [] OTHER -> TRUE

Symmetry == Permutations(Node) \cup Permutations(Broker)
=============================================================================
