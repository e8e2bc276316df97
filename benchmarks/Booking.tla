------------------------------ MODULE Booking ------------------------------
(* A table is booked when all guests have accepted: the host notes each     *)
(* letter, perhaps more than once, and settles when all guests are noted.   *)
(* Guests cannot be told apart, and a log without their names leaves open   *)
(* which of them each line speaks of.                                       *)
EXTENDS FiniteSets
CONSTANT Guest
VARIABLES answer, letters, noted, settled

Init == /\ answer = [g \in Guest |-> "none"]
        /\ letters = {}
        /\ noted = {}
        /\ settled = FALSE

Accept(g) == /\ answer[g] = "none"
             /\ answer' = [answer EXCEPT ![g] = "accepted"]
             /\ letters' = letters \cup {[from |-> g, says |-> "yes"]}
             /\ UNCHANGED <<noted, settled>>

Note(g) == /\ ~settled
           /\ [from |-> g, says |-> "yes"] \in letters
           /\ noted' = noted \cup {g}
           /\ UNCHANGED <<answer, letters, settled>>

Settle == /\ ~settled
          /\ noted = Guest
          /\ settled' = TRUE
          /\ letters' = letters \cup {[says |-> "booked"]}
          /\ UNCHANGED <<answer, noted>>

Arrive(g) == /\ [says |-> "booked"] \in letters
             /\ answer[g] = "accepted"
             /\ answer' = [answer EXCEPT ![g] = "here"]
             /\ UNCHANGED <<letters, noted, settled>>

Next == \/ Settle
        \/ \E g \in Guest : Accept(g) \/ Note(g) \/ Arrive(g)

AllOrNone == settled => \A g \in Guest : answer[g] # "none"
=============================================================================
