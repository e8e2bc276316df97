--------------------------------- MODULE Toy ---------------------------------
(* A master copies its log, the messages 1, 2, 3, ..., to slaves, one message at a time.
   What is sent may be lost, come late, and come again.                                *)
EXTENDS Naturals, Sequences

CONSTANT Slave

VARIABLES
  sent,   \* the last message that the master has sent to a slave; any up to it may arrive
  copy,   \* the log of a slave
  acked   \* as far as the master knows, a slave has so many messages

vars == <<sent, copy, acked>>

Explored(action, s) == TRUE   \* a finite model says what it explores

Init ==
  /\ sent = [s \in Slave |-> 0]
  /\ copy = [s \in Slave |-> <<>>]
  /\ acked = [s \in Slave |-> 0]

\* The master sends the message behind those that were acknowledged, perhaps not for the first time.
Send(s) ==
  /\ Explored("Send", s)
  /\ sent' = [sent EXCEPT ![s] = acked[s] + 1]
  /\ UNCHANGED <<copy, acked>>

Continues(s, n) == n = Len(copy[s]) + 1   \* CHECK OffsetContinues

\* A message reaches a slave, which appends it if it is the next one.
Receive(s, n) ==
  /\ n \in 1..sent[s]
  /\ copy' = IF Continues(s, n) THEN [copy EXCEPT ![s] = Append(@, n)] ELSE copy
  /\ UNCHANGED <<sent, acked>>

\* The master hears how long the log of a slave is, or once was.
Acknowledge(s, n) ==
  /\ n \in 0..Len(copy[s])
  /\ acked' = [acked EXCEPT ![s] = IF n > @ THEN n ELSE @]
  /\ UNCHANGED <<sent, copy>>

Next ==
  \E s \in Slave :
    \/ Send(s)
    \/ \E n \in 1..sent[s] : Receive(s, n)
    \/ \E n \in 0..Len(copy[s]) : Acknowledge(s, n)

Spec == Init /\ [][Next]_vars

TypeOK ==
  /\ sent \in [Slave -> Nat]
  /\ copy \in [Slave -> Seq(Nat)]
  /\ acked \in [Slave -> Nat]

\* Why: whoever reads a slave reads what the master wrote, each message once.
InOrder == \A s \in Slave : copy[s] = [n \in 1..Len(copy[s]) |-> n]

\* Why: a master may drop what is acknowledged.
AckedIsCopied == \A s \in Slave : acked[s] <= Len(copy[s])

\* Witness: falls when a slave lacks two messages that another one has.
NobodyFarBehind == \A s, t \in Slave : Len(copy[s]) < Len(copy[t]) + 2
=============================================================================
