------------------------------- MODULE Stairs --------------------------------
(* Recursion: operators, mutually recursive operators, functions, functions in LET. *)
EXTENDS Naturals, Sequences

VARIABLES steps, height

RECURSIVE Sum(_)
Sum(s) == IF s = <<>> THEN 0 ELSE Head(s) + Sum(Tail(s))

RECURSIVE Even(_), Odd(_)
Even(n) == IF n = 0 THEN TRUE ELSE Odd(n - 1)
Odd(n) == IF n = 0 THEN FALSE ELSE Even(n - 1)

Ways[n \in 0..8] == IF n < 2 THEN 1 ELSE Ways[n - 1] + Ways[n - 2]

SumOf(S) ==
  LET RECURSIVE Of(_)
      Of(T) == IF T = {} THEN 0
               ELSE LET least == CHOOSE x \in T : \A y \in T : x <= y
                    IN  least + Of(T \ {least})
  IN  Of(S)

\* A recursive operator that reads a variable.
RECURSIVE Below(_)
Below(n) == IF n = 0 THEN 0 ELSE steps[n] + Below(n - 1)

TypeOK ==
  /\ steps \in Seq(1..3) /\ height = Sum(steps)
  /\ Ways[height] > 0 /\ Below(Len(steps)) = height

Init == steps = <<>> /\ height = 0

Climb(n) ==
  /\ Sum(Append(steps, n)) <= 6
  /\ steps' = Append(steps, n)
  /\ height' = Sum(steps')

Fall ==
  /\ Even(height) /\ steps # <<>>
  /\ LET back[i \in 0..Len(steps)] == IF i = 0 THEN <<>> ELSE <<steps[i]>> \o back[i - 1]
     IN  steps' = Tail(back[Len(steps)])
  /\ height' = Sum(steps')

Jump ==
  /\ Odd(height)
  /\ LET all == SumOf({steps[i] : i \in 1..Len(steps)})
     IN  all \in 1..3 /\ steps' = <<all>> /\ height' = all

Next == (\E n \in 1..3 : Climb(n)) \/ Fall \/ Jump
==============================================================================
