---- MODULE NaturalsInduction ----
\* The names that proofs cite: nothing is claimed here, and no model checker looks at them.
EXTENDS Integers

NatInductiveDefConclusion(f, f0, Def(_, _)) ==
  f = [n \in Nat |-> IF n = 0 THEN f0 ELSE Def(f[n - 1], n)]
NatInductiveDefHypothesis(f, f0, Def(_, _)) ==
  f = CHOOSE g : NatInductiveDefConclusion(g, f0, Def)
FiniteNatInductiveDefConclusion(f, c, Def(_, _), m, n) ==
  f = [k \in m..n |-> IF k = m THEN c ELSE Def(f[k - 1], k)]
FiniteNatInductiveDefHypothesis(f, c, Def(_, _), m, n) ==
  f = CHOOSE g : FiniteNatInductiveDefConclusion(g, c, Def, m, n)
factorial[n \in Nat] == IF n < 1 THEN 1 ELSE factorial[n - 1] * n

THEOREM NatInduction == TRUE
THEOREM DownwardNatInduction == TRUE
THEOREM GeneralNatInduction == TRUE
THEOREM SmallestNatural == TRUE
THEOREM RecursiveFcnOfNat == TRUE
THEOREM NatInductiveDef == TRUE
THEOREM RecursiveFcnOfNatType == TRUE
THEOREM NatInductiveDefType == TRUE
THEOREM RecursiveFcnOfNatUnique == TRUE
THEOREM NatInductiveUnique == TRUE
THEOREM FiniteNatInductiveDef == TRUE
THEOREM FiniteNatInductiveDefType == TRUE
THEOREM FiniteNatInductiveUnique == TRUE
THEOREM FactorialDefConclusion == TRUE
THEOREM FactorialDef == TRUE
THEOREM FactorialType == TRUE
====
