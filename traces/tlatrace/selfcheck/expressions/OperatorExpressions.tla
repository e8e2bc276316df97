------------------------- MODULE OperatorExpressions -------------------------
(* Operators with parameters, operators as arguments, recursion, LET, LAMBDA, CHOOSE. *)
EXTENDS Integers, Sequences, FiniteSets

Square(x) == x * x
Apply(F(_), x) == F(x)
Compose(F(_), G(_), x) == F(G(x))
Fold(F(_, _), x, s) == LET go[i \in 0..Len(s)] == IF i = 0 THEN x ELSE F(go[i - 1], s[i])
                       IN  go[Len(s)]
a ++ b == a * 10 + b
a \sqcup b == a \cup b

Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Range(f) == {f[x] : x \in DOMAIN f}

RECURSIVE Sum(_)
Sum(S) == IF S = {} THEN 0 ELSE LET x == Max(S) IN x + Sum(S \ {x})

RECURSIVE Gcd(_, _)
Gcd(a, b) == IF b = 0 THEN a ELSE Gcd(b, a % b)

RECURSIVE Flat(_)
Flat(s) == IF s = <<>> THEN <<>> ELSE Head(s) \o Flat(Tail(s))

RECURSIVE Even(_), Odd(_)
Even(n) == IF n = 0 THEN TRUE ELSE Odd(n - 1)
Odd(n) == IF n = 0 THEN FALSE ELSE Even(n - 1)

RECURSIVE MapSeq(_, _)
MapSeq(F(_), s) == IF s = <<>> THEN <<>> ELSE <<F(Head(s))>> \o MapSeq(F, Tail(s))

Factorial[n \in 0..10] == IF n = 0 THEN 1 ELSE n * Factorial[n - 1]

Operator01 == Square(5)
Operator02 == Square(Square(2))
Operator03 == Apply(Square, 7)
Operator04 == Apply(LAMBDA x : x + 1, 7)
Operator05 == Compose(Square, LAMBDA y : y - 1, 4)
Operator06 == Fold(+, 0, <<1, 2, 3>>)
Operator07 == Fold(LAMBDA x, y : x * 10 + y, 0, <<1, 2, 3>>)
Operator08 == Fold(\cup, {}, <<{1}, {2}>>)
Operator09 == 1 ++ 2 ++ 3
Operator10 == {1} \sqcup {2}
Operator11 == Apply(LAMBDA s : Apply(LAMBDA t : s + t, s), 3)
Operator12 == Max({3, 9, 4})
Operator13 == Min({3, 9, 4})
Operator14 == Max({<<1, 2>>[1], 0})
Operator15 == Range(<<5, 6, 5>>)
Operator16 == Range([a |-> 1, b |-> 2])
Operator17 == Sum(1..10)
Operator18 == Sum({})
Operator19 == Gcd(48, 36)
Operator20 == Flat(<<<<1>>, <<>>, <<2, 3>>>>)
Operator21 == Even(10)
Operator22 == Odd(10)
Operator23 == MapSeq(Square, <<1, 2, 3>>)
Operator24 == MapSeq(LAMBDA x : <<x>>, <<1, 2>>)
Operator25 == Factorial[10]
Operator26 == Factorial
Operator27 == LET RECURSIVE Down(_)
        Down(n) == IF n = 0 THEN <<>> ELSE <<n>> \o Down(n - 1)
  IN  Down(4)
Operator28 == LET twice(F(_), x) == F(F(x)) IN twice(Square, 3)
Operator29 == LET a == 2 IN LET b == a * a IN LET a2 == b + a IN a2
Operator30 == LET fact[n \in 0..6] == IF n = 0 THEN 1 ELSE n * fact[n - 1] IN fact[6]
Operator31 == CHOOSE x \in 1..10 : x * x = 49
Operator32 == CHOOSE x \in {{1}, {1, 2}} : 2 \in x
Operator33 == CHOOSE <<x, y>> \in (1..3) \X (1..3) : x + y = 6
Operator34 == CHOOSE x \in {5} : TRUE
Operator35 == CHOOSE s \in {"ab", "cd"} : s # "ab"
Operator36 == CHOOSE f \in [{1, 2} -> {1, 2}] : f[1] = 2 /\ f[2] = 1
Operator37 == (CHOOSE r \in [a : 1..2, b : 1..2] : r.a + r.b = 4).b
Operator38 == {Max(S) : S \in SUBSET (1..3) \ {{}}}
Operator39 == IF Even(4) THEN Square(Sum({1, 2})) ELSE 0
Operator40 == Fold(LAMBDA x, y : IF x > y THEN x ELSE y, 0, <<2, 8, 5>>)
Operator41 == LET S == 1..4 avg == Sum(S) \div Cardinality(S) IN avg
Operator42 == Apply(Cardinality, {1, 2, 3})
Operator43 == Apply(LAMBDA S : UNION S, {{1}, {2}})
Operator44 == named:: 3 + 4
==============================================================================
