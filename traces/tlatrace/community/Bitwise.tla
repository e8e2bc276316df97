------------------------------- MODULE Bitwise -------------------------------
(* Bits of integers, as Java has them: of negative ones in two's complement,  *)
(* where the published text never ends or looks at some bits only.            *)
LOCAL INSTANCE Integers

LOCAL Bit(x) == x % 2

RECURSIVE Both(_, _)
LOCAL Both(x, y) ==
  IF x = 0 \/ y = 0 THEN 0
  ELSE IF x = -1 THEN y
  ELSE IF y = -1 THEN x
  ELSE Bit(x) * Bit(y) + 2 * Both(x \div 2, y \div 2)
x & y == IF x >= y THEN Both(x, y) ELSE Both(y, x)

RECURSIVE Either(_, _)
LOCAL Either(x, y) ==
  IF x = 0 THEN y
  ELSE IF y = 0 THEN x
  ELSE IF x = -1 \/ y = -1 THEN -1
  ELSE (IF Bit(x) + Bit(y) > 0 THEN 1 ELSE 0) + 2 * Either(x \div 2, y \div 2)
x | y == IF x >= y THEN Either(x, y) ELSE Either(y, x)

RECURSIVE OneOf(_, _)
LOCAL OneOf(x, y) ==
  IF x = 0 THEN y
  ELSE IF y = 0 THEN x
  ELSE IF x = -1 THEN -1 - y
  ELSE IF y = -1 THEN -1 - x
  ELSE Bit(Bit(x) + Bit(y)) + 2 * OneOf(x \div 2, y \div 2)
x ^^ y == IF x >= y THEN OneOf(x, y) ELSE OneOf(y, x)

(* Only the bits below the highest one are turned: none of a negative number. *)
RECURSIVE Not(_)
Not(a) == IF a <= 0 THEN 0 ELSE (1 - Bit(a)) + 2 * Not(a \div 2)

(* Of 32 bits, with zeros from the left; of `pos` the lowest five bits count. *)
RECURSIVE Shifted(_, _)
LOCAL Shifted(n, pos) ==
  IF pos = 0 THEN n
  ELSE IF n < 0 THEN Shifted((n \div 2) + 2147483647 + 1, pos - 1)
  ELSE Shifted(n \div 2, pos - 1)
shiftR(n, pos) == Shifted(n + 0, pos % 32)
==============================================================================
