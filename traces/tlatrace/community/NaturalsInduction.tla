-------------------------- MODULE NaturalsInduction --------------------------
(* The names of theorems on induction over natural numbers, for modules that hold proofs: *)
(* nothing is proved or evaluated here.                                       *)
EXTENDS Integers
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of NaturalsInduction has no value here">>)

NatInductiveDefHypothesis(f, f0, Def(_, _)) ==
  None("NatInductiveDefHypothesis")
NatInductiveDefConclusion(f, f0, Def(_, _)) ==
  None("NatInductiveDefConclusion")
FiniteNatInductiveDefHypothesis(f, c, Def(_, _), m, n) ==
  None("FiniteNatInductiveDefHypothesis")
FiniteNatInductiveDefConclusion(f, c, Def(_, _), m, n) ==
  None("FiniteNatInductiveDefConclusion")

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
==============================================================================
