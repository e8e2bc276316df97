------------------------- MODULE FailingExpressions --------------------------
(* Expressions without a value: TLC reports an error, and so must the model. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

RECURSIVE Endless(_)
Endless(n) == Endless(n + 1)

Failing01 == Head(<<>>)
Failing02 == Tail(<<>>)
Failing03 == <<1, 2>>[0]
Failing04 == <<1, 2>>[3]
Failing05 == <<1, 2>>["a"]
Failing06 == <<>>[1]
Failing07 == [x \in {0, 1} |-> x][2]
Failing08 == [a |-> 1].b
Failing09 == [a |-> 1]["b"]
Failing10 == [x, y \in 1..2 |-> x][3, 1]
Failing11 == 1[1]
Failing12 == {1}[1]
Failing13 == "ab"[1]
Failing14 == 1 = "a"
Failing15 == 1 = TRUE
Failing16 == "a" = TRUE
Failing17 == 1 = {1}
Failing18 == <<1>> = 1
Failing19 == {1} = "a"
Failing20 == {1, "a"}
Failing21 == {1, TRUE}
Failing22 == 1 \in {"a"}
Failing23 == TRUE \in {1}
Failing24 == 1 \in 5
Failing25 == 1 \in "a"
Failing26 == "a" \in Nat
Failing27 == TRUE \in Int
Failing28 == 1 + "a"
Failing29 == 1 + TRUE
Failing30 == "a" - 1
Failing31 == {1} * 2
Failing32 == -"a"
Failing33 == -TRUE
Failing34 == 1 < "a"
Failing35 == TRUE > FALSE
Failing36 == 1 \div 0
Failing37 == 1 % 0
Failing38 == 5 % (-2)
Failing39 == 2^(-1)
Failing40 == 1 \cup {1}
Failing41 == {1} \cap 1
Failing42 == {1} \ "a"
Failing43 == SUBSET 1
Failing44 == UNION {1}
Failing45 == UNION 3
Failing46 == Cardinality(3)
Failing47 == Cardinality(Nat)
Failing48 == DOMAIN 1
Failing49 == DOMAIN {1}
Failing50 == Len(1)
Failing51 == Len({1})
Failing52 == Append({1}, 1)
Failing53 == <<1>> \o 2
Failing54 == SubSeq(<<1, 2>>, 0, 1)
Failing55 == SubSeq(<<1, 2>>, 1, 3)
Failing56 == CHOOSE x \in {1, 2} : x > 2
Failing57 == CHOOSE x \in {} : TRUE
Failing58 == CASE FALSE -> 1
Failing59 == CASE 1 > 2 -> 1 [] 3 > 4 -> 2
Failing60 == IF 1 THEN 2 ELSE 3
Failing61 == ~1
Failing62 == 1 /\ TRUE
Failing63 == TRUE /\ 1
Failing64 == "a" \/ TRUE
Failing65 == FALSE \/ 3
Failing66 == 1 => TRUE
Failing67 == TRUE => "a"
Failing68 == TRUE <=> 1
Failing69 == \A x \in 1 : TRUE
Failing70 == \E x \in {1} : x
Failing71 == \A x \in Nat : x >= 0
Failing72 == {x \in 1 : TRUE}
Failing73 == {x \in {1} : x}
Failing74 == {x : x \in 7}
Failing75 == [x \in 1 |-> x][1]
Failing76 == [x \in {0} |-> x] \in Seq(Nat)
Failing77 == [x \in {1} |-> 1] \in [{1} -> SUBSET {1}]
Failing78 == 0^0
Failing79 == [x \in Nat |-> x] = [x \in Nat |-> x]
Failing80 == [1 -> {2}]
Failing81 == 1..TRUE
Failing82 == [a : 1] = {}
Failing83 == LET x == Head(<<>>) IN x
Failing84 == Assert(FALSE, "as it should")
Failing85 == Endless(1)
Failing86 == SelectSeq(<<1>>, LAMBDA x : x)
Failing87 == {x + 1 : x \in {"a"}}
Failing88 == (CHOOSE x \in {2} : TRUE)[1]
Failing89 == (1 \div 0) \in UNION {}
Failing90 == Cardinality(1) \in UNION ({} \cap {})
Failing91 == (1 \div 0) \notin UNION {0 : m \in {}, n \in {}}
Failing92 == Head(<<>>) \in UNION {{n} : n \in {1} \ {1}}
Failing93 == \A <<m, n>> \in {{1, 2}} : TRUE
Failing94 == \E <<m, n>> \in {"ab"} : m = n
Failing95 == \A <<m, n>> \in {[a |-> 1, b |-> 2]} : TRUE
Failing96 == {m : <<m, n>> \in {{1, 2}}}
Failing97 == {<<m, n>> \in {{1, 2}} : m < n}
Failing98 == [<<m, n>> \in {"ab"} |-> 1]
Failing99 == CHOOSE <<m, n>> \in {{1, 2}} : m < n
Failing100 == [<<m, n>> \in SUBSET {1, 2} |-> 1][{1, 2}]
Failing101 == \A <<m, n>> \in SUBSET {1} : TRUE
Failing102 == ({} \X {}) \cap {1}
Failing103 == {1} \cap ({} \X {})
Failing104 == {1} \ ({} \X {1})
Failing105 == {1} \ [{1} -> {}]
Failing106 == [{1} -> {}] \cap {1}
Failing107 == {1} \ [a : {}]
Failing108 == LET S == [{1} -> {}] IN 1 \in S
Failing109 == [a |-> TRUE, c |-> 1] \in [a : Nat, b : STRING]
Failing110 == [b |-> "x", a |-> "y"] \in [b : {"z"}, a : Nat]
Failing111 == [a |-> 1, b |-> 2, d |-> 2] \in [a : {1}, b : {"x"}, c : STRING]
Failing112 == LET S == [a : {1}, b : {"x"}] IN [a |-> "x", c |-> 1] \in S
Failing113 == LET S == SUBSET Seq({1}) IN {<<"a">>, <<2, 3>>} \in S
==============================================================================
