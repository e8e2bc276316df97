---- MODULE Anything ----
\* Two variables hold whatever a text says; the steps leave them as they are, or swap them.
EXTENDS Integers
CONSTANTS n1, n2
VARIABLES count, left, right

Init == count = 0 /\ left = left /\ right = right

Count(k) == count' = count + k /\ UNCHANGED <<left, right>>

Swap == left' = right /\ right' = left /\ UNCHANGED count

Next == Swap \/ \E k \in 1..9 : Count(k)

Small == count < 1000
====
