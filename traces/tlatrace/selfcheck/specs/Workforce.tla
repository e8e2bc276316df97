------------------------------ MODULE Workforce ------------------------------
(* Instances with a parameter, used in quantifiers and with operators that have parameters. *)
EXTENDS Naturals

CONSTANT People

VARIABLES busy, purse

Of(p) == INSTANCE Worker WITH self <- p, Wage <- 1
Rich(p, w) == INSTANCE Worker WITH self <- p, Wage <- w + 1

TypeOK == busy \subseteq People /\ purse \in [People -> 0..4] /\ \A p \in People : Of(p)!Mine <= 4

Init == busy = {} /\ purse = [p \in People |-> 0]

Start(p) == Of(p)!Begin
Stop(p) == \E bonus \in 0..1 : Of(p)!End(bonus)
Win(p) == Rich(p, 2)!End(1) /\ p = CHOOSE q \in busy : \A r \in busy : purse[q] >= purse[r] /\
                                                                    (r # q => purse[r] < purse[q])
Spend(p) == Of(p)!Mine = 4 /\ purse' = [purse EXCEPT ![p] = 0] /\ UNCHANGED busy

Next == \E p \in People : Start(p) \/ Stop(p) \/ (busy = {p} /\ Win(p)) \/ Spend(p)
==============================================================================
