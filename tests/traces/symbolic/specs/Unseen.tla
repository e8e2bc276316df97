------------------------------- MODULE Unseen -------------------------------
(* Steps that depend on a variable that is not looked at. *)
EXTENDS Integers, Sequences

VARIABLES seen, box, unseen

Init == seen = 0 /\ box = {} /\ unseen = 7

Answer(limit) == IF unseen > limit THEN "yes" ELSE "no"

\* The same question has the same answer; another one need not.
AskTwice ==
  /\ Answer(3) = "yes"
  /\ seen' = IF Answer(3) = "yes" THEN seen + 1 ELSE -1
  /\ UNCHANGED <<box, unseen>>
AskOthers ==
  /\ Answer(3) = "yes"
  /\ seen' = IF Answer(4) = "yes" THEN seen + 1 ELSE -1
  /\ UNCHANGED <<box, unseen>>

\* A number that is looked at comes from one that is not.
Copy == seen' = unseen /\ UNCHANGED <<box, unseen>>

\* It is another question for each number.
AskAll ==
  /\ \A i \in 1..seen : i = 1 => Answer(i) = "yes"
  /\ \E i \in 1..seen : i = 1 /\ Answer(i) = "no"
  /\ seen' = seen + 1
  /\ UNCHANGED <<box, unseen>>

\* One of several, which give the same variables values.
Either ==
  /\ \/ seen' = seen + 1 /\ box' = box
     \/ seen' = seen + 2 /\ box' = {b \in box : b.size > 4}
     \/ seen < 0 /\ seen' = 100 /\ box' = box
  /\ unseen' = unseen + 1

\* A part of a record is not looked at.
Put ==
  /\ box' = box \cup {[size |-> seen, what |-> unseen]}
  /\ UNCHANGED <<seen, unseen>>
Grow ==
  /\ box' = {IF b.what = unseen THEN [b EXCEPT !.size = @ + 1] ELSE b : b \in box}
  /\ UNCHANGED <<seen, unseen>>
Replace ==
  /\ box' = {b \in box : b = [size |-> seen, what |-> unseen]}
  /\ UNCHANGED <<seen, unseen>>

Next == AskTwice \/ AskOthers \/ Copy \/ AskAll \/ Either \/ Put \/ Grow \/ Replace

Natural == seen >= 0
Sized == \A b \in box : b.size >= 0
Known == unseen > 0
=============================================================================
