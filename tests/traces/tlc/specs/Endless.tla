---- MODULE Endless ----
\* Add has a place with numbers from an infinite set, and one behind a guard.
EXTENDS Integers
VARIABLE x
Add(n) == x' = x + n
Next == (\E n \in Nat : Add(n)) \/ (\E m \in {-3, -2} : x > 3 /\ Add(m))
Init == x = 0
====
