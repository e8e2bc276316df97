------------------------------ MODULE Counter ------------------------------
(* Two counters that take turns or not; each config of this folder gives TLC another reason to stop. *)
EXTENDS Integers, Sequences, TLC

CONSTANTS Proc, Max

VARIABLES count, last

vars == <<count, last>>

Init == count = [p \in Proc |-> 0] /\ last = <<>>

Inc(p) ==
  /\ count[p] < Max

  /\ count' = [count EXCEPT ![p] = @ + 1]
  /\ last' = <<p, count[p], {p}, [by |-> p, text |-> "a\"b"]>>

Reset ==
  /\ \A p \in Proc : count[p] = Max
  /\ PrintT(<<"reset", count>>)

  /\ count' = [p \in Proc |-> 0]
  /\ UNCHANGED last

Next == Reset \/ \E p \in Proc : Inc(p)
NextStuck == \E p \in Proc : Inc(p)
NextBroken == \E p \in Proc : Inc(p) /\ count'[p] # Head(<<>>)

Spec == Init /\ [][Next]_vars
SpecFair == Spec /\ WF_vars(Next)
SpecStuck == Init /\ [][NextStuck]_vars
SpecBroken == Init /\ [][NextBroken]_vars

TypeOK == \A p \in Proc : count[p] \in 0..Max
Low == \A p, q \in Proc : count[p] + count[q] < 3
Positive == \A p \in Proc : count[p] > 0
UpOnly == [][\A p \in Proc : count'[p] >= count[p]]_vars
Rises == <>(\A p \in Proc : count[p] = Max)
Stays == <>[](count[CHOOSE p \in Proc : TRUE] = Max)
Asserted == \A p \in Proc : Assert(count[p] < 2, "too high")

ASSUME PositiveMax == Max > 0
=============================================================================
