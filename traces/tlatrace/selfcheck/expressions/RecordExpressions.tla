-------------------------- MODULE RecordExpressions --------------------------
(* Records, record sets and tuples with fields. *)
EXTENDS Integers, FiniteSets

r == [name |-> "n", age |-> 3, at |-> [x |-> 1, y |-> <<2, 3>>]]

Record01 == [a |-> 1]
Record02 == [a |-> 1, b |-> "two", c |-> {3}]
Record03 == [b |-> 2, a |-> 1] = [a |-> 1, b |-> 2]
Record04 == r.name
Record05 == r.at.x
Record06 == r.at.y[2]
Record07 == r["age"]
Record08 == DOMAIN r
Record09 == [r EXCEPT !.age = @ + 1]
Record10 == [r EXCEPT !.at.x = 9, !.name = "m"]
Record11 == [r EXCEPT !.at.y[1] = @ * 100]
Record12 == [r EXCEPT !["age"] = 4].age
Record13 == [a : {1, 2}, b : {"x"}]
Record14 == [a : {}, b : {1}]
Record15 == Cardinality([a : 1..3, b : 1..4, c : BOOLEAN])
Record16 == [a |-> 1, b |-> 2] \in [a : Nat, b : 1..2]
Record17 == [a |-> 1] \in [a : Nat, b : Nat]
Record18 == [a |-> 1, b |-> -2] \in [a : Nat, b : Nat]
Record19 == {x.a : x \in [a : 1..2, b : 1..2]}
Record20 == {x \in [a : 1..2, b : 1..2] : x.a < x.b}
Record21 == [a |-> 1] = [a |-> 1, b |-> 1]
Record22 == [a |-> 1] # [b |-> 1]
Record23 == {[a |-> 1], [a |-> 2]} \ {[a |-> 1]}
Record24 == [a |-> [b |-> [c |-> 7]]].a.b.c
Record25 == [x \in {"a", "b"} |-> 5].b
Record26 == [type : {"req"}, id : 1..2] \cup [type : {"ack"}, id : {1}]
Record27 == \E x \in [a : 1..2] : x.a = 2
Record28 == [IF_ |-> 1, THEN2 |-> 2]
==============================================================================
