------------------------- MODULE OperandExpressions --------------------------
(* Membership that could be told without one of the operands, which has no value. *)
EXTENDS Integers, Sequences, FiniteSets

Nothing == CHOOSE s \in {} : TRUE
Maybe(n) == IF n = 0 THEN Head(<<>>) ELSE {n}
Pairs(S) == S \X S
Named == [a : {1}, b : Nothing]

Operand01 == <<>> \in Seq(Nothing)
Operand02 == {} \in SUBSET Nothing
Operand03 == {} \subseteq Nothing
Operand04 == <<>> \in [1..1 -> Nothing]
Operand05 == <<>> \in [{} -> Nothing]
Operand06 == <<5>> \in [Nothing -> {1}]
Operand07 == [a |-> 2] \in [a : {1}, b : Nothing]
Operand08 == [a |-> 2, b |-> 1] \in [a : {1}, b : Nothing]
Operand09 == [a |-> 2, b |-> 1] \in Named
Operand10 == <<1>> \in {1} \X Nothing
Operand11 == <<2, 1>> \in {1} \X Nothing
Operand12 == <<>> \in Seq(Seq(Nothing))
Operand13 == {} \in SUBSET SUBSET Nothing
Operand14 == {} \subseteq Seq(Nothing)
Operand15 == {} \subseteq SUBSET Nothing
Operand16 == {} \subseteq (Nat \cup Nothing)
Operand17 == 1 \in Nat \cup Nothing
Operand18 == -1 \in Nat \cap Nothing
Operand19 == -1 \in Nat \ Nothing
Operand20 == <<>> \in Seq(Nat) \cup Seq(Nothing)
Operand21 == <<1>> \in Seq(Nat) \cup [{1} -> Nothing]
Operand22 == {} \in SUBSET (1 .. Head(<<>>))
Operand23 == {} \in SUBSET (1 .. "a")
Operand24 == <<>> \in Seq(DOMAIN Head(<<>>))
Operand25 == <<>> \in Seq(UNION Nothing)
Operand26 == <<>> \in Seq(UNION {Nothing})
Operand27 == <<>> \in Seq({x \in Nothing : TRUE})
Operand28 == <<>> \in Seq({x \in Seq(Nothing) : TRUE})
Operand29 == <<>> \in {x \in Seq(Nothing) : TRUE}
Operand30 == <<>> \in Seq({x \in Nat : Head(<<>>)})
Operand31 == <<>> \in Seq({Head(<<>>) : x \in {1}})
Operand32 == <<>> \in Seq(IF TRUE THEN Nothing ELSE {1})
Operand33 == <<>> \in Seq(IF FALSE THEN Nothing ELSE {1})
Operand34 == <<>> \in IF FALSE THEN Nothing ELSE Seq({1})
Operand35 == <<>> \in Seq(CASE TRUE -> Nothing)
Operand36 == <<>> \in Seq(LET S == Nothing IN S)
Operand37 == <<>> \in Seq(LET S == Nothing IN {1})
Operand38 == \A n \in 0..1 : <<>> \in Seq(Maybe(n))
Operand39 == \A n \in 1..2 : <<>> \in Seq(Maybe(n))
Operand40 == \A n \in 0..1 : {} \subseteq Maybe(n)
Operand41 == <<1>> \in Pairs(Nothing)
Operand42 == <<>> \in Seq(Pairs(Nothing))
Operand43 == <<>> \in Seq(Pairs({1}))
Operand44 == <<>> \in Seq([Nothing -> {1}])
Operand45 == <<>> \in Seq([a : Nothing])
Operand46 == <<>> \in Seq({1, Head(<<>>)})
Operand47 == <<>> \in Seq({1} \cup Nothing)
Operand48 == <<>> \in Seq({} \cap Nothing)
Operand49 == <<>> \in Seq({} \ Nothing)
Operand50 == 1 \in {1, Head(<<>>)}
Operand51 == <<>> \notin Seq(Nothing)
Operand52 == <<>> \in Seq(5)
Operand53 == <<>> \in Seq("a")
Operand54 == <<>> \in [{} -> 5]
Operand55 == <<1>> \in [{} -> 5]
Operand56 == [a |-> 2] \in [a : {1}, b : 5]
Operand57 == <<1>> \in {1} \X 5
Operand58 == [a |-> 2, b |-> 1, c |-> 1] \in [a : {1}, b : 5]
Operand59 == {} \in SUBSET SUBSET {1}
Operand60 == <<>> \in Seq(BOOLEAN) /\ <<>> \in Seq(Nat) /\ <<>> \in Seq(STRING)
Operand61 == \A S \in {{}, {1}} : S \in SUBSET (S \cup {1})
Operand62 == \A f \in [1..2 -> {1}] : f \in [DOMAIN f -> {1}]
Operand63 == LET U == Nothing IN <<>> \in Seq(U)
Operand64 == LET U == Nothing IN {} \subseteq U
Operand65 == \E U \in {1, 2} : <<>> \in Seq({U} \cup Maybe(0))
Operand66 == <<>> \in Seq([x \in {1} |-> Head(<<>>)][1])
Operand67 == <<>> \in [1..0 -> Nat \cup Nothing]
Operand68 == IsFiniteSet({} \cup Nothing)
Operand69 == <<>> \in Seq(UNION {[1..n -> Nothing] : n \in 1..2})
Operand70 == <<>> \in UNION {[1..n -> IF n = 2 THEN Nothing ELSE Nat] : n \in 0..2}
Operand71 == <<>> \in Seq(UNION {S \in SUBSET {1, 2} : Cardinality(S) = 1})
Operand72 == <<>> \in Seq(UNION {Seq(Nat), Seq(Nothing)})
Operand73 == <<>> \in UNION {Seq(Nat), Seq(Nothing)}
Operand74 == <<>> \in Seq(UNION {SUBSET Nat, Nothing})
Operand75 == <<>> \in Seq(UNION {{1}, Nothing})
Operand76 == {} \subseteq {1} \ UNION TRUE
Operand77 == {} \subseteq {1} \cap UNION TRUE
Operand78 == 2 \in {1} \ UNION TRUE
Operand79 == 2 \in {1} \cap STRING
Operand80 == 2 \in STRING \cap {1}
Operand81 == 2 \in {1} \ SUBSET {2}
Operand82 == {} \subseteq (1..3) \ {"a"}
Operand83 == {} \subseteq (1..3) \cup {"a"}
Operand84 == "a" \in (1..3) \cup {"a"}
Operand85 == {} \subseteq (1..2) \cap DOMAIN [a |-> 1]
Operand86 == {} \subseteq UNION {{1} \ STRING}
Operand87 == 5 \in UNION {{1} \ STRING, Nat}
Operand88 == <<>> \in Seq({1} \ STRING)
Operand89 == {} \subseteq Nat \ {"a"}
Operand90 == 5 \in (1..3) \ Nat
Operand91 == {5} \in SUBSET (Nat \ {1})
Operand92 == 5 \in (1..3) \cup {5}
Operand93 == {} \subseteq (1..3) \cup STRING
==============================================================================
