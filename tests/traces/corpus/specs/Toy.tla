-------------------------------- MODULE Toy --------------------------------
(* A number that goes up by one or jumps, and must stay below Max; small enough to know all answers. *)
EXTENDS Integers

CONSTANT Max

VARIABLES x, last

Init == x = 0 /\ last = "none"

Up == x' = x + 1 /\ last' = "up"
Jump(n) == x' = x + n /\ last' = "jump"
Never == x > 1000000 /\ UNCHANGED <<x, last>>

Next == Up \/ (\E n \in 2..9 : Jump(n)) \/ Never

Low == x <= Max
=============================================================================
