--------------------------- MODULE SetExpressions ----------------------------
(* Finite sets, and what is made of them. *)
EXTENDS Integers, FiniteSets

Set01 == {}
Set02 == {1}
Set03 == {1, 1, 1}
Set04 == {2, 1} = {1, 2}
Set05 == {{}, {1}}
Set06 == {1, 2} \cup {2, 3}
Set07 == {1, 2} \union {}
Set08 == {1, 2} \cap {2, 3}
Set09 == {1, 2} \intersect {3}
Set10 == {1, 2, 3} \ {2}
Set11 == {1} \ {1, 2}
Set12 == 1 \in {1, 2}
Set13 == 3 \notin {1, 2}
Set14 == {1} \in {{1}, {2}}
Set15 == {} \in SUBSET {1}
Set16 == {1, 2} \subseteq {1, 2, 3}
Set17 == {1, 4} \subseteq {1, 2, 3}
Set18 == {} \subseteq {}
Set19 == SUBSET {}
Set20 == SUBSET {1, 2}
Set21 == SUBSET SUBSET {1}
Set22 == {1, 2} \in SUBSET {1, 2, 3}
Set23 == UNION {{1, 2}, {2, 3}, {}}
Set24 == UNION {}
Set25 == UNION {{{1}}, {{2}}}
Set26 == UNION SUBSET {1, 2, 3}
Set27 == Cardinality({1, 2, 2, 3})
Set28 == Cardinality({})
Set29 == Cardinality(SUBSET (1..4))
Set30 == Cardinality((1..3) \X (1..4))
Set31 == IsFiniteSet({1, 2})
Set32 == {x + 1 : x \in {1, 2}}
Set33 == {x % 2 : x \in 1..10}
Set34 == {<<x, y>> : x \in {1, 2}, y \in {3}}
Set35 == {x + y : <<x, y>> \in {<<1, 2>>, <<2, 2>>}}
Set36 == {x \in 1..10 : x * x > 50}
Set37 == {<<x, y>> \in (1..2) \X (1..2) : x < y}
Set38 == {x \in SUBSET {1, 2, 3} : Cardinality(x) = 2}
Set39 == {{x, y} : x \in 1..2, y \in 2..3}
Set40 == {1, 2} \X {"a", "b"}
Set41 == {1} \X {2} \X {3}
Set42 == ({1} \X {2}) \X {3}
Set43 == {} \X {1}
Set44 == <<1, "b">> \in {1, 2} \X {"a", "b"}
Set45 == <<1, 2, 3>> \in (1..3) \X (1..3)
Set46 == {1, 2} = {1, 2, 3}
Set47 == {1, 2} # {2, 1}
Set48 == {{1, 2}, {3}} = {{3}, {2, 1}}
Set49 == {<<1, 2>>, <<2, 1>>}
Set50 == {"b", "a", "c"}
Set51 == {TRUE, FALSE}
Set52 == {{}} \ {{}}
Set53 == ((1..5) \ {2}) \cap (2..4)
Set54 == {x \in {1, 2} : FALSE}
Set55 == {n \in Nat \cap (0..3) : n > 1}
Set56 == {f[1] : f \in [{1} -> {5, 6}]}
Set57 == UNION {{x, x * 10} : x \in 1..3}
Set58 == {S \in SUBSET (1..3) : \A x \in S : x + 1 \in S \/ x = 3}
Set59 == (1..3) \cup {2, 7} \cup {}
Set60 == 1..2 \in SUBSET (1..2)
Set61 == {1, 2, 3} = 1..3
Set62 == Cardinality({{}, {{}}, {{}, {{}}}})
Set63 == {x \in {<<1, 2>>, <<3, 4>>} : x[1] + x[2] = 7}
Set64 == {[a |-> x, b |-> x > 1] : x \in 1..2}
Set65 == SUBSET {<<1>>, <<2>>}
Set66 == {i \in 1..3 : i \notin {2}}
==============================================================================
