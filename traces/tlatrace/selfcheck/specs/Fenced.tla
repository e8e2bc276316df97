-------------------------------- MODULE Fenced -------------------------------
(* Two state constraints and an action constraint; without them the graph has no end. *)
EXTENDS Integers

VARIABLES x, y

TypeOK == x \in Int /\ y \in Int /\ x >= -4 /\ y >= 0

Init == x \in {0, 9} /\ y \in {0, 20}    \* one of these lies outside

Right == x' = x + 2 /\ UNCHANGED y
Left == x' = x - 1 /\ x >= -3 /\ UNCHANGED y
Rise == y' = y + x * x /\ UNCHANGED x
Sink == y > 0 /\ y' = y - 1 /\ x' = x

Next == Right \/ Left \/ Rise \/ Sink

InSight == x <= 5
Low == y <= 12 /\ (x = 5 => y # 3)
Gentle == y' - y <= 4 \/ x' # x
==============================================================================
