------------------------------- MODULE Worker --------------------------------
(* One worker of many; `Workforce` instances it for each. *)
EXTENDS Naturals

CONSTANTS self, Wage

VARIABLES busy, purse

Mine == purse[self]

Begin == self \notin busy /\ busy' = busy \cup {self} /\ UNCHANGED purse
End(bonus) ==
  /\ self \in busy
  /\ Mine + Wage + bonus <= 4
  /\ busy' = busy \ {self}
  /\ purse' = [purse EXCEPT ![self] = @ + Wage + bonus]
==============================================================================
