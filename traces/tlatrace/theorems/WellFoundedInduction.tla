---- MODULE WellFoundedInduction ----
\* The names that proofs cite: nothing is claimed here, and no model checker looks at them.
EXTENDS NaturalsInduction

SetLessThan(x, R, S) == {y \in S : <<y, x>> \in R}
IsTransitivelyClosedOn(R, S) ==
  \A x \in S : \A y \in SetLessThan(x, R, S) : SetLessThan(y, R, S) \subseteq SetLessThan(x, R, S)
IsWellFoundedOn(R, S) == \A f \in [Nat -> S] : \E n \in Nat : <<f[n + 1], f[n]>> \notin R
WFInductiveDefines(f, S, Def(_, _)) == f = [x \in S |-> Def(f, x)]
WFInductiveUnique(S, Def(_, _)) ==
  \A g, h : WFInductiveDefines(g, S, Def) /\ WFInductiveDefines(h, S, Def) => g = h
OpDefinesFcn(f, S, Def(_, _)) == f = CHOOSE g : WFInductiveDefines(g, S, Def)
WFDefOn(R, S, Def(_, _)) ==
  \A g, h : \A x \in S :
    (\A y \in SetLessThan(x, R, S) : g[y] = h[y]) => Def(g, x) = Def(h, x)
TransitiveClosureOn(R, S) ==
  {pair \in S \X S : \A Q \in SUBSET (S \X S) :
                       IsTransitivelyClosedOn(Q, S) /\ (R \cap S \X S) \subseteq Q => pair \in Q}
OpToRel(_\prec_, S) == {pair \in S \X S : pair[1] \prec pair[2]}
PreImage(f(_), S, R) == {pair \in S \X S : <<f(pair[1]), f(pair[2])>> \in R}
LexPairOrdering(R1, R2, S1, S2) ==
  {pair \in (S1 \X S2) \X (S1 \X S2) :
     IF pair[1][1] = pair[2][1]
       THEN <<pair[1][1], pair[2][1]>> \in R1 \/ <<pair[1][2], pair[2][2]>> \in R2
       ELSE <<pair[1][1], pair[2][1]>> \in R1}
LexProductOrdering(R, S, n) ==
  {pair \in [1..n -> S] \X [1..n -> S] :
     \E k \in 1..n : /\ <<pair[1][k], pair[2][k]>> \in R
                     /\ \A i \in 1..(k - 1) : pair[1][i] = pair[2][i]}

THEOREM EmptyIsWellFounded == TRUE
THEOREM IsWellFoundedOnSubset == TRUE
THEOREM IsWellFoundedOnSubrelation == TRUE
THEOREM WFMin == TRUE
THEOREM MinWF == TRUE
THEOREM WellFoundedIsIrreflexive == TRUE
THEOREM WellFoundedIsAsymmetric == TRUE
THEOREM WFSetLessThanIrreflexive == TRUE
THEOREM SetLessTransitive == TRUE
THEOREM WFInduction == TRUE
THEOREM WFDefOnUnique == TRUE
THEOREM WFInductiveDefLemma == TRUE
THEOREM TransitiveClosureThm == TRUE
THEOREM TransitiveClosureMinimal == TRUE
THEOREM TCTCTC == TRUE
THEOREM TCRTC == TRUE
THEOREM RTCTC == TRUE
THEOREM TransitiveClosureChopLast == TRUE
THEOREM TransitiveClosureWF == TRUE
THEOREM WFInductiveDef == TRUE
THEOREM WFInductiveDefType == TRUE
THEOREM NatLessThanWellFounded == TRUE
THEOREM PreImageWellFounded == TRUE
THEOREM WFLexPairOrdering == TRUE
THEOREM WFLexProductOrdering == TRUE
====
