------------------------------- MODULE Nested -------------------------------
\* Two actions that Next does not call by name alone, so that TLC labels their steps `Both`.
EXTENDS Naturals

VARIABLES x, y

Numbers == Nat
Few == 0..4

Init == x = 0 /\ y = 0

Add(n) == x' = x + n /\ y' = y
Copy == y' = x /\ x' = x

Both(n) == n < 3 /\ (Add(n) \/ Copy)
Set(n) == x' = n /\ y' = n

Next == (\E n \in 1..5 : Both(n)) \/ (\E n \in Numbers : Set(n))
=============================================================================
