------------------------- MODULE FunctionExpressions -------------------------
(* Functions, their domains, EXCEPT, sets of functions, and which of them are tuples. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

f == [x \in {"p", "q"} |-> IF x = "p" THEN 1 ELSE 2]
g == [x \in 0..2 |-> x * x]
m == [x \in 1..2 |-> [y \in {"a", "b"} |-> 10 * x]]

Function01 == [x \in {1, 2} |-> x + 1]
Function02 == [x \in {0, 1} |-> x]
Function03 == [x \in {} |-> x]
Function04 == [x \in {} |-> x] = <<>>
Function05 == [x \in 1..0 |-> x] = [y \in {} |-> 7]
Function06 == [x \in 1..3 |-> x] = <<1, 2, 3>>
Function07 == [x \in 2..3 |-> x]
Function08 == [x \in {"a"} |-> 1]
Function09 == [x \in {"a", "b"} |-> 1] = [a |-> 1, b |-> 1]
Function10 == [x \in {{}, {1}} |-> Cardinality(x)]
Function11 == [x \in {<<1, 2>>, <<2, 1>>} |-> x[1]]
Function12 == [x \in BOOLEAN |-> x]
Function13 == [x, y \in 1..2 |-> x + y]
Function14 == [x \in 1..2, y \in {"a"} |-> <<x, y>>]
Function15 == [<<x, y>> \in {<<1, 2>>} |-> x + y]
Function16 == [x, y \in 1..2 |-> x + y][1, 2]
Function17 == [x, y \in 1..2 |-> x + y][<<2, 2>>]
Function18 == f["p"]
Function19 == f.q
Function20 == g[2]
Function21 == m[2]["a"]
Function22 == m[1].b
Function23 == <<5, 6, 7>>[2]
Function24 == [x \in 1..3 |-> x * 2][3]
Function25 == DOMAIN f
Function26 == DOMAIN g
Function27 == DOMAIN <<5, 6>>
Function28 == DOMAIN <<>>
Function29 == DOMAIN [x, y \in 1..2 |-> 0]
Function30 == DOMAIN [a |-> 1, b |-> 2]
Function31 == [f EXCEPT !["p"] = 5]
Function32 == [f EXCEPT !["p"] = @ + 10, !["q"] = @ * 7]
Function33 == [f EXCEPT !.p = 0]
Function34 == [g EXCEPT ![0] = -1, ![2] = @ - 1]
Function35 == [g EXCEPT ![1] = @ + 1, ![1] = @ + 1]
Function36 == [m EXCEPT ![1]["a"] = 0]
Function37 == [m EXCEPT ![2].b = @ + 1, ![1] = [a |-> 1, b |-> 2]]
Function38 == [m EXCEPT ![1] = [@ EXCEPT !["a"] = @ + 5]]
Function39 == [<<1, 2, 3>> EXCEPT ![2] = "x"]
Function40 == [<<1, 2>> EXCEPT ![1] = @ + 1, ![2] = @ + @]
Function41 == [[x, y \in 1..2 |-> 0] EXCEPT ![1, 2] = 7]
Function42 == [[x, y \in 1..2 |-> 0] EXCEPT ![<<2, 1>>] = 8]
Function43 == [<<[a |-> 1], [a |-> 2]>> EXCEPT ![2].a = @ * 50]
Function44 == [[a |-> <<1, 2>>] EXCEPT !.a[1] = 9]
Function45 == [{1, 2} -> {3, 4}]
Function46 == [{"a", "b"} -> BOOLEAN]
Function47 == [{} -> {1}]
Function48 == [{1} -> {}]
Function49 == [{} -> {}]
Function50 == Cardinality([1..3 -> 1..2])
Function51 == [x \in {1, 2} |-> 3] \in [{1, 2} -> {3, 4}]
Function52 == <<3, 5>> \in [1..2 -> 3..4]
Function53 == f \in [{"p", "q"} -> Nat]
Function54 == [x \in {"p"} |-> {}] \in [{"p"} -> SUBSET {1}]
Function55 == g \in [0..2 -> Int]
Function56 == [x \in 1..2 |-> {x}] \in [1..2 -> SUBSET (1..2)]
Function57 == {h \in [1..2 -> 1..2] : h[1] < h[2]}
Function58 == {h[2] : h \in [1..2 -> 5..6]}
Function59 == \A h \in [{"a"} -> 1..3] : h.a < 4
Function60 == f = [q |-> 2, p |-> 1]
Function61 == f # [p |-> 1]
Function62 == g = [x \in 0..2 |-> x ^ 2]
Function63 == <<1, 2>> = [x \in 1..2 |-> x]
Function64 == <<1, 2>> = <<1, 2, 3>>
Function65 == <<>> = <<>>
Function66 == ("a" :> 1)
Function67 == ("a" :> 1 @@ "b" :> 2)
Function68 == ("a" :> 1 @@ "a" :> 2)
Function69 == (1 :> "x" @@ 2 :> "y")
Function70 == (2 :> "x" @@ 1 :> "y") = <<"y", "x">>
Function71 == (0 :> "x") @@ <<"y">>
Function72 == <<7, 8>> @@ (3 :> 9)
Function73 == DOMAIN (<<1>> :> 2)
Function74 == [x \in DOMAIN f |-> f[x] + 1]
Function75 == LET h[n \in 0..6] == IF n < 2 THEN n ELSE h[n - 1] + h[n - 2] IN h
Function76 == LET h[a \in 1..2, b \in 1..2] == a * 10 + b IN h[2, 1]
Function77 == [S \in SUBSET {1, 2} |-> Cardinality(S)][{1, 2}]
Function78 == [x \in {[a |-> 1], [a |-> 2]} |-> x.a][[a |-> 2]]
Function79 == {[i \in 1..2 |-> i], <<1, 2>>, [x \in {2, 1} |-> x]}
Function80 == [<<x, y>> \in {<<1, 2>>}, u \in {3} |-> x + u]
Function81 == [<<x, y>> \in {<<1, 2>>}, <<u, v>> \in {<<3, 4>>} |-> v]
Function82 == [<<x>> \in {<<1>>} |-> x]
Function83 == [<<x, y>> \in {<<1, 2>>}, u \in {3} |-> y][<<1, 2>>, 3]
Function84 == [<<x, y>> \in {} |-> x]
==============================================================================
