------------------------------- MODULE Slots -------------------------------
(* Threads reserve a slot of a ring, fill it, and publish it in the order of their reservations: a
   small specification for a log of our own in the form of the ring's.                            *)
EXTENDS Naturals

CONSTANTS Thread, Size

VARIABLES prodHead, prodTail, consHead, consTail, reservedN, phase, from

vars == <<prodHead, prodTail, consHead, consTail, reservedN, phase, from>>

Init ==
  /\ prodHead = 0 /\ prodTail = 0 /\ consHead = 0 /\ consTail = 0
  /\ reservedN = [t \in Thread |-> 0]
  /\ phase = [t \in Thread |-> "idle"]
  /\ from = [t \in Thread |-> 0]

Take(t, head, is) ==
  /\ phase[t] = "idle"
  /\ reservedN' = [reservedN EXCEPT ![t] = 1]
  /\ from' = [from EXCEPT ![t] = head]
  /\ phase' = [phase EXCEPT ![t] = is]

ReserveProd(t) ==
  /\ prodHead < consTail + Size
  /\ prodHead' = prodHead + 1 /\ Take(t, prodHead, "puts")
  /\ UNCHANGED <<prodTail, consHead, consTail>>

ReserveCons(t) ==
  /\ consHead < prodTail
  /\ consHead' = consHead + 1 /\ Take(t, consHead, "gets")
  /\ UNCHANGED <<prodHead, prodTail, consTail>>

WriteData(t) ==
  /\ phase[t] \in {"puts", "gets"}
  /\ phase' = [phase EXCEPT ![t] = IF @ = "puts" THEN "put" ELSE "got"]
  /\ UNCHANGED <<prodHead, prodTail, consHead, consTail, reservedN, from>>

PublishTail(t) ==
  /\ \/ phase[t] = "put" /\ prodTail = from[t] /\ prodTail' = prodTail + 1 /\ UNCHANGED consTail
     \/ phase[t] = "got" /\ consTail = from[t] /\ consTail' = consTail + 1 /\ UNCHANGED prodTail
  /\ phase' = [phase EXCEPT ![t] = "idle"]
  /\ reservedN' = [reservedN EXCEPT ![t] = 0]
  /\ UNCHANGED <<prodHead, consHead, from>>

\* Nothing that a log could show.
StaleRead(t) == phase[t] = "idle" /\ from' = [from EXCEPT ![t] = consTail]
                /\ UNCHANGED <<prodHead, prodTail, consHead, consTail, reservedN, phase>>

Next ==
  \E t \in Thread :
    ReserveProd(t) \/ ReserveCons(t) \/ WriteData(t) \/ PublishTail(t) \/ StaleRead(t)
=============================================================================
