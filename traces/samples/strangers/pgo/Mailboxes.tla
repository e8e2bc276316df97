----------------------------- MODULE Mailboxes -----------------------------
(* A lock server and its clients, which send each other mail: a small specification with the
   variables and the actions of the public logs, for logs of our own in their form.                *)
EXTENDS Naturals, Sequences

CONSTANTS NumClients, defaultInitValue

VARIABLES pc, network, hasLock, msg, q

Clients == 1..NumClients
Nodes == 0..NumClients
lockMsg == 1
unlockMsg == 2
grantMsg == 3

Init ==
  /\ network = [n \in Nodes |-> {}]
  /\ hasLock = [n \in Nodes |-> FALSE]
  /\ msg = [n \in {0} |-> defaultInitValue]
  /\ q = [n \in {0} |-> <<>>]
  /\ pc = [n \in Nodes |-> IF n = 0 THEN "serverLoop" ELSE "acquireLock"]

goto(self, from, to) == pc[self] = from /\ pc' = [pc EXCEPT ![self] = to]
send(to, what) == network' = [network EXCEPT ![to] = @ \cup {what}]

serverLoop(self) ==
  goto(self, "serverLoop", "serverReceive") /\ UNCHANGED <<network, hasLock, msg, q>>

serverReceive(self) ==
  /\ goto(self, "serverReceive", "serverRespond")
  /\ \E one \in network[self] :
       /\ network' = [network EXCEPT ![self] = @ \ {one}]
       /\ msg' = [msg EXCEPT ![self] = one]
  /\ UNCHANGED <<hasLock, q>>

\* The first in the queue has the lock.
serverRespond(self) ==
  /\ goto(self, "serverRespond", "serverLoop")
  /\ IF msg[self].type = lockMsg
       THEN /\ q' = [q EXCEPT ![self] = Append(@, msg[self].from)]
            /\ IF q[self] = <<>> THEN send(msg[self].from, grantMsg) ELSE UNCHANGED network
       ELSE /\ q' = [q EXCEPT ![self] = Tail(@)]
            /\ IF q'[self] # <<>> THEN send(Head(q'[self]), grantMsg) ELSE UNCHANGED network
  /\ UNCHANGED <<hasLock, msg>>

acquireLock(self) ==
  /\ goto(self, "acquireLock", "criticalSection")
  /\ send(0, [from |-> self, type |-> lockMsg])
  /\ UNCHANGED <<hasLock, msg, q>>

criticalSection(self) ==
  /\ goto(self, "criticalSection", "unlock")
  /\ grantMsg \in network[self]
  /\ network' = [network EXCEPT ![self] = @ \ {grantMsg}]
  /\ hasLock' = [hasLock EXCEPT ![self] = TRUE]
  /\ UNCHANGED <<msg, q>>

unlock(self) ==
  /\ goto(self, "unlock", "Done")
  /\ send(0, [from |-> self, type |-> unlockMsg])
  /\ hasLock' = [hasLock EXCEPT ![self] = FALSE]
  /\ UNCHANGED <<msg, q>>

Next ==
  \/ serverLoop(0) \/ serverReceive(0) \/ serverRespond(0)
  \/ \E self \in Clients : acquireLock(self) \/ criticalSection(self) \/ unlock(self)

Safety == \A c, d \in Clients : hasLock[c] /\ hasLock[d] => c = d
=============================================================================
