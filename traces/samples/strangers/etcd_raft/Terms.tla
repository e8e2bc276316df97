------------------------------- MODULE Terms -------------------------------
(* Leaders of growing terms send entries: a small specification for a log of our own in the form of
   etcd's, where a line shows what a server had before it received, and receiving is several steps. *)
EXTENDS Naturals, Sequences

CONSTANT Server

VARIABLES currentTerm, log, messages

Init ==
  /\ currentTerm = [i \in Server |-> 1]
  /\ log = [i \in Server |-> <<>>]
  /\ messages = {}

Timeout(i) ==
  /\ currentTerm' = [currentTerm EXCEPT ![i] = @ + 1]
  /\ UNCHANGED <<log, messages>>

Replicate(i, j) ==
  /\ log' = [log EXCEPT ![i] = Append(@, currentTerm[i])]
  /\ messages' = messages \cup
       {[mterm |-> currentTerm[i], mindex |-> Len(log'[i]), msource |-> i, mdest |-> j]}
  /\ UNCHANGED currentTerm

\* The receiver follows the sender's term first, and the message stays.
UpdateTerm(m) ==
  /\ m.mterm > currentTerm[m.mdest]
  /\ currentTerm' = [currentTerm EXCEPT ![m.mdest] = m.mterm]
  /\ UNCHANGED <<log, messages>>

Receive(m) ==
  /\ m.mterm = currentTerm[m.mdest]
  /\ m.mindex = Len(log[m.mdest]) + 1
  /\ log' = [log EXCEPT ![m.mdest] = Append(@, m.mterm)]
  /\ messages' = messages \ {m}
  /\ UNCHANGED currentTerm

Next ==
  \/ \E i \in Server : Timeout(i)
  \/ \E i, j \in Server : i # j /\ Replicate(i, j)
  \/ \E m \in messages : UpdateTerm(m) \/ Receive(m)
=============================================================================
