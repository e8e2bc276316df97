------------------------ MODULE WellFoundedInduction -------------------------
(* The names of theorems on well-founded induction, for modules that hold proofs: *)
(* nothing is proved or evaluated here.                                       *)
EXTENDS NaturalsInduction
LOCAL INSTANCE TLC

LOCAL None(what) == Assert(FALSE, <<what, "of WellFoundedInduction has no value here">>)

IsTransitivelyClosedOn(R, S) == None("IsTransitivelyClosedOn")
IsWellFoundedOn(R, S) == None("IsWellFoundedOn")
SetLessThan(x, R, S) == None("SetLessThan")
WFDefOn(R, S, Def(_, _)) == None("WFDefOn")
OpDefinesFcn(f, S, Def(_, _)) == None("OpDefinesFcn")
WFInductiveDefines(f, S, Def(_, _)) == None("WFInductiveDefines")
WFInductiveUnique(S, Def(_, _)) == None("WFInductiveUnique")
TransitiveClosureOn(R, S) == None("TransitiveClosureOn")
OpToRel(_\prec_, S) == None("OpToRel")
PreImage(f(_), S, R) == None("PreImage")
LexPairOrdering(R1, R2, S1, S2) == None("LexPairOrdering")
LexProductOrdering(R, S, n) == None("LexProductOrdering")

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
==============================================================================
