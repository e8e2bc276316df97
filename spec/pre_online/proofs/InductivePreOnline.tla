-------------------------- MODULE InductivePreOnline --------------------------
(* What must be added to PreOnlineAll so that each step keeps all of it, from every state in which it
   holds, reachable or not: an inductive invariant.  z3 proves that, and what PreOnline says of steps,
   for offsets, versions and steps of any size (rocketproof prove MetaMonotone).  Tests look at these
   here in the states of walks through a small model.                                            *)
EXTENDS PreOnlineProperties

\* Parts of TypeOK that are needed.
Brokers ==
  /\ group \subseteq Broker
  /\ members \subseteq Slave
  /\ done \subseteq Slave
  /\ there \subseteq Slave
  /\ met \subseteq Slave
Naturals ==
  \A b \in Broker :
    /\ version[b] >= 0 /\ saved[b].version >= 0 /\ moves[b] >= 0
    /\ \A q \in Queue : table[b][q] >= 0 /\ saved[b].table[q] >= 0

\* Who was there is still registered.
ThereInGroup == there \subseteq group

\* Who is down serves nobody, and a master that waits does not.
Silent == \A b \in Broker : serves[b] => up[b] /\ ~(b = Master /\ isolated)

\* What a master has asked, and of whom it has the table, is forgotten when it waits no more.
Waits ==
  /\ isolated => up[Master]
  /\ ~isolated => done = {} /\ ~asked

\* An answer that counts has everybody who was there,
AskedThere == asked => there \subseteq members
\* and a table that it has was taken over a connection.
DoneMet == done \subseteq met
=============================================================================
