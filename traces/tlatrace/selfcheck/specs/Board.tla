-------------------------------- MODULE Board --------------------------------
(* A stone on a board: \X, tuple patterns in quantifiers, functions and sets, f[x, y]. *)
EXTENDS Integers

CONSTANT N

VARIABLES stone, marks

Cell == (1..N) \X (1..N)

Distance(c, d) == LET abs(n) == IF n < 0 THEN -n ELSE n
                  IN  abs(c[1] - d[1]) + abs(c[2] - d[2])

TypeOK ==
  /\ stone \in Cell
  /\ marks \in [Cell -> BOOLEAN]
  /\ \A <<x, y>> \in Cell : marks[x, y] = marks[<<x, y>>]

Init == stone = <<1, 1>> /\ marks = [<<x, y>> \in Cell |-> x = y /\ x > 1]

Go ==
  \E <<dx, dy>> \in {<<0, 1>>, <<1, 0>>, <<-1, 0>>} :
    /\ <<stone[1] + dx, stone[2] + dy>> \in Cell
    /\ stone' = <<stone[1] + dx, stone[2] + dy>>
    /\ UNCHANGED marks

Mark(x, y) ==
  /\ Distance(stone, <<x, y>>) = 1
  /\ marks' = [marks EXCEPT ![x, y] = ~@]
  /\ UNCHANGED stone

Leap ==
  LET free == {<<y, x>> : <<x, y>> \in {c \in Cell : ~marks[c]}}
      far == {c \in free : \A d \in free : Distance(stone, c) >= Distance(stone, d)}
  IN  /\ \E c \in far : stone' = c
      /\ marks' = [c \in Cell |-> IF c = stone THEN TRUE ELSE marks[c]]

Next ==
  \/ Go
  \/ \E x, y \in 1..N : Mark(x, y)
  \/ Leap
==============================================================================
