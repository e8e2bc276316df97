-------------------------------- MODULE Circuit ------------------------------
(* State made of BOOLEANs, with every connective of propositional logic. *)

VARIABLES p, q, r, table

TypeOK == {p, q, r} \subseteq BOOLEAN /\ table \in [BOOLEAN -> BOOLEAN]

Init == p \in BOOLEAN /\ q = ~p /\ r = TRUE /\ table = [x \in BOOLEAN |-> ~x]

Invert == p' = ~p /\ UNCHANGED <<q, r, table>>
Combine == p' = (q /\ r) /\ q' = (p \/ r) /\ r' = (p => q) /\ table' = table
Compare == /\ r' = (p <=> q)
           /\ q' = (p \equiv r)
           /\ p' = (p = FALSE)
           /\ table' = [table EXCEPT ![p] = @ # q]
Rewire == table[r] = p /\ table' = [table EXCEPT ![r] = ~@, ![p] = FALSE] /\ UNCHANGED <<p, q, r>>
Guess == /\ ~(p /\ q)
         /\ r' \in BOOLEAN
         /\ q' = (\E b \in BOOLEAN : table[b] /\ b # r)
         /\ p' = (\A b \in BOOLEAN : table[b] => b)
         /\ UNCHANGED table
\* TRUE and FALSE as guards; a set of two Booleans that are one.
Stick == TRUE /\ (FALSE \/ {p, q} = {r}) /\ r' = ~r /\ UNCHANGED <<p, q, table>>

Next == Invert \/ Combine \/ Compare \/ Rewire \/ Guess \/ Stick
==============================================================================
