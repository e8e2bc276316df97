-------------------------------- MODULE Nested -------------------------------
(* Modules within a module, instances of instances, and an INSTANCE inside LET. *)
EXTENDS Naturals

VARIABLES cell, log

----------------------------- MODULE Inner -----------------------------
CONSTANT Base
VARIABLE at
Add(n) == at' = (at + n) % Base
Value == at * 2
Shifted(n) == Value + n + Base
=============================================================================

Wide == INSTANCE Inner WITH Base <- 7, at <- cell
Narrow(b) == INSTANCE Inner WITH Base <- b, at <- cell

---------------------------- MODULE Outer -----------------------------
VARIABLE place
Deep(k) == INSTANCE Inner WITH Base <- k, at <- place
Twice(k) == Deep(k)!Value + Deep(k + 1)!Shifted(1)
=============================================================================

O == INSTANCE Outer WITH place <- log

TypeOK == cell \in 0..6 /\ log \in 0..40 /\ O!Twice(3) > 0

Init == cell = 0 /\ log = 0

Step(n) == Wide!Add(n) /\ log' = Wide!Value
Wrap(b) == cell >= b /\ Narrow(b)!Add(1) /\ log' = O!Twice(b) % 41
Look ==
  LET Here == INSTANCE Inner WITH Base <- 5, at <- cell
  IN  log < 5 /\ log' = Here!Shifted(log) /\ UNCHANGED cell
Peek == log > 20 /\ log' = O!Deep(2)!Value % 20 /\ UNCHANGED cell

Next == (\E n \in 1..2 : Step(n)) \/ (\E b \in {3, 5} : Wrap(b)) \/ Look \/ Peek
==============================================================================
