-------------------------------- MODULE Primes -------------------------------
(* Prime of operators, of definitions and of expressions; new values used in the same step. *)
EXTENDS Naturals

VARIABLES f, n, sum

Total == f[1] + f[2]
At(i) == f[i]
Sound(k) == n <= k /\ sum = Total
Inv == Sound(4)

Init == f = [i \in {1, 2} |-> 0] /\ n = 0 /\ sum = 0

Set(i, v) ==
  /\ f' = [f EXCEPT ![i] = v]
  /\ n' = f[i]
  /\ sum' = Total'
  /\ At(i)' # At(i)

Swap ==
  /\ f' = [i \in DOMAIN f |-> f[3 - i]]
  /\ n' = f'[1]
  /\ sum' = (At(1) + At(2))'
  /\ n' >= n

Grow ==
  /\ n' \in 1..3 /\ n' > n
  /\ f' = [f EXCEPT ![2] = n']
  /\ sum' = f'[1] + n'
  /\ Sound(3)'
  /\ (LET twice == 2 * sum IN twice < 8)'

Next == (\E i \in {1, 2}, v \in 0..3 : Set(i, v)) \/ Swap \/ Grow
==============================================================================
