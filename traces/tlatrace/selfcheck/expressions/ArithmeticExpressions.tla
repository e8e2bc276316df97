------------------------ MODULE ArithmeticExpressions ------------------------
(* Integers, with negative ones and the edges of 32 bits. *)
EXTENDS Integers

Number01 == 1 + 2
Number02 == 2 - 5
Number03 == -3
Number04 == - (-3)
Number05 == -(2 - 9)
Number06 == 7 * 6
Number07 == (-7) * 6
Number08 == 2^10
Number09 == (-2)^3
Number10 == 5^0
Number11 == 7 \div 2
Number12 == (-7) \div 2
Number13 == 7 \div (-2)
Number14 == (-7) \div (-2)
Number15 == 0 \div 5
Number16 == 7 % 3
Number17 == (-7) % 3
Number18 == 6 % 3
Number19 == (-6) % 3
Number20 == 1 + 2 * 3 - 4
Number21 == (1 + 2) * 3
Number22 == 10 - 3 - 2
Number23 == (100 \div 7) \div 2
Number24 == 2147483647
Number25 == -2147483647 - 1
Number26 == 2147483647 - 1 + 1
Number27 == 46340 * 46340
Number28 == 3 < 4
Number29 == 4 < 3
Number30 == 3 <= 3
Number31 == 3 >= 4
Number32 == -1 > -2
Number33 == 3 = 3
Number34 == 3 # 4
Number35 == 3 /= 3
Number36 == 5 \in Nat
Number37 == -5 \in Nat
Number38 == -5 \in Int
Number39 == 0 \in Nat \ {0}
Number40 == 3 \in 1..3
Number41 == 4 \in 1..3
Number42 == 2 \in 3..1
Number43 == 1..4
Number44 == -2..2
Number45 == 3..1
Number46 == 5..5
Number47 == {i * i : i \in -3..3}
Number48 == {i \in 1..20 : i % 7 = 3}
Number49 == \A i \in 1..5 : i + i = 2 * i
Number50 == \E i \in 1..5 : i * i = 17
Number51 == Nat \cap {-1, 0, 1} = {0, 1}
Number52 == 1..3 \subseteq Nat
Number53 == {-1} \subseteq Nat
Number54 == {1, 2} \subseteq Int
Number55 == 010
Number56 == \b101 + \o17 + \hFF
Number57 == (1 .. 3) = {1, 2, 3}
Number58 == 1..0 = {}
==============================================================================
