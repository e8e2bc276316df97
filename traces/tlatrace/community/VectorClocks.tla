----------------------------- MODULE VectorClocks ----------------------------
(* Whether a log is in an order that its vector clocks allow.                 *)
EXTENDS Naturals, Sequences, Functions
LOCAL INSTANCE TLC

(* A clock that does not know a node has 0 for it.                            *)
LOCAL At(clock, n) == IF n \in DOMAIN clock THEN clock[n] ELSE 0

IsCausalOrder(log, clock(_)) ==
  \A i \in 1..Len(log) : \A j \in 1..(i - 1) :
    LET new == clock(log[i])
        old == clock(log[j])
    IN  \E n \in DOMAIN new \cup DOMAIN old : At(old, n) < At(new, n)

CausalOrder(log, clock(_), node(_), domain(_)) ==
  Assert(FALSE, "CausalOrder: TLC takes one order of several, in Java")
==============================================================================
