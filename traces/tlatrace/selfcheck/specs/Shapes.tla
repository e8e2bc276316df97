-------------------------------- MODULE Shapes -------------------------------
(* Constants that are operators, given by the configuration; overridden definitions; Nat bounded. *)
EXTENDS Naturals

CONSTANTS Better(_, _), Grow(_), Start, Ends

VARIABLES size, best

Limit == 100                  \* the configuration puts a smaller one in its place
Allowed(n) == n \in Nat       \* and here, too

TypeOK == size \in Nat /\ best \in 0..Limit

Init == size = Start /\ best = Start

Increase == \E n \in Nat : /\ n > size
                           /\ Allowed(n)
                           /\ size' = n
                           /\ best' = IF Better(n, best) THEN n ELSE best
Shrink == size' = size \div 2 /\ best' = best
Stretch == Grow(size) <= Limit /\ size' = Grow(size) /\ best' \in Ends

Next == Increase \/ Shrink \/ Stretch
==============================================================================
