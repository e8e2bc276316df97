------------------------------ MODULE Machinery ------------------------------
(* LET with operators, LAMBDA, operators as arguments, operators that are symbols. *)
EXTENDS Integers, Sequences

VARIABLES box, last

Apply(F(_), x) == F(x)
Twice(F(_), x) == F(F(x))
Fold(F(_, _), x, y, z) == F(F(x, y), z)
Map(F(_), s) == [i \in DOMAIN s |-> F(s[i])]

a (+) b == (a + b) % 5
a \prec b == a < b /\ b - a < 3
n ^+ == n + 1

Add(x, y) == x (+) y

TypeOK == box \in [1..2 -> 0..4] /\ last \in -4..4

Init == box = <<0, 1>> /\ last = 0

Turn ==
  LET inc(x) == x (+) 1
      both(x) == LET more == inc(x) IN more (+) inc(more)
  IN  /\ box' = Map(both, box)
      /\ last' = -Apply(inc, box[1])

Double ==
  /\ box[1] \prec box[2]
  /\ box' = Map(LAMBDA x : Twice(LAMBDA y : y (+) 2, x), box)
  /\ last' = Fold(Add, 1, box[1], box[2])

Join ==
  /\ last # 0
  /\ box' = [box EXCEPT ![1] = Fold(LAMBDA x, y : (x * y) % 5, @, box[2], 3)]
  /\ last' = LET n == 3 m == n^+ IN Apply(LAMBDA k : k - n, m (+) box[2])

Next == Turn \/ Double \/ Join
==============================================================================
