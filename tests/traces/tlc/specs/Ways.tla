---- MODULE Ways ----
\* Places of actions in Next in many forms; each action adds p + 10 * q to x, and says its number.
EXTENDS Integers, FiniteSets
CONSTANT Small
VARIABLES x, by

Do(n, p, q) == x' = x + p + 10 * q /\ by' = n

Two(p, q) == Do(1, p, q)              \* a plain place, and one behind a guard
Guarded(p, q) == Do(2, p, q)          \* a guard between the quantifier and the call
Below(p) == Do(3, p, 0)               \* a bound that depends on another one
Pattern(p, q) == Do(4, p, q)          \* a tuple pattern
Twice(p, q) == Do(5, p, q)            \* one name for two parameters
Nothing(p) == Do(6, p, 0)             \* a quantifier over the empty set around the call
InLet(p) == Do(7, p, 0)               \* below LET, with a name of LET as the argument
InIf(p) == Do(8, p, 0)
InCase(p) == Do(9, p, 0)
Behind(p) == Do(10, p, 0)             \* a condition behind the call
Passed(p) == Do(11, p, 0)             \* called by an operator with parameters
Implied(p) == Do(12, p, 0)            \* to the right of =>
Each(p) == Do(13, p, 0)               \* below \A
ByOperator(p) == Do(14, p, 0)         \* called by an operator that takes an operator
Plain == x' = x + 500 /\ by' = 15     \* without parameters, behind a guard
Part(p) == Do(17, p, 0)
Whole(p) == \E q \in {p} : Part(q)    \* calls another action
Asked(p) == Do(18, p, 0)              \* in the condition of IF: nobody can tell
Never(p) == Do(19, p, 0)              \* no part of Next; what it does, Part does, too, with 1
Again(p) == Do(17, p, 0)
Deep(p) == Do(20, p, 0)               \* called by a recursive operator
RECURSIVE Down(_)
Down(n) == n > 0 /\ (Deep(n) \/ Down(n - 1))

Choose(F(_), S) == \E e \in S : e # 2 /\ F(e)
Twofold(a, b) == a > 1 /\ Passed(b)
Pairs == {<<1, 2>>, <<2, 3>>}

Init == x = 0 /\ by = 0

Next ==
  \/ Two(0, 1)
  \/ \E p, q \in 1..2 : p # q /\ Two(p, q)
  \/ \E p \in 1..2 : \E q \in 1..2 : p # q /\ Guarded(p, q)
  \/ \E S \in SUBSET Small : Cardinality(S) = 1 /\ \E p \in S : Below(p)
  \/ \E <<p, q>> \in Pairs : Pattern(p, q)
  \/ \E p \in 1..3 : Twice(p, p)
  \/ \E p \in {} : Nothing(1)
  \/ LET n == 2
         Doubled(i) == InLet(n * i)
     IN \E i \in 1..2 : Doubled(i)
  \/ IF x < 3 THEN InIf(1) ELSE \E p \in {2} : InIf(p)
  \/ CASE x = 0 -> InCase(1)
       [] x = 1 -> InCase(2)
       [] OTHER -> InCase(3)
  \/ \E p \in 1..3 : Behind(p) /\ x' # 2
  \/ \E a \in 1..2, b \in 1..2 : Twofold(a, b + 1)
  \/ (x = 0 => Implied(1)) /\ x = 0
  \/ \A p \in {1} : Each(p)
  \/ Choose(ByOperator, 1..3)
  \/ x = 0 /\ Plain
  \/ \E p \in 1..2 : Whole(p)
  \/ IF Asked(1) THEN TRUE ELSE FALSE
  \/ Down(2)
====
