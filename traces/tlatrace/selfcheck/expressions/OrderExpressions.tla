-------------------------- MODULE OrderExpressions ---------------------------
(* One element of a set decides, another has no value: which of them is looked at first? *)
EXTENDS Integers, Sequences, FiniteSets

Low(x) == IF x <= 0 THEN TRUE ELSE 1 \div 0 = 1
High(x) == IF x <= 0 THEN 1 \div 0 = 1 ELSE TRUE
Yes(b) == IF b THEN TRUE ELSE 1 \div 0 = 1
No(b) == IF b THEN 1 \div 0 = 1 ELSE TRUE
OnlyAt(i, j, k, l) == IF i = k /\ j = l THEN TRUE ELSE 1 \div 0 = 1
Numbers == {5, -3, 1}
Squares == {n * n : n \in -2..2}
Odd == {n \in -3..3 : n % 2 = 1}

Order01 == \E x \in {-1, 1} : Low(x)
Order02 == \E x \in {-1, 1} : High(x)
Order03 == \A x \in {1, -1} : ~Low(x)
Order04 == \A x \in {1, -1} : ~High(x)
Order05 == \E x \in -1..1 : Low(x)
Order06 == \E x \in -1..1 : High(x)
Order07 == \E b \in BOOLEAN : Yes(b)
Order08 == \E b \in BOOLEAN : No(b)
Order09 == \E b \in {TRUE, FALSE} : Yes(b)
Order10 == \A b \in {TRUE, FALSE} : ~No(b)
Order11 == \E x \in Numbers : Low(x)
Order12 == \E x \in Numbers : High(x)
Order13 == \E x \in Squares : Low(x)
Order14 == \E x \in Squares : High(x)
Order15 == \E x \in Odd : Low(x)
Order16 == \E x \in Odd : High(x)
Order17 == \E i \in 1..2, j \in 1..2 : OnlyAt(i, j, 1, 1)
Order18 == \E i, j \in 1..2 : i # j /\ OnlyAt(i, j, 2, 1)
Order19 == \E i, j \in 1..2 : i # j /\ OnlyAt(i, j, 1, 2)
Order20 == \A i \in {1, 2}, j \in {1, 2} : i = j \/ ~OnlyAt(i, j, 2, 1)
Order21 == \A i \in {1, 2}, j \in {1, 2} : i = j \/ ~OnlyAt(i, j, 1, 2)
Order22 == \E i \in 1..2 : \E j \in 1..2 : i # j /\ OnlyAt(i, j, 1, 2)
Order23 == \E i \in DOMAIN <<-1, 1>> : Low(<<-1, 1>>[i])
Order24 == \E i \in DOMAIN <<1, -1>> : Low(<<1, -1>>[i])
Order25 == \E i \in DOMAIN [x \in {4, 2, 0} |-> x] : Low(i)
Order26 == \E i \in DOMAIN [x \in {4, 2, 0} |-> x] : High(i)
Order27 == <<-1, "a">> \in Seq(Nat)
Order28 == <<"a", -1>> \in Seq(Nat)
Order29 == LET Some == {x \in Numbers : x # 0} IN \E x \in Some : Low(x)
Order30 == LET Some == {x \in Numbers : x # 0} IN \A x \in Some : ~High(x)
Order31 == \A i \in 1..3 : \A j \in Numbers : i > 1 \/ ~Low(j)
Order32 == \E x \in {7} : High(x)
Order33 == \E x \in {} : x[1]
Order34 == \E <<i, j>> \in {<<1, 2>>} : OnlyAt(i, j, 1, 2)
Order35 == \E i \in {}, j \in CHOOSE S \in {} : TRUE : TRUE
==============================================================================
