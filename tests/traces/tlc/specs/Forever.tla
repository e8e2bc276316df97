------------------------------- MODULE Forever -------------------------------
(* One action that TLC does not finish, and one that it cannot evaluate. *)
EXTENDS Integers

VARIABLE x

Init == x = 0
Step(k) == x' = x + k
Hang(k) == /\ \A S \in SUBSET (1..60) : S = S
           /\ x' = x + k
Break(k) == x' = x + (IF k = 0 THEN "text" ELSE k)
Next == \E k \in 0..3 : Step(k) \/ Hang(k) \/ Break(k)
==============================================================================
