----------------------------- MODULE SyncStateSet -----------------------------
(* The SyncStateSet of RocketMQ 5's controller mode, in one epoch of one master.

   The controller keeps, for a broker group, the set of replicas one of which may be elected: the
   SyncStateSet.  The master asks to change it: it adds a slave that has caught up (expand) and takes
   out one that has not (shrink).  Meanwhile it answers producers and shows records to consumers.  An
   answered record must be on every replica that could be elected, whatever set the controller has at
   that moment; but the master learns of the controller's decisions late.  So it waits for every
   replica that is in the set it knows or in a set it has asked for, until it learns what became of
   the request.  Without that, an acknowledged record is gone after a failover.

   Modelled: puts, copying and acknowledgements in flight, requests to the controller that are
   delayed, duplicated or lost, answers and polls that come late, compare-and-set at the controller
   at the moment of the decision, refusals for whatever reason, confirmOffset, consumers; slaves that
   have any part of the log at the beginning of the epoch, or are down, or do not hear of it at once,
   or are still connected to a master that is elected once more;
   crashes that lose any part of a log; the return as a new incarnation, or as the same if nothing is
   lost; half-open connections; the crash of the master, and the election of another member, after
   which the old master goes on: it does not know.  allAckInSyncStateSet is true.
   Not modelled: what a broker does that knows of the next election (ReplicaGroup): it takes no more
   steps here, and what it had then stays; epochs within the log and truncation (EpochTruncation): a
   log is measured by how much of the master's log it has.  Time: `due` says whether those who are
   taken out have not had everything for long; a model has it at any moment, of a run it is known.
   minInSyncReplicas, learners, several connections of one slave, the list of a controller's
   checks (only those that decide).

   Conventions: a record is its offset; ends are numbers of records; epochs of sets and incarnations
   are counted from the election on.  A member is a broker with its incarnation: <<b, i>>.  Late,
   repeated and lost: a request that was sent stays in `alters`, what the controller has ever decided
   stays in `views`.
   Source: AutoSwitchHAService, AutoSwitchHAConnection, GroupTransferService, ReplicasManager and
   ReplicasInfoManager of apache/rocketmq at 8fc57f1468; published rule: RIP-44, "SyncStateSet".  *)
EXTENDS SyncStateSetState, Sequences, Extrema

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, b) == TRUE
\* What a crash may leave of a log of n records: all may be unflushed.
Surviving(n) == 0..n
\* A broker that lost something returns as a new incarnation; who cannot know says that it did.
Incarnations(b) == IF torn[b] THEN {inc[b] + 1} ELSE {inc[b], inc[b] + 1}
\* A member is the incarnation that is registered now.
IsPresent(m) == inc[m[1]] = m[2]

\* ---- Actions of the master ----

\* The replicas whose acknowledgement counts: the set that it knows and every set it has asked for.
\*                                              \* CHECK B14   \* CHECK W2   \* CHECK W10
AckSet(known, proposals) == known \cup UNION {p.set : p \in proposals}
\* A member is heard through a connection of its own incarnation.  One of a later incarnation is as
\* good: it shows that the member, as what it joined, is gone.
Connected(m, c) == c[m[1]] # NoConn /\ c[m[1]].inc >= m[2]
Heard(m, c) == Connected(m, c) /\ c[m[1]].ack # -1
Has(m, n) == Heard(m, conn) /\ conn[m[1]].ack >= n
Reports(S, c) == {c[m[1]].ack : m \in S}
\* confirmOffset stays where it is while some member is not heard, or has lost what it had.
\*                                              \* CHECK B15   \* CHECK B16   \* CHECK B19
Confirmed(S, c, own, old) ==
  IF \E m \in Others(S) : ~Heard(m, c) THEN old
  ELSE Max(old, MinOf({own} \cup Reports(Others(S), c)))

\* A producer's message is appended.
PutMessage ==
  /\ Explored("PutMessage", Master)
  /\ role = "Master"

  /\ end' = [end EXCEPT ![Master] = @ + 1]
  /\ confirm' = Confirmed(AckSet(local, pend), conn, end'[Master], confirm)
  /\ UNCHANGED <<ctlVars, setVars, conn, up, inc, torn, seenVars>>

\* The master hears that a slave has the log up to a; the first report starts the transfer.
ReceiveAck(s, a) ==
  /\ role = "Master"
  /\ conn[s] # NoConn
  /\ a \in (IF conn[s].ack = -1 THEN conn[s].reported ELSE conn[s].ack + 1)..conn[s].reported

  /\ conn' = [conn EXCEPT ![s].ack = a, ![s].ready = a >= confirm]
  /\ confirm' = Confirmed(AckSet(local, pend), conn', end[Master], confirm)
  /\ UNCHANGED <<ctlVars, setVars, brokerVars, seenVars>>

\* A record is safe when every one of them has it, and stays so: a producer may hear of it late, when
\* the master's disk is slow and somebody is not heard any more.  \* CHECK Counted  \* CHECK MasterAck
Gate(n) == n <= confirm \/ \A m \in Others(AckSet(local, pend)) : Has(m, n)

\* The producers of all records up to n hear that they are safe.
Acknowledge(n) ==
  /\ role = "Master"
  /\ n \in (acked + 1)..end[Master]
  /\ Gate(n)

  /\ acked' = n
  /\ UNCHANGED <<ctlVars, setVars, confirm, conn, brokerVars, visible>>

\* Consumers see what is confirmed.                                  \* CHECK B17   \* CHECK Alone
Served == confirm

\* A consumer reads up to n.
Consume(n) ==
  /\ Explored("Consume", Master)
  /\ role = "Master"
  /\ n \in (visible + 1)..Served

  /\ visible' = n
  /\ UNCHANGED <<ctlVars, setVars, confirm, conn, brokerVars, acked>>

\* One proposal at a time.                                           \* CHECK B21
MayPropose == pend = {}
\* A proposal is made from the set that is known.                    \* CHECK W2
Base == local
\* A new proposal never takes the place of one that is undecided.    \* CHECK B79
WithProposal(proposals, p) == proposals \cup {p}

Propose(set) ==
  LET p == [set |-> set, exp |-> sssE, base |-> local]
  IN pend' = WithProposal(pend, p) /\ queue' = queue \cup {p}

\* A slave that is added has all that was ever confirmed, at the moment of the proposal.
\*                                                                   \* CHECK B81
CaughtUp(s) == conn[s].ack >= confirm
\* And it has what was there when the master was elected.            \* CHECK ExpandEpoch
HasEpochStart(s) == conn[s].ack >= start

\* A slave that has caught up may join, if nothing is undecided.
MayExpand(s) ==
  /\ MayPropose
  /\ s \notin Names(local)
  /\ conn[s] # NoConn
  /\ CaughtUp(s)
  /\ HasEpochStart(s)

\* The master asks for a slave: check and proposal are one step (maybeExpand).
Expand(s) ==
  /\ Explored("Expand", s)
  /\ role = "Master"
  /\ MayExpand(s)

  /\ Propose(Base \cup {<<s, conn[s].inc>>})
  /\ UNCHANGED <<ctlVars, role, start, local, sssE, confirm, conn, brokerVars, seenVars>>

\* Every slave may be taken out, connected or not; the master may not.
\*                                                     \* CHECK B25   \* CHECK SelfShrink
Removable == Slave

\* The master asks for the set without some brokers: too slow, or gone (maybeShrink,
\* removeConnection).
Shrink(B, due) ==
  /\ \A b \in B : Explored("Shrink", b)
  /\ due
  /\ role = "Master"
  /\ MayPropose
  /\ B # {}
  /\ B \subseteq Removable
  /\ B \subseteq Names(local)

  /\ Propose({m \in Base : m[1] \notin B})
  /\ UNCHANGED <<ctlVars, role, start, local, sssE, confirm, conn, brokerVars, seenVars>>

\* What a proposal is made of is what is known when it is made, and it counts from then on: a set
\* that was looked at, and is known no more, is not sent.             \* CHECK StaleLook
Sendable == queue
\* A request carries the epoch of the set that it was made from.     \* CHECK B22
Stamped(p) == p

\* A proposal goes to the controller; it is sent again until it is decided (ReplicasManager).
SendAlter ==
  /\ role = "Master"
  /\ \E p \in Sendable :
       /\ queue' = queue \ {p}
       /\ alters' = alters \cup {Stamped(p)}
       /\ pend' = IF p \in pend THEN (pend \ {p}) \cup {Stamped(p)} ELSE pend
  /\ UNCHANGED <<ctl, views, role, start, local, sssE, confirm, conn, brokerVars, seenVars>>

\* An older set than the known one is of no use.                      \* CHECK LateSet
IsNews(e) == e >= sssE
\* The master takes the controller's set, not the one that it asked for.   \* CHECK Adopt
Adopted(e) == views[e]
\* A proposal is decided when the master knows an epoch above the expected one, ...
Decided(p, e) == p.exp < e
\* ... and only then does it end.                       \* CHECK B20   \* CHECK B80   \* CHECK B82
Ends(p, e) == Decided(p, e)

\* The master learns the set of epoch e: an answer, or a poll (getReplicaInfo), maybe late; e may be
\* what it knows already.
Learn(e) ==
  /\ role = "Master"
  /\ e \in DOMAIN views
  /\ IsNews(e)

  /\ local' = Adopted(e)
  /\ sssE' = e
  /\ pend' = {p \in pend : ~Ends(p, e)}
  /\ confirm' = Confirmed(AckSet(local', pend'), conn, end[Master], confirm)
  /\ UNCHANGED <<ctlVars, role, start, queue, conn, brokerVars, seenVars>>

\* A master knows what it has heard of the sets of its epoch, be it old or new.
Knows(e) ==
  /\ role = "Master"
  /\ e \in DOMAIN views
  /\ e <= sssE

  /\ UNCHANGED vars

\* A master has done all that follows from a report of s: it has proposed s if that may join, and
\* has sent what it proposed.
Settled(s) ==
  /\ role = "Master"
  /\ ~MayExpand(s)
  /\ queue = {}

  /\ UNCHANGED vars

\* The master notices that a connection is broken, or breaks it.
Disconnect(s) ==
  /\ Explored("Disconnect", s)
  /\ conn[s] # NoConn

  /\ conn' = [conn EXCEPT ![s] = NoConn]
  /\ UNCHANGED <<ctlVars, setVars, confirm, brokerVars, seenVars>>

\* The master goes down; k of its records are left.
CrashMaster(k) ==
  /\ Explored("CrashMaster", Master)
  /\ up[Master]
  /\ k \in Surviving(end[Master])

  /\ role' = "Fenced"
  /\ up' = [up EXCEPT ![Master] = FALSE]
  /\ torn' = [torn EXCEPT ![Master] = k < end[Master]]
  /\ end' = [end EXCEPT ![Master] = k]
  /\ local' = {} /\ sssE' = 0 /\ pend' = {} /\ queue' = {} /\ confirm' = 0
  /\ conn' = [s \in Slave |-> NoConn]
  /\ UNCHANGED <<ctlVars, start, inc, seenVars>>

\* A master that restarts waits for another election.                \* CHECK B84
RoleAfterRestart == "Fenced"
MasterAfterRestart == None

\* It comes back, and the group has no master until somebody is elected.
RestartMaster ==
  /\ Explored("RestartMaster", Master)
  /\ ~up[Master]

  /\ ctl' = [ctl EXCEPT !.master = IF @ = Master THEN MasterAfterRestart ELSE @]
  /\ role' = RoleAfterRestart
  /\ up' = [up EXCEPT ![Master] = TRUE]
  /\ \E i \in Incarnations(Master) : inc' = [inc EXCEPT ![Master] = i]
  /\ torn' = [torn EXCEPT ![Master] = FALSE]
  /\ local' = IF role' = "Master" THEN ctl.sss ELSE local
  /\ sssE' = IF role' = "Master" THEN ctl.sssE ELSE sssE
  /\ UNCHANGED <<views, alters, start, pend, queue, confirm, conn, end, seenVars>>

\* ---- Actions of a slave ----

\* A slave reports what it has.                                      \* CHECK B83
FirstReport(s, own) == own

\* The slave cuts its log to what the master has, and reports where it ends.
Connect(s) ==
  /\ Explored("Connect", s)
  /\ role = "Master"
  /\ up[s]
  /\ conn[s] = NoConn

  /\ LET own == Min(end[s], end[Master])
     IN /\ end' = [end EXCEPT ![s] = own]
        /\ conn' = [conn EXCEPT ![s] = [inc |-> inc[s], ack |-> -1,
                                        reported |-> FirstReport(s, own), ready |-> FALSE]]
  /\ UNCHANGED <<ctlVars, setVars, confirm, up, inc, torn, seenVars>>

\* The slave copies the log up to n, and reports it.
Copy(s, n) ==
  /\ Explored("Copy", s)
  /\ conn[s] # NoConn
  /\ up[s]
  /\ conn[s].inc = inc[s]
  /\ conn[s].ack # -1
  /\ n \in (end[s] + 1)..end[Master]

  /\ end' = [end EXCEPT ![s] = n]
  /\ conn' = [conn EXCEPT ![s].reported = n]
  /\ UNCHANGED <<ctlVars, setVars, confirm, up, inc, torn, seenVars>>

\* Without a connection, as the master sees it, a slave still gets what was sent before, or what the
\* master sends it after a restart, without being master.  One that has not heard of this election
\* may still follow the master before: what it has of the log from before it changes without this
\* one.
CopyElsewhere(s, n) ==
  /\ Explored("CopyElsewhere", s)
  /\ up[s]
  /\ conn[s] = NoConn
  /\ \/ n \in (end[s] + 1)..end[Master]
     \/ /\ s \notin Names(Required \cup ctl.sss)
        /\ \A r \in alters : s \notin Names(r.set)
        /\ n \in 0..start

  /\ end' = [end EXCEPT ![s] = n]
  /\ UNCHANGED <<ctlVars, setVars, confirm, conn, up, inc, torn, seenVars>>

\* The slave goes down; k of its records are left.  The master may not notice for a while.
Crash(s, k) ==
  /\ Explored("Crash", s)
  /\ up[s]
  /\ k \in Surviving(end[s])

  /\ up' = [up EXCEPT ![s] = FALSE]
  /\ torn' = [torn EXCEPT ![s] = k < end[s]]
  /\ end' = [end EXCEPT ![s] = k]
  /\ UNCHANGED <<ctlVars, setVars, confirm, conn, inc, seenVars>>

\* It comes back and registers with the controller.
Restart(s) ==
  /\ Explored("Restart", s)
  /\ ~up[s]

  /\ up' = [up EXCEPT ![s] = TRUE]
  /\ \E i \in Incarnations(s) : inc' = [inc EXCEPT ![s] = i]
  /\ torn' = [torn EXCEPT ![s] = FALSE]
  /\ UNCHANGED <<ctlVars, setVars, confirm, conn, end, seenVars>>

\* ---- Actions of the controller ----

FromMaster(r) == ctl.master = Master                                 \* CHECK Deposed
FromCurrent(r) == r.exp = ctl.sssE                                   \* CHECK B36
KeepsMaster(r) == ctl.master \in Names(r.set)                        \* CHECK HasMaster
Passes(r) == FromMaster(r) /\ FromCurrent(r) /\ KeepsMaster(r)
\* A replica that has restarted since, and may have lost something, does not join.
\*                                                                   \* CHECK Registered
IsRegistered(m) == IsPresent(m)
Joiners(r) == r.set \ ctl.sss
\* It joins as the incarnation that caught up.                       \* CHECK B85
Admitted(r) == r.set

\* A request arrives, is judged at that moment, and is right: the set changes.
ApplyAlter ==
  /\ \E r \in alters :
       /\ Passes(r)
       /\ \A m \in Joiners(r) : IsRegistered(m)
       /\ ctl' = [ctl EXCEPT !.sss = Admitted(r), !.sssE = @ + 1]
  /\ views' = Append(views, ctl'.sss)
  /\ UNCHANGED <<alters, setVars, confirm, conn, brokerVars, seenVars>>

\* It refuses for a reason: `amiss` says whether a replica of the new set is silent or unknown, or one
\* that would join has started again.  A model has it at any moment, of a run it is known.
MayRefuse(r, amiss) == amiss \/ r.set = ctl.sss \/ ~KeepsMaster(r)
\* A refusal spends the epoch that the request expected.              \* CHECK Spent
EpochAfterRefusal == ctl.sssE + 1

\* A request arrives from the right master with the right epoch, and is refused.  The set stays, its
\* epoch does not: a copy of the request that comes later, when the replica runs again, is refused,
\* too.
RefuseAlter(amiss) ==
  /\ \E r \in alters : FromMaster(r) /\ FromCurrent(r) /\ MayRefuse(r, amiss)

  /\ ctl' = [ctl EXCEPT !.sssE = EpochAfterRefusal]
  /\ views' = IF ctl' = ctl THEN views ELSE Append(views, ctl.sss)
  /\ UNCHANGED <<alters, setVars, confirm, conn, brokerVars, seenVars>>

\* A member is elected if it is the incarnation that joined; the controller may not know yet that it
\* is down.                                             \* CHECK W3   \* CHECK W9
MayElect(b) == \E m \in ctl.sss : m[1] = b /\ IsPresent(m)
\* An election makes all requests of before stale.                   \* CHECK Unbumped
EpochAfterElection == ctl.sssE + 1

\* The controller takes the master for dead and elects another member: this epoch is over, but the
\* old master does not know, nor does the new one at once.
Elect(b) ==
  /\ Explored("Elect", b)
  /\ ctl.master \in {Master, None}
  /\ MayElect(b)

  /\ ctl' = [master |-> b, sss |-> {<<b, inc[b]>>}, sssE |-> EpochAfterElection]
  /\ UNCHANGED <<views, alters, setVars, confirm, conn, brokerVars, seenVars>>

\* ---- All ----

\* ---- What is answered to clients, and what is missed; all of it changes nothing ----

\* A producer or a consumer is refused (SERVICE_NOT_AVAILABLE): it has asked no master.
RefuseCall ==
  /\ role # "Master"

  /\ UNCHANGED vars

\* A producer still waits when the master is done with a step: its message, the last of n, is not
\* safe.
Waiting(n) ==
  /\ role = "Master"
  /\ confirm < n

  /\ UNCHANGED vars

\* A producer has waited in vain (FLUSH_SLAVE_TIMEOUT), or its master is none any more.
TimeOut(n) ==
  /\ role = "Master" => confirm < n

  /\ UNCHANGED vars

\* A consumer is shown the log up to n.
Shown(n) ==
  /\ role = "Master"
  /\ n = Served

  /\ UNCHANGED vars

\* A consumer is shown nothing, because it has seen n messages.
ShownNothing(n) ==
  /\ role = "Master"
  /\ n >= Served

  /\ UNCHANGED vars

\* Something is missed of the master: an answer to a client, a heartbeat, its proposal anew.
Silent ==
  /\ ~up[Master]

  /\ UNCHANGED vars

\* The master has let s be for long, with no connection to it.
KeepMember(s) ==
  /\ role = "Master" /\ MayPropose => s \notin Names(local) \/ conn[s] # NoConn

  /\ UNCHANGED vars

\* A run whose faults have ended comes to this: all are in the set, as the master and the controller
\* know it, nothing is undecided, everybody has what the master has, and a message went through that
\* came when the master had n records.
Healed(n) ==
  /\ role = "Master" /\ ctl.master = Master
  /\ \A b \in Broker : up[b] /\ end[b] = end[Master]
  /\ pend = {}
  /\ Names(local) = Broker
  /\ local = ctl.sss /\ sssE = ctl.sssE
  /\ confirm = end[Master]
  /\ n >= start
  /\ acked > n /\ visible > n

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
Next ==
  \/ PutMessage
  \/ \E s \in Slave, a \in Nat : ReceiveAck(s, a)
  \/ \E n \in Nat : Acknowledge(n)
  \/ \E n \in Nat : Consume(n)
  \/ \E s \in Slave : Expand(s)
  \/ \E B \in SUBSET Broker, due \in BOOLEAN : Shrink(B, due)
  \/ SendAlter
  \/ \E e \in Nat : Learn(e)
  \/ \E e \in Nat : Knows(e)
  \/ \E s \in Slave : Settled(s) \/ Disconnect(s) \/ KeepMember(s)
  \/ \E k \in Nat : CrashMaster(k)
  \/ RestartMaster
  \/ \E s \in Slave : Connect(s)
  \/ \E s \in Slave, n \in Nat : Copy(s, n)
  \/ \E s \in Slave, n \in Nat : CopyElsewhere(s, n)
  \/ \E s \in Slave, k \in Nat : Crash(s, k)
  \/ \E s \in Slave : Restart(s)
  \/ ApplyAlter
  \/ \E amiss \in BOOLEAN : RefuseAlter(amiss)
  \/ \E b \in Slave : Elect(b)
  \/ RefuseCall \/ Silent
  \/ \E n \in Nat : Waiting(n) \/ TimeOut(n) \/ Shown(n) \/ ShownNothing(n)
  \/ \E n \in Nat : Healed(n)

Spec == Init /\ [][Next]_vars
=============================================================================
