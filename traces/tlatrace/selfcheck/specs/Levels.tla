-------------------------------- MODULE Levels -------------------------------
(* Definitions several levels below Next, labels, and names that a step gets from all that. *)
EXTENDS Naturals

VARIABLES a, b

Init == a = 0 /\ b = 0

Inc(k) == a' = (a + k) % 5 /\ UNCHANGED b
Dec == /\ guard:: a > 0
       /\ a' = change:: a - 1
       /\ UNCHANGED b
Small == Inc(1) \/ Dec
Big == \E k \in {2, 3} : Inc(k)
OfA == Small \/ Big

Flip == b' = 1 - b /\ a' = a
Both == \E k \in 1..2 : a > k /\ Inc(k)      \* TLC cannot name Inc behind a conjunction
Let == LET k == 4 IN Inc(k)
Either == IF b = 1 THEN Flip ELSE Both

Inv == here:: a < 5 /\ \A z \in {b} : there(z):: z \in 0..1

Next ==
  \/ OfA
  \/ Flip /\ TRUE
  \/ \/ Both
     \/ (\E z \in {0} : \/ Let \/ Either)
  \/ a = 4 /\ b = 1 /\ a' = 0 /\ b' = 0
==============================================================================
