------------------------------- MODULE Relation ------------------------------
(* Relations over a set S: functions from pairs to booleans, or operators     *)
(* (the names that end in Under).                                             *)
EXTENDS Naturals, FiniteSets

LOCAL As(op(_, _), S) == [p \in S \X S |-> op(p[1], p[2])]

IsReflexive(R, S) == \A x \in S : R[x, x]
IsIrreflexive(R, S) == \A x \in S : ~R[x, x]
IsSymmetric(R, S) == \A x, y \in S : R[x, y] <=> R[y, x]
IsAntiSymmetric(R, S) == \A x, y \in S : R[x, y] /\ R[y, x] => x = y
IsAsymmetric(R, S) == \A x, y \in S : ~(R[x, y] /\ R[y, x])
IsTransitive(R, S) == \A x, y, z \in S : R[x, y] /\ R[y, z] => R[x, z]
IsStrictlyPartiallyOrdered(R, S) ==
  IsIrreflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsPartiallyOrdered(R, S) ==
  IsReflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsStrictlyTotallyOrdered(R, S) ==
  /\ IsStrictlyPartiallyOrdered(R, S)
  /\ \A x, y \in S : x # y => R[x, y] \/ R[y, x]
IsTotallyOrdered(R, S) ==
  IsPartiallyOrdered(R, S) /\ \A x, y \in S : R[x, y] \/ R[y, x]

(* One node after the other may lie on the way.                               *)
TransitiveClosure(R, S) ==
  LET by[T \in SUBSET S] ==
        IF T = {}
        THEN [p \in S \X S |-> R[p[1], p[2]]]
        ELSE LET via == CHOOSE x \in T : TRUE \* CHOOSE ANY
                 less == by[T \ {via}]
             IN  [p \in S \X S |->
                   less[p[1], p[2]] \/ (less[p[1], via] /\ less[via, p[2]])]
  IN  by[S]
ReflexiveTransitiveClosure(R, S) ==
  LET closure == TransitiveClosure(R, S)
  IN  [p \in S \X S |-> p[1] = p[2] \/ closure[p[1], p[2]]]
IsConnected(R, S) ==
  LET closure == ReflexiveTransitiveClosure(R, S) IN \A x, y \in S : closure[x, y]

IsReflexiveUnder(op(_, _), S) == IsReflexive(As(op, S), S)
IsIrreflexiveUnder(op(_, _), S) == IsIrreflexive(As(op, S), S)
IsSymmetricUnder(op(_, _), S) == IsSymmetric(As(op, S), S)
IsAntiSymmetricUnder(op(_, _), S) == IsAntiSymmetric(As(op, S), S)
IsAsymmetricUnder(op(_, _), S) == IsAsymmetric(As(op, S), S)
IsTransitiveUnder(op(_, _), S) == IsTransitive(As(op, S), S)
IsStrictlyPartiallyOrderedUnder(op(_, _), S) ==
  IsStrictlyPartiallyOrdered(As(op, S), S)
IsPartiallyOrderedUnder(op(_, _), S) == IsPartiallyOrdered(As(op, S), S)
IsStrictlyTotallyOrderedUnder(op(_, _), S) == IsStrictlyTotallyOrdered(As(op, S), S)
IsTotallyOrderedUnder(op(_, _), S) == IsTotallyOrdered(As(op, S), S)
==============================================================================
