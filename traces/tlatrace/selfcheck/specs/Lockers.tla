------------------------------- MODULE Lockers -------------------------------
(* Model values alone, in sets and as keys; a constant that is a number and one that is a set. *)
EXTENDS Naturals, FiniteSets

CONSTANTS Person, Nobody, Size, Codes

ASSUME PersonAssumption == Nobody \notin Person /\ IsFiniteSet(Person)
ASSUME Size \in Nat /\ Codes \subseteq STRING

VARIABLES locker, code, waiting

TypeOK ==
  /\ locker \in [1..Size -> Person \cup {Nobody}]
  /\ code \in [Person -> Codes \cup {Nobody}]
  /\ waiting \in Person \cup {Nobody}

Init ==
  /\ locker = [n \in 1..Size |-> Nobody]
  /\ code = [p \in Person |-> Nobody]
  /\ waiting = Nobody

Rent(p, n) ==
  /\ locker[n] = Nobody
  /\ p \notin {locker[m] : m \in 1..Size}
  /\ locker' = [locker EXCEPT ![n] = p]
  /\ \E c \in Codes : code' = [code EXCEPT ![p] = c]
  /\ waiting' = IF waiting = p THEN Nobody ELSE waiting

Leave(n) ==
  /\ locker[n] # Nobody
  /\ code' = [code EXCEPT ![locker[n]] = Nobody]
  /\ locker' = [locker EXCEPT ![n] = Nobody]
  /\ UNCHANGED waiting

Wait(p) == waiting = Nobody /\ code[p] = Nobody /\ waiting' = p /\ UNCHANGED <<locker, code>>

Next ==
  \/ \E p \in Person, n \in 1..Size : Rent(p, n)
  \/ \E n \in 1..Size : Leave(n)
  \/ \E p \in Person : Wait(p)
==============================================================================
