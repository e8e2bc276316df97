------------------------------ MODULE Functions ------------------------------
(* Restriction, inverse, kinds of functions, and folds over their values.     *)
EXTENDS Integers, Folds
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLC

Range(f) == {f[x] : x \in DOMAIN f}

Restrict(f, S) == [x \in S |-> f[x]]
RestrictDomain(f, Test(_)) == [x \in {y \in DOMAIN f : Test(y)} |-> f[x]]
RestrictValues(f, Test(_)) == [x \in {y \in DOMAIN f : Test(f[y])} |-> f[x]]

IsRestriction(narrow, wide) ==
  /\ DOMAIN narrow \subseteq DOMAIN wide
  /\ \A x \in DOMAIN narrow : narrow[x] = wide[x]

Pointwise(f, g, T(_, _)) == [x \in DOMAIN f |-> T(f[x], g[x])]

(* What no element of S is mapped to has any element of S as its inverse.     *)
Inverse(f, S, T) ==
  [y \in T |-> CHOOSE x \in S : IF y \in Range(f) THEN f[x] = y ELSE TRUE]

IsInjective(f) == \A x, y \in DOMAIN f : f[x] = f[y] => x = y

(* Of an injective function only: Java refuses others.                        *)
AntiFunction(f) ==
  IF IsInjective(f)
  THEN [y \in Range(f) |-> CHOOSE x \in DOMAIN f : f[x] = y]
  ELSE Assert(FALSE, "AntiFunction of a function that is not injective")

Injection(S, T) == {f \in [S -> T] : IsInjective(f)}
Surjection(S, T) == {f \in [S -> T] : T \subseteq Range(f)}
Bijection(S, T) == {f \in Injection(S, T) : T \subseteq Range(f)}

ExistsInjection(S, T) == \E f \in [S -> T] : IsInjective(f)
ExistsSurjection(S, T) == \E f \in [S -> T] : T \subseteq Range(f)
ExistsBijection(S, T) ==
  \E f \in [S -> T] : IsInjective(f) /\ T \subseteq Range(f)

(* The elements of a set in the order in which TLC lists them.                *)
LOCAL InOrder(S) ==
  LET from[left \in SUBSET S] ==
        IF left = {}
        THEN <<>>
        ELSE LET x == CHOOSE y \in left : TRUE
             IN  <<x>> \o from[left \ {x}]
  IN  from[{x : x \in S}]

(* Java begins with the first index: it is the innermost application.         *)
FoldFunctionOnSet(op(_, _), base, fun, indices) ==
  LET at == InOrder(indices)
      upto[n \in 0..Len(at)] ==
        IF n = 0 THEN base ELSE op(fun[at[n]], upto[n - 1])
  IN  upto[Len(at)]

FoldFunction(op(_, _), base, fun) == FoldFunctionOnSet(op, base, fun, DOMAIN fun)

SumFunctionOnSet(fun, indices) ==
  FoldFunctionOnSet(LAMBDA x, sum : x + sum, 0, fun, indices)
SumFunction(fun) == FoldFunction(LAMBDA x, sum : x + sum, 0, fun)
==============================================================================
