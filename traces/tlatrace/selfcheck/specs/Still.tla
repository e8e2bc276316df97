-------------------------------- MODULE Still --------------------------------
(* UNCHANGED of variables, tuples, tuples of tuples, and definitions that name them. *)
EXTENDS Naturals

VARIABLES a, b, c, d

ab == <<a, b>>
cd == <<c, d>>
all == <<ab, <<c, <<d>>>>>>

TypeOK == <<a, b, c, d>> \in (0..2) \X (0..2) \X BOOLEAN \X {"n", "s"}

Init == a = 0 /\ b = 0 /\ c = FALSE /\ d = "n"

StepA == a < 2 /\ a' = a + 1 /\ UNCHANGED <<b, cd>>
StepB == /\ b < 2
         /\ b' = b + 1
         /\ UNCHANGED <<a, <<c, d>>>>
Flip == c' = ~c /\ UNCHANGED <<ab, d>>
Turn == /\ d' = (IF d = "n" THEN "s" ELSE "n")
        /\ UNCHANGED ab
        /\ UNCHANGED c
Back == a = 2 /\ b = 2 /\ a' = 0 /\ b' = 1 /\ ab' = <<0, 1>> /\ UNCHANGED cd
Rest == c /\ UNCHANGED all

Next == StepA \/ StepB \/ Flip \/ Turn \/ Back \/ Rest
==============================================================================
