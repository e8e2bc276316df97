--------------------------- MODULE EdgeExpressions ---------------------------
(* At the edges: where TLC has just a value, or just none. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

Both(x, S) == {x} \cup S
Natural == Nat
Same(S) == S
SameAgain(S) == Same(S)

Edge01 == [a |-> 1] = <<1, 2>>
Edge02 == <<1, 2>> = [a |-> 1]
Edge03 == [a |-> 1] = [x \in {0, 1} |-> 1]
Edge04 == [x \in {0, 1} |-> 1] = [a |-> 1]
Edge05 == <<1, 2>> = [x \in {0} |-> 1]
Edge06 == [x \in {0} |-> 1] = <<1, 2>>
Edge07 == [x \in {0} |-> 1] = [x \in {<<1>>} |-> 1]
Edge08 == [x \in {<<1>>} |-> 1] = [x \in {<<"a">>} |-> 1]
Edge09 == [x \in {"a"} |-> 1] = [x \in {0} |-> 1]
Edge10 == [x \in {0} |-> 1] = [x \in {5} |-> "a"]
Edge11 == [x \in {0, 2} |-> 1] = [x \in {0, 5} |-> "a"]
Edge12 == [x \in {0, 2} |-> 1] = [x \in {0, 5} |-> 1]
Edge13 == [a |-> 1, b |-> 2] = [a |-> "x", c |-> 2]
Edge14 == [a |-> 1, b |-> 2] = [a |-> "x"]
Edge15 == <<1, 2>> = <<"a">>
Edge16 == <<1, 2>> = <<3, "a">>
Edge17 == <<1, 2>> = <<"a", 5>>
Edge18 == {1, 2} = {"a"}
Edge19 == {1, 2} = {1, 3}
Edge20 == {1, 2} = {"a", "b"}
Edge21 == {<<1>>} = {<<"a">>}
Edge22 == {<<1>>} = {<<"a", 2>>}
Edge23 == {[a |-> 1]} = {[b |-> 1]}
Edge24 == {[a |-> 1]} = {<<1>>}
Edge25 == [a |-> 1] \in [a : {1}, b : {2}]
Edge26 == [b |-> 1] \in [a : {1}]
Edge27 == [b |-> 1] \in [a : {"x"}]
Edge28 == [a |-> "x"] \in [a : {1}]
Edge29 == [a |-> 1, b |-> 2] \in [a : {"x"}]
Edge30 == <<1, 2>> \in [a : {1}]
Edge31 == [x \in {0, 1} |-> 1] \in [a : {1}]
Edge32 == [x \in {"a"} |-> 1] \in [a : {1}]
Edge33 == [a |-> 1] \in [{"a"} -> {1}]
Edge34 == [a |-> 1] \in [{"a", "b"} -> {1}]
Edge35 == [a |-> 1] \in [{1, 2} -> {1}]
Edge36 == [a |-> "x"] \in [{"a"} -> {1}]
Edge37 == <<1>> \in [{"a"} -> {1}]
Edge38 == <<1>> \in [{"a", "b"} -> {1}]
Edge39 == <<1, 2>> \in [1..3 -> {1}]
Edge40 == <<"x">> \in [1..1 -> {1}]
Edge41 == [x \in {0} |-> 1] \in [0..1 -> {1}]
Edge42 == [x \in {0} |-> 1] \in [{"a"} -> {1}]
Edge43 == <<>> \in [{} -> {1}]
Edge44 == [a |-> 1] \in {1} \X {2}
Edge45 == [x \in {0, 1} |-> 1] \in {1} \X {1}
Edge46 == <<1, 2, 3>> \in {1} \X {1}
Edge47 == <<1, "a">> \in {1} \X {1}
Edge48 == <<"a", 2>> \in {1} \X {1}
Edge49 == "ab" \in {1} \X {1}
Edge50 == "ab" \in Seq({1})
Edge51 == "ab" = <<"ab">>
Edge52 == <<1>> \in {"a", "b"}
Edge53 == "a" \in {<<1>>, <<2>>}
Edge54 == Len("abc")
Edge55 == "abc" \o "d"
Edge56 == "abc"[1]
Edge57 == DOMAIN "abc"
Edge58 == {1, "a"} \in SUBSET {1}
Edge59 == {1, 2} \in SUBSET {"a"}
Edge60 == {3, 1} \in SUBSET {1}
Edge61 == {1} \subseteq 1
Edge62 == 1 \in {1} \cup Head(<<>>)
Edge63 == 1 \in {1} \ {"a"}
Edge64 == 3 \in {1} \cup {"a"}
Edge65 == UNION {{1}, {"a"}}
Edge66 == UNION {{1}, 2}
Edge67 == 3 \in UNION {{1}, {"a"}}
Edge68 == 1 \in DOMAIN <<1>>
Edge69 == "a" \in DOMAIN <<1>>
Edge70 == 1 \in DOMAIN [a |-> 1]
Edge71 == <<1, 2>> \in DOMAIN [x, y \in 1..2 |-> x]
Edge72 == [f \in {1} |-> 2][<<1>>]
Edge73 == [f \in {1} |-> 2]["a"]
Edge74 == [f \in {1, 2} |-> 2]["a"]
Edge75 == <<1, 2>>[TRUE]
Edge76 == [a |-> 1][1]
Edge77 == [<<1, 2>> EXCEPT ![3] = 1]
Edge78 == [<<1, 2>> EXCEPT !["a"] = 1]
Edge79 == [[a |-> 1] EXCEPT !.b = 1]
Edge80 == [[a |-> 1] EXCEPT ![1] = 1]
Edge81 == [[x \in {0} |-> 1] EXCEPT ![5] = 1]
Edge82 == [[x \in {0} |-> 1] EXCEPT !["a"] = 1]
Edge83 == [5 EXCEPT ![1] = 1]
Edge84 == [[a |-> 1] EXCEPT !.a.b = 1]
Edge85 == (1 :> 2) @@ 5
Edge86 == 5 @@ (1 :> 2)
Edge87 == (1 :> 2) @@ ("a" :> 2)
Edge88 == <<1>> @@ [a |-> 1]
Edge89 == [a |-> 1] @@ <<1>>
Edge90 == {[a |-> 1], [b |-> 1]}
Edge91 == {<<1>>, <<"a", 1>>}
Edge92 == {{1}, {"a", "b"}}
Edge93 == {TRUE, {}}
Edge94 == [x \in {1, "a"} |-> x]
Edge95 == [x \in {1} |-> x = "a"]
Edge96 == \E x \in {1, 2} : x = "a"
Edge97 == \E x \in {1, 2} : x = 1 \/ x = "a"
Edge98 == \A x \in {1, 2} : x = 1 /\ x = "a"
Edge99 == {x \in {1, 2} : x = "a"}
Edge100 == SUBSET {1, "a"}
Edge101 == Cardinality({1, "a"})
Edge102 == IF "a" = 1 THEN 1 ELSE 2
Edge103 == <<1 = "a", 2>>[2]
Edge104 == [a |-> 1 = "a", b |-> 2].b
Edge105 == LET x == <<Head(<<>>), 2>> IN x[2]
Edge106 == Len(<<Head(<<>>)>>)
Edge107 == Cardinality({Head(<<>>)})
Edge108 == DOMAIN [a |-> Head(<<>>)]
Edge109 == {x : x \in {Head(<<>>)}} = {}
Edge110 == DOMAIN [x \in {1, 2} |-> Head(<<>>)]
Edge111 == [x \in {1} |-> Head(<<>>)] = 1
Edge112 == (1 :> Head(<<>>)) = <<2, 3>>
Edge113 == <<Head(<<>>)>> = <<1, 2>>
Edge114 == <<1, Head(<<>>)>> = <<2, 3>>
Edge115 == Append(<<>>, Head(<<>>)) = <<>>
Edge116 == {1, Head(<<>>)} = {}
Edge117 == 2 \in {2, Head(<<>>)}
Edge118 == Head(<<1, Head(<<>>)>>)
Edge119 == 2 \in {1} \cap Head(<<>>)
Edge120 == 2 \in {1} \ Head(<<>>)
Edge121 == {1} \subseteq {1} \cup Head(<<>>)
Edge122 == 1 \in Nat \cup Head(<<>>)
Edge123 == -1 \in Nat \cap Head(<<>>)
Edge124 == 1 \in UNION {{1}, Head(<<>>)}
Edge125 == -1 \in Nat \ Head(<<>>)
Edge126 == 1 \in UNION {Nat, Head(<<>>)}
Edge127 == 2 \in UNION {{1}, {2}}
Edge128 == 1 \in {IF y = 2 THEN Head(<<>>) ELSE y : y \in {1, 2}}
Edge129 == 1 \in {y \in {1, 2} : IF y = 2 THEN Head(<<>>) = 1 ELSE TRUE}
Edge130 == 1 \in UNION {IF y = 2 THEN Head(<<>>) ELSE {y} : y \in {1, 2}}
Edge131 == {1} \subseteq {y \in {1, 2} : IF y = 2 THEN Head(<<>>) = 1 ELSE TRUE}
Edge132 == 3 \in {y \in {1, 2} : IF y = 2 THEN Head(<<>>) = 1 ELSE TRUE}
Edge133 == {1} \subseteq {IF y = 2 THEN Head(<<>>) ELSE y : y \in {1, 2}}
Edge134 == 1 \in {IF y = 1 THEN y ELSE Head(<<>>) : y \in 1..2}
Edge135 == 3 \in {y \in 1..2 : y = Head(<<>>)}
Edge136 == 1 \in Both(1, {1}) \cup Both(1, Head(<<>>))
Edge137 == 1 \in (IF 1 = 1 THEN {1} ELSE {}) \cup (LET s == {1} IN Both(1, Head(<<>>)))
Edge138 == 2 \in Both(1, {1}) \cap Both(1, Head(<<>>))
Edge139 == 1 \in Both(1, {1}) \cup Both(1, {2})
Edge140 == 7 \in Nat \cup Both(1, {2})
Edge141 == 3 \in {y \in Natural : y > 2}
Edge142 == 3 \in {y \in Same(Nat) : y > 2}
Edge143 == [a |-> 1] \in {f \in [{"a"} -> Nat] : f["a"] > 2}
Edge144 == 3 \in {y \in LET q == Nat IN q : y > 2}
Edge145 == {1} \in {y \in SUBSET {1, 2} : IF y = {1, 2} THEN Head(<<>>) = 1 ELSE TRUE}
Edge146 == 3 \in {y \in Nat \cup {1} : y > 2}
Edge147 == {3} \subseteq {y \in Natural : y > 2}
Edge148 == 3 \in {y \in {z \in Nat : z > 1} : y > 2}
Edge149 == 3 \in {y \in (IF 1 = 1 THEN Nat ELSE {}) : y > 2}
Edge150 == 3 \in {y \in Same({1, 3}) : IF y = 1 THEN Head(<<>>) = 1 ELSE TRUE}
Edge151 == 3 \in {y \in SameAgain(Nat) : y > 2}
Edge152 == 4 \in UNION {Same(Nat) : n \in {1}}
==============================================================================
