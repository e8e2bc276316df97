---- MODULE Anything ----
\* Two variables hold whatever a text says; the steps leave them as they are, or swap them.
\* The string "n3" has the name of a model value.
EXTENDS Integers
CONSTANTS n1, n2, n3
VARIABLES count, left, right, mark

Init == count = 0 /\ mark = "" /\ left = left /\ right = right

Count(k) == count' = count + k /\ UNCHANGED <<left, right, mark>>

Swap == left' = right /\ right' = left /\ UNCHANGED <<count, mark>>

Mark(s) == mark' = s /\ UNCHANGED <<count, left, right>>

Next == Swap \/ (\E k \in 1..9 : Count(k)) \/ (\E s \in {"", "n3", "a"} : Mark(s))

Small == count < 1000 /\ mark \in STRING
====
