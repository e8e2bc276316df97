----------------------------- MODULE TwoTallies ------------------------------
(* Named instances with WITH: variables for variables, expressions for constants. *)
EXTENDS Naturals

CONSTANT Most

VARIABLES east, west

E == INSTANCE Tally WITH count <- east, Limit <- Most
W == INSTANCE Tally WITH count <- west, Limit <- Most + 1

\* An expression for a variable: for looking only.
Both == INSTANCE Tally WITH count <- east + west, Limit <- 2 * Most + 1

AllOK == E!TypeOK /\ W!TypeOK /\ Both!TypeOK

Init == E!Init /\ W!Init

GoEast == E!Up /\ UNCHANGED west
GoWest == W!Up /\ UNCHANGED east
Restart == E!Reset /\ W!Reset
Together == E!Jump(2) /\ W!Jump(1)
Watched == west' = 0 /\ east' = 1 /\ Both!Up

Next == GoEast \/ GoWest \/ Restart \/ Together \/ Watched
==============================================================================
