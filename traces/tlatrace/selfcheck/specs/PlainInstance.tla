---------------------------- MODULE PlainInstance ----------------------------
(* A module made one's own by a plain INSTANCE, with substitutions and without. *)
EXTENDS Naturals

CONSTANT Limit

VARIABLES count, rounds

INSTANCE Tally

LOCAL INSTANCE Sequences

History == <<count, rounds>>
AllOK == TypeOK /\ rounds \in 0..3 /\ Len(History) = 2

InitAll == Init /\ rounds \in {0, 1}

Lift == Up /\ UNCHANGED rounds
Round == Reset /\ rounds < 3 /\ rounds' = rounds + 1
Leap(n) == Jump(n) /\ rounds' = rounds

NextAll == Lift \/ Round \/ \E n \in {2, 3} : Leap(n)
==============================================================================
