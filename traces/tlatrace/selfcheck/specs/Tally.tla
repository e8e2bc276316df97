-------------------------------- MODULE Tally --------------------------------
(* A counter up to a limit; other specifications instance it. *)
EXTENDS Naturals

CONSTANT Limit

VARIABLE count

LOCAL Step == 1

TypeOK == count \in 0..Limit

Init == count = 0

Up == count < Limit /\ count' = count + Step
Reset == count = Limit /\ count' = 0
Jump(n) == count + n <= Limit /\ count' = count + n

Next == Up \/ Reset \/ \E n \in 2..3 : Jump(n)
==============================================================================
