-------------------------- MODULE LogicExpressions ---------------------------
(* Connectives, quantifiers, IF, CASE, and their order of evaluation. *)
EXTENDS Integers, Sequences

Logic01 == TRUE /\ FALSE
Logic02 == TRUE \/ FALSE
Logic03 == ~TRUE
Logic04 == FALSE => TRUE
Logic05 == TRUE => FALSE
Logic06 == FALSE => FALSE
Logic07 == TRUE <=> TRUE
Logic08 == TRUE \equiv FALSE
Logic09 == TRUE = FALSE
Logic10 == TRUE # FALSE
Logic11 == ~(TRUE /\ FALSE) = (~TRUE \/ ~FALSE)
Logic12 == BOOLEAN
Logic13 == TRUE \in BOOLEAN
Logic14 == {TRUE, FALSE} = BOOLEAN
Logic15 == SUBSET BOOLEAN
Logic16 == /\ TRUE
  /\ \/ FALSE
     \/ TRUE
\* What decides comes first: the rest is never evaluated.
Logic17 == FALSE /\ Head(<<>>) = 1
Logic18 == TRUE \/ Head(<<>>) = 1
Logic19 == FALSE => Head(<<>>) = 1
Logic20 == IF TRUE THEN 1 ELSE Head(<<>>)
Logic21 == IF 1 > 2 THEN Head(<<>>) ELSE "else"
Logic22 == \E x \in {1, 2, 3} : x > 0 /\ x < 3
Logic23 == \A x \in {} : Head(<<>>) = x
Logic24 == \E x \in {} : Head(<<>>) = x
Logic25 == \A x \in {1, 2} : \E y \in {3, 4} : x + y = 5 \/ x + y = 6
Logic26 == \E x, y \in 1..3 : x * y = 6
Logic27 == \A x, y \in 1..3 : x * y = y * x
Logic28 == \E x \in 1..3, y \in {10, 20} : x * y = 40
Logic29 == \A <<x, y>> \in {<<1, 2>>, <<2, 4>>} : y = 2 * x
Logic30 == \E <<x, y>> \in (1..2) \X (1..2), z \in 1..5 : x + y + z = 9
Logic31 == CASE 1 > 2 -> "a" [] 2 > 1 -> "b" [] OTHER -> "c"
Logic32 == CASE FALSE -> 1 [] OTHER -> 2
Logic33 == CASE 2 > 1 -> <<1>>
Logic34 == CASE 1 = 1 -> "first" [] 1 = 2 -> Head(<<>>)
Logic35 == IF \A x \in {2, 4} : x % 2 = 0 THEN {1} ELSE {}
Logic36 == LET x == 1 IN x + x
Logic37 == LET x == 1 y == x + 1 IN <<x, y>>
Logic38 == LET f(a) == a + 1 IN f(f(1))
Logic39 == LET f(a, b) == a - b IN f(1, 2)
Logic40 == LET lazy == Head(<<>>) IN 5
Logic41 == LET lazy == Head(<<>>) IN FALSE /\ lazy = 1
Logic42 == LET g[n \in 0..5] == IF n = 0 THEN 1 ELSE n * g[n - 1] IN g[5]
Logic43 == LET S == {1, 2} IN {x + y : x \in S, y \in S}
Logic44 == {x \in {1, 2, 3} : x > 1} = {3, 2}
Logic45 == (1 = 2) = FALSE
Logic46 == (IF TRUE THEN TRUE ELSE FALSE) /\ TRUE
Logic47 == 1 = 1 /\ 2 = 2 => 3 = 3
Logic48 == ~ \E x \in 1..3 : x = 4
Logic49 == {b \in BOOLEAN : ~b}
Logic50 == [b \in BOOLEAN |-> ~b]
Logic51 == \A b \in BOOLEAN : b \/ ~b
==============================================================================
