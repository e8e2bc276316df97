--------------------------- MODULE DyadicRationals ---------------------------
(* Fractions whose denominator is a power of two.                             *)
LOCAL INSTANCE Integers
LOCAL INSTANCE Sequences
LOCAL INSTANCE TLC

LOCAL Fraction(n, d) == [num |-> n, den |-> d]

RECURSIVE Common(_, _)
LOCAL Common(a, b) == IF b = 0 THEN a ELSE Common(b, a % b)
LOCAL Size(n) == IF n < 0 THEN -n ELSE n

(* Java reduces zero and negative fractions, too.                             *)
LOCAL Lowest(n, d) ==
  LET by == Common(Size(n), Size(d)) IN Fraction(n \div by, d \div by)

Zero == Fraction(0, 1)
One == Fraction(1, 1)

IsDyadicRational(r) == \E i \in 0..r.den : 2^i = r.den

Add(p, q) ==
  LET d == IF p.den > q.den THEN p.den ELSE q.den
  IN  IF p = Zero THEN q
      ELSE Lowest(p.num * (d \div p.den) + q.num * (d \div q.den), d)
Half(p) == Lowest(p.num, 2 * p.den)

PrettyPrint(p) ==
  IF p = Zero THEN "0"
  ELSE IF p = One THEN "1"
  ELSE ToString(p.num) \o "/" \o ToString(p.den)
==============================================================================
