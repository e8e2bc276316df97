------------------------------ MODULE TwoQueues ------------------------------
(* Letters move between two queues: the operators of Sequences. *)
EXTENDS Naturals, Sequences

CONSTANT Max    \* letters in both queues together

VARIABLES left, right

Letter == {"a", "b"}

TypeOK ==
  /\ left \in Seq(Letter)
  /\ right \in Seq(Letter)
  /\ Len(left) + Len(right) \in 0..Max
  /\ DOMAIN left = 1..Len(left)

Init == left = <<>> /\ right = <<"a", "a">>

Put(letter) ==
  /\ Len(left \o right) < Max
  /\ left' = Append(left, letter)
  /\ UNCHANGED right

Move ==
  /\ left # <<>>
  /\ right' = Append(right, Head(left))
  /\ left' = Tail(left)

DropOne(i) ==
  /\ right' = SubSeq(right, 1, i - 1) \o SubSeq(right, i + 1, Len(right))
  /\ UNCHANGED left

Keep(letter) ==
  /\ right' = SelectSeq(right, LAMBDA r : r = letter)
  /\ left' = left

Reverse == left' = [i \in 1..Len(left) |-> left[Len(left) + 1 - i]] /\ right' = right

Next ==
  \/ \E letter \in Letter : Put(letter)
  \/ Move
  \/ \E i \in DOMAIN right : DropOne(i)
  \/ \E letter \in Letter : Keep(letter)
  \/ Reverse
==============================================================================
