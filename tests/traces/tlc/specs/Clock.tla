---- MODULE Clock ----
EXTENDS Integers
VARIABLE now
Tick(d) == now' = now + d
Back(d) == now' = now - d
TNext == \E d \in 1..2 : d # now /\ Tick(d)
====
