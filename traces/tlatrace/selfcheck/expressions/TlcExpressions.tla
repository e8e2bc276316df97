--------------------------- MODULE TlcExpressions ----------------------------
(* The module TLC. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

Tlc01 == 1 :> 2
Tlc02 == 3 :> 4 @@ 5 :> 6
Tlc03 == {1 :> 2, <<2>>}
Tlc04 == [x \in {3} |-> 4] = 3 :> 4
Tlc05 == DOMAIN (3 :> 4 @@ 5 :> 6)
Tlc06 == (5 :> 1 @@ 5 :> 2)[5]
Tlc07 == <<1, 2>> @@ <<3, 4, 5>>
Tlc08 == [a |-> 1] @@ [a |-> 2, b |-> 3]
Tlc09 == <<>> @@ (1 :> "one")
Tlc10 == Permutations({})
Tlc11 == Permutations({1})
Tlc12 == Permutations({1, 2})
Tlc13 == Permutations({"a", "b"})
Tlc14 == Cardinality(Permutations({1, 2, 3}))
Tlc15 == SortSeq(<<2, 3, 1>>, LAMBDA x, y : x < y)
Tlc16 == SortSeq(<<"bb", "a">>, LAMBDA x, y : x = "a")
Tlc17 == SortSeq(<<<<2, 1>>, <<1, 2>>>>, LAMBDA x, y : x[1] < y[1])
Tlc18 == Assert(1 = 1, "never seen")
Tlc19 == IF Assert(TRUE, "never seen") THEN 1 ELSE 2
Tlc20 == Assert(TRUE, ToString(1..3))
Tlc21 == Assert(TRUE, <<"seen", Head(<<>>)>>)
Tlc22 == IF Assert(TRUE, "at " \o ToString(Head(<<>>))) THEN 1 ELSE 2
Tlc23 == IF Assert(1 = 1, <<"at", ToString({1, 2}), [of |-> ToString(3)]>>) THEN 1 ELSE 2
Tlc24 == Assert(FALSE, ToString(2))
Tlc25 == TLCEval({x \in 1..3 : x > 1})
==============================================================================
