---- MODULE BagsTheorems ----
\* The names that proofs cite: nothing is claimed here, and no model checker looks at them.
EXTENDS Bags

LOCAL INSTANCE FiniteSets
LOCAL INSTANCE Naturals

Scaling(n, B) == IF n < 1 THEN <<>> ELSE [e \in DOMAIN B |-> B[e] * n]
SeqToBag(seq) ==
  [x \in {seq[i] : i \in DOMAIN seq} |-> Cardinality({i \in DOMAIN seq : seq[i] = x})]

THEOREM Bags_SqsubsetPO_Reflexivity == TRUE
THEOREM Bags_SqsubseteqPO_AntiSymmetry == TRUE
THEOREM Bags_SqsubseteqPO_Transitivity == TRUE
THEOREM Bags_EmptyBag == TRUE
THEOREM Bags_Scaling == TRUE
THEOREM Bags_Inverse == TRUE
THEOREM Bags_Inverse1 == TRUE
THEOREM Bags_SetToBagEquality == TRUE
THEOREM Bags_Union == TRUE
THEOREM Bags_Difference == TRUE
THEOREM Bags_UnionCommutative == TRUE
THEOREM Bags_UnionAssociative == TRUE
THEOREM Bags_UnionSqSubset == TRUE
THEOREM Bags_ScalingMonotonic == TRUE
THEOREM Bags_DifferenceSqsubset == TRUE
THEOREM Bags_EmptyBagOperations == TRUE
THEOREM Bags_SetToBagIsABag == TRUE
THEOREM Bags_CopiesInBagsInMonotone == TRUE
THEOREM Bags_CopiesInScaling == TRUE
THEOREM Bags_CopiesInSetToBag == TRUE
THEOREM Bags_IsABagSeqToBag == TRUE
====
