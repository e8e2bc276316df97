------------------------------- MODULE Mailbox -------------------------------
(* A toy: nodes send numbers into one queue; the other end adds them up. *)
EXTENDS Integers, Sequences

CONSTANTS Node, Max

VARIABLES sent, queue, total

vars == <<sent, queue, total>>

TypeOK ==
  /\ sent \in [Node -> 0..Max]
  /\ queue \in Seq([from : Node, by : Nat])
  /\ total \in Nat
Bounded == Len(queue) <= 2
NeverTwo == Len(queue) < 2      \* false in states that Next reaches

Init ==
  /\ sent = [n \in Node |-> 0]
  /\ queue = <<>>
  /\ total = 0

Send(n, k) ==
  /\ sent[n] + k <= Max
  /\ Len(queue) < 2
  /\ sent' = [sent EXCEPT ![n] = @ + k]
  /\ queue' = Append(queue, [from |-> n, by |-> k])
  /\ UNCHANGED total

Receive ==
  /\ queue # <<>>
  /\ total' = total + Head(queue).by
  /\ queue' = Tail(queue)
  /\ UNCHANGED sent

Forget(n) == \E x \in {n} : sent' = [sent EXCEPT ![x] = 0] /\ UNCHANGED <<queue, total>>

\* Not a step of Next, although it is an action.
Cheat(n) == sent' = [sent EXCEPT ![n] = 0] /\ UNCHANGED <<queue, total>>

\* Its parameter has no bound without a local name, so Next itself has to be asked.
Drop(i) ==
  /\ queue' = SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))
  /\ UNCHANGED <<sent, total>>

Next ==
  \/ \E n \in Node, k \in 1..2 : Send(n, k)
  \/ Receive
  \/ \E n \in Node : sent[n] = Max /\ Forget(n)
  \/ \E i \in DOMAIN queue : LET j == i IN Drop(j)

Spec == Init /\ [][Next]_vars
==============================================================================
