------------------------ MODULE DifferentExpressions -------------------------
(* Where the model and TLC are meant to differ; the table of differences has the reasons. *)
EXTENDS Integers, Sequences, TLC, Bags, FiniteSetsExt, SequencesExt

Different01 == 2147483647 + 1
Different02 == -2147483647 - 2
Different03 == 65536 * 65536
Different04 == 2^31
Different05 == CHOOSE x \in {1, 2} : TRUE
Different06 == CHOOSE x \in {1, 2} : x = 1 \/ x = "a"
Different07 == "ab" \in Seq({"a"})
Different08 == <<"ab">> = "ab"
Different09 == <<"a", "b">> = "ab"
Different10 == <<"a">> # "a"
Different11 == Head("abc")
Different12 == Tail("abc")
Different13 == SubSeq("abc", 1, 2)
Different14 == Append("abc", "d")
Different15 == <<"a">> = "a"
Different16 == <<>> = "a"
Different17 == "a" \in {1} \X {1}
Different18 == {} \in SUBSET 1
Different19 == {} \subseteq 1
Different20 == {} \ 5
Different21 == {} \cap 5
Different22 == {} \cup 5
Different23 == 1 \in {1, 2} \cup 5
Different24 == {[a |-> 1], <<1>>}
Different25 == {<<1>>, <<"a">>}
Different26 == {{1}, {"a"}}
Different27 == [<<1, 2>> EXCEPT ![3] = @ + 1]
Different28 == [<<1, 2>> EXCEPT ![3][1] = 1]
Different29 == [i \in 1..2 |-> <<5>>[i]][1]
Different30 == [x \in {1, 2} |-> IF x = 1 THEN 1 ELSE Head(<<>>)][1]
Different31 == [a |-> 0] (+) [a |-> 1]
Different32 == IsABag([a |-> TRUE])
Different33 == <<-1>> \in UNION {[1..n -> Int] : n \in 0..3}
Different61 == FoldSet(LAMBDA x, acc : 2 * acc + x, 0, {1, 2, 3})
Different62 == FoldSet(LAMBDA x, acc : 2 * acc + x, 0, 1..12)
Different63 == FoldFunction(LAMBDA x, acc : <<x, acc>>, 0, [a |-> 1, b |-> 2])
Different64 == SetToSeq({"a", "b"})
Different65 == MapThenFoldSet(LAMBDA x, acc : <<x, acc>>, 0, LAMBDA x : x,
                              LAMBDA S : CHOOSE x \in S : TRUE, {1, 2})
Different66 == FoldSet(LAMBDA x, acc : x, Head(<<>>), {1})
Different67 == \E m, n \in SUBSET {} : TRUE
Different68 == {<<m, n>> : m, n \in SUBSET {}}
Different69 == [n \in {"a", "b"} |-> {1}] = <<1>>
Different71 == FALSE \in {FALSE, 0}
Different72 == {} \in {{}, "a"}
Different73 == [n \in 1..1 |-> FALSE] \in {<<FALSE>>, 0, TRUE}
Different74 == Len(<<[x \in 0 |-> 1]>>)
Different75 == [[n \in {} |-> {}] EXCEPT ![{}] = 0]
Different76 == [[n \in {} |-> 0] EXCEPT !.b = 0]
Different77 == \E <<m, n>> \in {[i \in 1..2 |-> i]} : TRUE
Different78 == CHOOSE <<m, n>> \in {"ab"} : TRUE
Different79 == {[[b |-> "b", a |-> 0] EXCEPT !.b = ""], [a |-> 0, b |-> <<>>]}
Different80 == "a" \notin 1 \X {}
Different81 == SUBSET <<>>
Different82 == \E m, n \in SUBSET {} : {1}
Different83 == Len(<<{n \in 1 : "a"}>>)
Different84 == [{} -> {}] = [{} -> {1}]
Different85 == [{1} -> {}] \in {[{2} -> {}]}
Different86 == <<1>> = [n \in {5} |-> ({} \cup 1)]
Different87 == [a |-> 1, b |-> 1] \in [a : {2}, b : STRING]
Different88 == LET S == [a : {1}, b : {"x"}] IN [a |-> 2, b |-> 1] \in S
Different89 == [a |-> 2, b |-> 1] \in [a : {1}, b : 5]
Different90 == [a : {}, b : <<>>]
==============================================================================
