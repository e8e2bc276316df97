----------------------------- MODULE LockServer -----------------------------
(* A server that lends one lock to its clients, first come, first served.

   Each grant carries a new fencing token, so that storage can refuse the writes of a client whose
   lease ran out without its knowledge.  The server does not log that a lease runs out.            *)
EXTENDS Naturals, Sequences

CONSTANTS
  Client,      \* the clients
  Nobody       \* stands for "no client"

ASSUME ClientAssumption == Nobody \notin Client

VARIABLES
  holder,      \* the client that has the lock, or Nobody
  queue,       \* the clients that wait for it, the first one in front
  token        \* the number of grants

Waiting == {queue[i] : i \in 1..Len(queue)}

TypeOK ==
  /\ holder \in Client \cup {Nobody}
  /\ queue \in Seq(Client)
  /\ token \in Nat

\* Else a client waits for itself.
HolderDoesNotWait == holder \notin Waiting

-----------------------------------------------------------------------------
Init == holder = Nobody /\ queue = <<>> /\ token = 0

\* A client asks for the lock.
Request(c) ==
  /\ c # holder
  /\ c \notin Waiting

  /\ queue' = Append(queue, c)
  /\ UNCHANGED <<holder, token>>

\* The first in the queue gets it.
Grant(c) ==
  /\ holder = Nobody
  /\ queue # <<>>
  /\ c = Head(queue)

  /\ holder' = c
  /\ queue' = Tail(queue)
  /\ token' = token + 1

\* The holder gives it back.
Release(c) ==
  /\ holder = c

  /\ holder' = Nobody
  /\ UNCHANGED <<queue, token>>

\* The lease of a holder runs out.
Expire ==
  /\ holder # Nobody

  /\ holder' = Nobody
  /\ UNCHANGED <<queue, token>>

Next ==
  \/ \E c \in Client : Request(c)
  \/ \E c \in Client : Grant(c)
  \/ \E c \in Client : Release(c)
  \/ Expire

Spec == Init /\ [][Next]_<<holder, queue, token>>
=============================================================================
