---------------------------- MODULE ReplicatedLog ----------------------------
(* The log that a state machine sees: one sequence of entries on which a group has agreed, only ever
   appended to; each node applies its entries in order, and one that starts again may begin earlier.

   Modelled: what is agreed on, what each node has applied of it.
   Not modelled: how the group agrees (DLedger), whose entries they are and whether their clients
   heard of it (Register), when a node catches up.

   Conventions: an entry is anything.
   Source: none in the code; DLedger implements it.                                               *)
EXTENDS Prefixes

CONSTANTS Node       \* the members of the group

VARIABLES
  agreed,      \* the entries on which the group has agreed
  seen         \* node -> those that its state machine has applied

vars == <<agreed, seen>>

-----------------------------------------------------------------------------
Init == agreed = <<>> /\ seen = [n \in Node |-> <<>>]

\* The group agrees on more.
Agree ==
  /\ IsPrefix(agreed, agreed') /\ agreed' # agreed
  /\ UNCHANGED seen

\* A node applies an entry, loads a snapshot, or starts again.
Apply(n) ==
  /\ IsPrefix(seen'[n], agreed)
  /\ \A m \in Node \ {n} : seen'[m] = seen[m]
  /\ UNCHANGED agreed

Next == Agree \/ \E n \in Node : Apply(n)

Spec == Init /\ [][Next]_vars
=============================================================================
