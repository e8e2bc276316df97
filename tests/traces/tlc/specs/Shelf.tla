---- MODULE Shelf ----
\* Take(0) has no value: there is no place 0; Take(9) is none that Next takes.
EXTENDS Integers, Sequences
VARIABLE x
Places == <<5, 6, 7>>
Take(i) == x' = x + Places[i]
TakeOdd(i) == x' = x + Places[i]
Init == x = 0
Next == (\E i \in 0..3 : Take(i)) \/ (\E i \in 0..3 : i % 2 = 1 /\ TakeOdd(i))
Odd == Places[x - 4] > 0
====
