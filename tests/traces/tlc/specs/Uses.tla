---- MODULE Uses ----
EXTENDS Integers
VARIABLE t
K == INSTANCE Clock WITH now <- t
Init == t = 0
Next == \/ \E d \in 1..3 : d # 2 /\ K!Tick(d)
        \/ \E d \in 1..3 : K!Back(d)
====
