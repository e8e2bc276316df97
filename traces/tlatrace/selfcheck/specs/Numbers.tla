-------------------------------- MODULE Numbers ------------------------------
(* Integers: negative ones, \div and % of them, powers, ranges, empty ranges. *)
EXTENDS Integers

VARIABLES n, span

TypeOK ==
  /\ n \in -20..20 /\ n \in Int
  /\ span \subseteq -5..5
  /\ (n < 0) # (n \in Nat)

Init == n = -7 /\ span = {}

Clip(k) == IF k > 20 THEN 20 ELSE IF k < -20 THEN -20 ELSE k

Add == n' = Clip(n + 3) /\ UNCHANGED span
Negate == n' = -n /\ span' = {-k : k \in span}
Divide == n' = n \div 2 /\ span' = span
Remain == n' = n % 5 /\ span' = {k \in span : (k % 3) <= 1}
Scale == n' = Clip(n * (-2) + 1) /\ UNCHANGED span
Power == n >= 0 /\ n <= 4 /\ n' = Clip(2^n) /\ UNCHANGED span
Between == span' = (n..2) \cap (-5..5) /\ n' = n
Past == /\ n > 2
        /\ span' = (n - 2)..(n - 4)
        /\ n' = Clip(n - 4)

Next == Add \/ Negate \/ Divide \/ Remain \/ Scale \/ Power \/ Between \/ Past
==============================================================================
