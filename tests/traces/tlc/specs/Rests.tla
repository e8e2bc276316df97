---- MODULE Rests ----
\* Spec allows steps that change nothing, Half those that leave x alone, Busy none.
EXTENDS Naturals
VARIABLES x, y
vars == << x,
           y >>
Init == x = 0 /\ y = 0
Up == x < 3 /\ x' = x + 1 /\ y' = y
Idle == x = 2 /\ UNCHANGED vars
Next == Up \/ Idle
Spec == Init /\ [][Next]_vars /\ WF_vars(Up)
Half == Init /\ [][Next]_x
Named == Init /\ [][Up]_<<x, y>>
====
