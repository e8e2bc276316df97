---------------------------- MODULE FiniteSetsExt ----------------------------
(* Folds over sets, and what is often asked of finite sets.                   *)
EXTENDS Integers, FiniteSets, Folds, Functions

(* Java begins with the first element: it is the innermost application.       *)
FoldSet(op(_, _), base, set) ==
  FoldFunctionOnSet(op, base, [x \in set |-> x], set)
ReduceSet(op(_, _), set, acc) == FoldSet(op, acc, set)

SumSet(set) == FoldSet(LAMBDA x, sum : x + sum, 0, set)
ProductSet(set) == FoldSet(LAMBDA x, product : x * product, 1, set)
MapThenSumSet(op(_), set) == FoldSet(LAMBDA x, sum : op(x) + sum, 0, set)

FlattenSet(S) == UNION S
SymDiff(A, B) == (A \ B) \cup (B \ A)

Quantify(S, P(_)) == Cardinality({x \in S : P(x)})
kSubset(k, S) == {T \in SUBSET S : Cardinality(T) = k}

Max(S) == CHOOSE x \in S : \A y \in S : y <= x
Min(S) == CHOOSE x \in S : \A y \in S : x <= y

(* The sets that hold one element of each set.                                *)
Choices(Sets) ==
  {Range(f) : f \in {g \in [Sets -> UNION Sets] : \A T \in Sets : g[T] \in T}}

ChooseUnique(S, P(_)) == CHOOSE x \in S : P(x) /\ \A y \in S : P(y) => x = y
==============================================================================
