------------------------------- MODULE Branches ------------------------------
(* Control inside actions: LET, \E, \A, =>, disjunctions within conjunctions, IF in IF. *)
EXTENDS Naturals

VARIABLES x, y, note

TypeOK == x \in 0..4 /\ y \in 0..4 /\ note \in {"low", "high", "even"}

Init == x \in 0..1 /\ y = 0 /\ note = "low"

Either ==
  /\ \/ x < 4 /\ x' = x + 1
     \/ /\ x > 0
        /\ \/ x' = x - 1
           \/ x' = 0
  /\ y' = y
  /\ note' = IF x' > 2 THEN "high" ELSE "low"

Guarded ==
  LET z == (x + y) % 5 IN
  /\ z # y
  /\ IF x > y
       THEN /\ y' = z
            /\ IF z % 2 = 0 THEN note' = "even" ELSE UNCHANGED note
            /\ x' = x
       ELSE \E d \in 1..2 : /\ x + d <= 4
                            /\ x' = x + d
                            /\ UNCHANGED <<y, note>>

Every ==
  /\ \A k \in 1..y : x >= k
  /\ \E k \in {x, y} : y' = (k + 1) % 5
  /\ x' = y
  /\ (x > 2) => (note = "high")
  /\ note' \in {note, "even"}
  /\ note' = "even" => (x + y) % 2 = 0

Next == Either \/ Guarded \/ Every
==============================================================================
