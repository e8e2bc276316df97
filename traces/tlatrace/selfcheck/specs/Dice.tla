--------------------------------- MODULE Dice --------------------------------
(* Nondeterminism: many initial states, disjunctions in Init, and sets of next values. *)
EXTENDS Naturals, FiniteSets

VARIABLES dice, kept, phase

Faces == 1..3

TypeOK == dice \in [{"first", "second"} -> Faces] /\ kept \in SUBSET Faces

Init ==
  /\ dice \in [{"first", "second"} -> Faces]
  /\ \/ kept = {} /\ phase = "roll"
     \/ /\ phase \in {"roll", "keep"}
        /\ kept = {dice["first"]}
        /\ dice.second # dice.first

Roll == phase = "roll" /\ dice' \in [DOMAIN dice -> Faces] /\ phase' = "keep" /\ UNCHANGED kept

Keep ==
  /\ phase = "keep"
  /\ \E d \in {"first", "second"} : kept' = kept \cup {dice[d]}
  /\ phase' \in IF Cardinality(kept') = 3 THEN {"over"} ELSE {"roll", "keep"}
  /\ UNCHANGED dice

Lose == kept' \in {k \in SUBSET kept : Cardinality(k) + 1 = Cardinality(kept)}
        /\ phase' = "roll" /\ UNCHANGED dice

Next == Roll \/ Keep \/ Lose
==============================================================================
