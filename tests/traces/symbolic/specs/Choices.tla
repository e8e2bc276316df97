------------------------------ MODULE Choices ------------------------------
(* Where a system begins is chosen, variable by variable. *)
EXTENDS Integers

CONSTANT Person

VARIABLES start, has, runs

Init ==
  /\ start \in Nat
  /\ has \in [Person -> 0..start]
  /\ runs \in [Person -> BOOLEAN]
  /\ \E p \in Person : runs[p]

Stop(p) == runs' = [runs EXCEPT ![p] = FALSE] /\ UNCHANGED <<start, has>>

Next == \E p \in Person : Stop(p)
============================================================================
