---------------------------- MODULE Combinatorics ----------------------------
(* Factorials, and in how many ways k of n things can be chosen.              *)
EXTENDS Naturals
LOCAL INSTANCE TLC

factorial[n \in Nat] == IF n = 0 THEN 1 ELSE n * factorial[n - 1]

(* Java: no way, if k is larger than n.                                       *)
choose(n, k) ==
  LET ways[i \in 0..k] == IF i = 0 THEN 1 ELSE (ways[i - 1] * (n + 1 - i)) \div i
  IN  IF n < 0 \/ k < 0 THEN Assert(FALSE, "choose of a negative number")
      ELSE IF k > n THEN 0
      ELSE ways[k]
==============================================================================
