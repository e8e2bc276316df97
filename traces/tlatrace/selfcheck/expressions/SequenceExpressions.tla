------------------------- MODULE SequenceExpressions -------------------------
(* Tuples and the operators of Sequences. *)
EXTENDS Integers, Sequences, FiniteSets, TLC

Sequence01 == <<>>
Sequence02 == <<1>>
Sequence03 == <<1, "a", TRUE, {2}, <<3>>>>
Sequence04 == Len(<<>>)
Sequence05 == Len(<<1, 2, 3>>)
Sequence06 == Head(<<4, 5>>)
Sequence07 == Tail(<<4, 5, 6>>)
Sequence08 == Tail(<<4>>)
Sequence09 == Append(<<>>, 1)
Sequence10 == Append(<<1>>, <<2>>)
Sequence11 == <<1>> \o <<2, 3>>
Sequence12 == <<>> \o <<>>
Sequence13 == <<1, 2>> \circ <<3>>
Sequence14 == SubSeq(<<1, 2, 3, 4>>, 2, 3)
Sequence15 == SubSeq(<<1, 2, 3>>, 1, 3)
Sequence16 == SubSeq(<<1, 2, 3>>, 3, 2)
Sequence17 == SubSeq(<<>>, 1, 0)
Sequence18 == SelectSeq(<<1, 2, 3, 4>>, LAMBDA x : x % 2 = 0)
Sequence19 == SelectSeq(<<>>, LAMBDA x : TRUE)
Sequence20 == LET big(x) == x > 2 IN SelectSeq(<<3, 1, 4>>, big)
Sequence21 == <<1, 2>> \in Seq({1, 2})
Sequence22 == <<1, 5>> \in Seq({1, 2})
Sequence23 == <<>> \in Seq({})
Sequence24 == <<"a">> \in Seq(STRING)
Sequence25 == <<<<1>>, <<>>>> \in Seq(Seq(Nat))
Sequence26 == [i \in 1..3 |-> i] \in Seq(Nat)
Sequence27 == [i \in {0} |-> i] = <<0>>
Sequence28 == Len([i \in 1..4 |-> 0])
Sequence29 == Head([i \in 1..2 |-> i + 7])
Sequence30 == Append([i \in 1..2 |-> i], 3)
Sequence31 == [i \in 1..2 |-> 0] \o <<1>>
Sequence32 == Tail([i \in 1..3 |-> i])
Sequence33 == [i \in 1..Len(<<5, 6>>) |-> <<5, 6>>[Len(<<5, 6>>) + 1 - i]]
Sequence34 == {<<1, 2>>[i] : i \in DOMAIN <<1, 2>>}
Sequence35 == <<1, 2>> = <<2, 1>>
Sequence36 == <<1, <<2>>>> = <<1, <<2>>>>
Sequence37 == Append(<<1>>, 2) = <<1, 2>>
Sequence38 == Len(<<1, 2>> \o <<3>>) = 3
Sequence39 == {s \in {<<>>, <<1>>, <<1, 2>>} : Len(s) < 2}
Sequence40 == UNION {{s, Append(s, 0)} : s \in {<<>>, <<1>>}}
Sequence41 == SortSeq(<<3, 1, 2>>, <)
Sequence42 == SortSeq(<<3, 1, 2>>, LAMBDA a, b : a > b)
Sequence43 == SortSeq(<<>>, <)
Sequence44 == <<1, 2, 3>>[1] + <<1, 2, 3>>[3]
Sequence45 == Len(SubSeq(<<1, 2, 3, 4, 5>>, 2, 4))
Sequence46 == [<<1, 2, 3>> EXCEPT ![3] = @ + 1] \o <<>>
Sequence47 == Head(Tail(<<1, 2>>))
Sequence48 == {Head(s) : s \in {<<1, 2>>, <<1>>, <<3>>}}
Sequence49 == [s \in {<<>>, <<1>>} |-> Len(s)]
==============================================================================
