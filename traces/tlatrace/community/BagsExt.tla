------------------------------- MODULE BagsExt -------------------------------
(* More operators on bags: functions from elements to how often they occur.   *)
LOCAL INSTANCE Integers
LOCAL INSTANCE Folds
LOCAL INSTANCE Functions
LOCAL INSTANCE TLC

BagAdd(B, x) ==
  IF x \in DOMAIN B
  THEN [B EXCEPT ![x] = @ + 1]
  ELSE [y \in DOMAIN B \cup {x} |-> IF y = x THEN 1 ELSE B[y]]
BagRemove(B, x) ==
  IF x \in DOMAIN B
  THEN IF B[x] = 1
       THEN [y \in DOMAIN B \ {x} |-> B[y]]
       ELSE [B EXCEPT ![x] = @ - 1]
  ELSE B
BagRemoveAll(B, x) == [y \in DOMAIN B \ {x} |-> B[y]]

(* The base counts once more for each element: so the published text says,    *)
(* and TLC has no Java for it.                                                *)
MapThenFoldBag(op(_, _), base, f(_), choose(_), B) ==
  LET all(x) ==
        LET upto[n \in Nat] == IF n = 0 THEN base ELSE op(upto[n - 1], f(x))
        IN  IF B[x] \in Nat \ {0}
            THEN upto[B[x]]
            ELSE Assert(FALSE, "MapThenFoldBag of what is no bag")
  IN  MapThenFoldSet(op, base, all, LAMBDA S : CHOOSE x \in S : TRUE, DOMAIN B)

(* Java begins with the base, once; the element is the right operand.         *)
FoldBag(op(_, _), base, B) ==
  LET more(times, x, acc) ==
        LET upto[n \in Nat] == IF n = 0 THEN acc ELSE op(upto[n - 1], x)
        IN  IF times \in Nat \ {0}
            THEN upto[times]
            ELSE Assert(FALSE, "FoldBag of what is no bag")
  IN  FoldFunction(LAMBDA x, acc : more(B[x], x, acc), base, [x \in DOMAIN B |-> x])

SumBag(B) == FoldBag(LAMBDA sum, x : sum + x, 0, B)
ProductBag(B) == FoldBag(LAMBDA product, x : product * x, 1, B)
==============================================================================
