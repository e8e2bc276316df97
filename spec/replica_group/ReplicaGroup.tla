----------------------------- MODULE ReplicaGroup -----------------------------
(* A whole broker group of RocketMQ 5 in Controller mode: does an acknowledged message survive?

   The controller elects a master and keeps the SyncStateSet: the brokers that have every
   acknowledged message, of which it elects the next master.  The master proposes to shrink or to
   expand the set, and answers a producer when every member, and every broker that it has proposed,
   has the message.  Brokers get back to one log as in EpochTruncation.  Without these rules a
   message that was acknowledged is on no later master, and one that a consumer has seen disappears.

   Modelled: elections, clean or unclean; masters that do not know that they were replaced;
   proposals and answers that are delayed, lost or duplicated, proposals that are judged when they
   are applied; handshake and truncation in one step, copies, reports in flight, connections with
   one end left; consumers; crashes that lose any part of the tail (no flush is relied on), restarts
   with a new incarnation; late closes of heartbeat channels; the removal of the controller's data
   by an operator.
   Not modelled: packets to a slave (EpochTruncation): they are lost when its master closes the
   connection; several undecided proposals of one master, minInSyncReplicas, asynchronous learners,
   reads from slaves, a controller of several nodes, false alarms about a healthy master (an
   operator's election does the same), the choice among several candidates, what is flushed.

   Conventions: offsets count records from 0, ranges are half-open, -1 is "not known".  Late,
   repeated and lost: a proposal stays in `alters`, what may ever have been answered in `views`.
   Source: ReplicasInfoManager, ReplicasManager, AutoSwitchHAService, GroupTransferService,
   DefaultBrokerHeartbeatManager of apache/rocketmq at 8fc57f1468; published rule: RIP-44.        *)
EXTENDS ReplicaGroupState, Sequences, Prefixes, EpochCache

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, b) == TRUE

\* ---- Actions of the controller (ReplicasInfoManager) ----

\* What may be answered from now on.
NextViews ==
  IF ctl'.sssEpoch = ctl.sssEpoch THEN views
  ELSE Append(views, [master |-> ctl'.master, epoch |-> ctl'.epoch, sss |-> ctl'.sss])

\* The scan serves a group without a master, too, not only one whose master just died.  \* CHECK B29
NeedsElection == ctl.master = None \/ ctl.master \notin alive
\* A member that lost a part of its log is elected no more.                     \* CHECK W3
Whole(c) == c \notin ctl.unfit
\* A group without members has no master yet: its first one may be any broker. Else it is a member
\* when the election is applied.                                               \* CHECK LateElection
Electable(c) ==
  /\ c \in alive
  /\ ctl.sss = {} \/ (c \in ctl.sss /\ Whole(c)) \/ EnableElectUncleanMaster
\* No two masters have one masterEpoch.                                         \* CHECK NewEpoch
NextEpoch == ctl.epoch + 1

Elect(c) ==
  /\ Electable(c)

  /\ ctl' = [ctl EXCEPT !.master = c, !.epoch = NextEpoch, !.sss = {c}, !.sssEpoch = @ + 1,
                        !.unfit = {}]
  /\ views' = NextViews
  /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* The controller scans for groups whose master is gone (scanNeedReelectBrokerSets).
ElectMaster(c) ==
  /\ Explored("ElectMaster", c) /\ NeedsElection
  /\ Elect(c)

\* An operator names a master (designateElect); the one before may be healthy, and not know.
DesignateMaster(c) ==
  /\ Explored("DesignateMaster", c) /\ ctl.master \notin {c, None}
  /\ Elect(c)

\* Who is not notified of an election is not alive (doNotifyBrokerRoleChanged).
Unnotified(b) ==
  /\ b \notin alive

  /\ UNCHANGED vars

\* A proposal is judged when it is applied, not when it came in: else another one came between.
\* B36 omits all of this.                                                       \* CHECK B36
FromMaster(r) == r.from = ctl.master                                            \* CHECK B33
OfEpoch(r) == r.epoch = ctl.epoch                                               \* CHECK MasterEpoch
OfSet(r) == r.exp = ctl.sssEpoch                                                \* CHECK SetEpoch
HasMaster(r) == ctl.master \in r.set                                            \* CHECK HasMaster
\* Who joins has not restarted since the master saw it caught up.               \* CHECK B85
SameIncarnation(r) == r.new # None => r.inc = ctl.inc[r.new]

\* A proposal of m arrives and is applied.  It may arrive again.
AlterSyncStateSet(m) ==
  \E r \in alters :
    /\ r.from = m
    /\ FromMaster(r) /\ OfEpoch(r) /\ OfSet(r)
    /\ HasMaster(r)
    /\ SameIncarnation(r)

    /\ ctl' = [ctl EXCEPT !.sss = r.set, !.sssEpoch = @ + 1, !.unfit = @ \cap r.set]
    /\ views' = NextViews
    /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* A refusal spends the set epoch, so that no copy is accepted later.           \* CHECK Spent
EpochAfterRefusal == ctl.sssEpoch + 1

\* A proposal of m for the present set is refused, because of a member that is not alive, say.
RefuseAlter(m) ==
  \E r \in alters :
    /\ r.from = m
    /\ FromMaster(r) /\ OfEpoch(r) /\ OfSet(r)

    /\ ctl' = [ctl EXCEPT !.sssEpoch = EpochAfterRefusal]
    /\ views' = NextViews
    /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* An entry of the heartbeat table goes with the channel that it came on.       \* CHECK B28
OwnsEntry(b, n) == n = ctl.inc[b]

\* The heartbeats of incarnation n have ceased, or its channel is closed, perhaps late.
EvictBroker(b, n) ==
  /\ Explored("EvictBroker", b) /\ b \in alive /\ n < inc[b] /\ OwnsEntry(b, n)

  /\ alive' = alive \ {b}
  /\ UNCHANGED <<ctl, views, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* What incarnation n had said before it was gone comes late (onBrokerHeartbeat).
HearAgain(b, n) ==
  /\ Explored("HearAgain", b) /\ b \notin alive /\ OwnsEntry(b, n)

  /\ alive' = alive \cup {b}
  /\ UNCHANGED <<ctl, views, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* Removed data leave the masterEpoch: brokers remember it.                     \* CHECK B37
EpochAfterClean == ctl.epoch

\* An operator removes all that the controller knows of a group without master (cleanBrokerData).
CleanBrokerData ==
  /\ Explored("CleanBrokerData", None) /\ NeedsElection /\ ctl.sss # {}

  /\ ctl' = [ctl EXCEPT !.master = None, !.epoch = EpochAfterClean, !.sss = {},
                        !.sssEpoch = @ + 1, !.unfit = {}]
  /\ views' = NextViews
  /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* ---- Actions of any broker ----

\* b drops its connections: its slaves are not served any more, its master may not notice.
LinksWithout(b) == [s \in Broker |-> IF b \in {s, link[s]} THEN None ELSE link[s]]
ConnsWithout(b) == [conn EXCEPT ![b] = [s \in Broker |-> NoConn]]

\* An answer changes a role only if its masterEpoch is a new one.               \* CHECK LateEpoch
NewMasterEpoch(b, e) == views[e].epoch > known[b]
\* The cache of a new master; an epoch in which nothing was written gives way.  \* CHECK B38
EpochsOfMaster(b, epoch) ==
  AppendEpoch(TruncateSuffixByEpoch(epochs[b], epoch), epoch, Len(log[b]))
\* It works with the set that the controller has.                               \* CHECK B26
SetOfMaster(b, e) == views[e].sss

\* A broker learns that it was elected, perhaps late (ReplicasManager.changeToMaster).  Where nobody
\* else is in the set, its promise begins with what it has.
BecomeMaster(b) ==
  \E e \in DOMAIN views :
    /\ role[b] # "Down" /\ views[e].master = b
    /\ NewMasterEpoch(b, e)

    /\ role' = [role EXCEPT ![b] = "Master"] /\ known' = [known EXCEPT ![b] = views[e].epoch]
    /\ epochs' = [epochs EXCEPT ![b] = EpochsOfMaster(b, views[e].epoch)]
    /\ local' = [local EXCEPT ![b] = [set |-> SetOfMaster(b, e), epoch |-> e]]
    /\ pend' = [pend EXCEPT ![b] = NoProposal]
    /\ confirm' = [confirm EXCEPT ![b] = IF views[e].sss = {b} THEN Len(log[b]) ELSE 0]
    /\ link' = LinksWithout(b) /\ conn' = ConnsWithout(b)
    /\ UNCHANGED <<ctlVars, inc, log, torn, alters, acked, seen>>

\* A broker, maybe a zombie, learns of another master, or of none (ReplicasManager.changeToSlave).
BecomeSlave(b) ==
  \E e \in DOMAIN views :
    /\ Explored("BecomeSlave", b)
    /\ role[b] # "Down" /\ views[e].master # b
    /\ NewMasterEpoch(b, e)

    /\ role' = [role EXCEPT ![b] = "Slave"] /\ known' = [known EXCEPT ![b] = views[e].epoch]
    /\ local' = [local EXCEPT ![b] = NoSet] /\ pend' = [pend EXCEPT ![b] = NoProposal]
    /\ confirm' = [confirm EXCEPT ![b] = 0] /\ link' = LinksWithout(b) /\ conn' = ConnsWithout(b)
    /\ UNCHANGED <<ctlVars, inc, log, epochs, torn, alters, acked, seen>>

\* The broker stops; k records of its log are left.
Crash(b, k) ==
  /\ Explored("Crash", b)
  /\ role[b] # "Down" /\ k \in 0..Len(log[b])

  /\ role' = [role EXCEPT ![b] = "Down"] /\ known' = [known EXCEPT ![b] = 0]
  /\ inc' = [inc EXCEPT ![b] = @ + 1] /\ log' = [log EXCEPT ![b] = Prefix(@, k)]
  /\ torn' = IF k < Len(log[b]) THEN torn \cup {b} ELSE torn
  /\ local' = [local EXCEPT ![b] = NoSet] /\ pend' = [pend EXCEPT ![b] = NoProposal]
  /\ confirm' = [confirm EXCEPT ![b] = 0] /\ link' = LinksWithout(b) /\ conn' = ConnsWithout(b)
  /\ UNCHANGED <<ctlVars, epochs, alters, acked, seen>>

\* A master that registers is none until it is elected again, with a new masterEpoch: it forgot its
\* proposals,                                                                   \* CHECK B84
\* and where its epoch began.                                                   \* CHECK B10
MasterAfterRestart(b) == IF ctl.master = b THEN None ELSE ctl.master
\* A broker that registers is the one that it was, whatever its address.        \* CHECK B34
AliveAfterRestart(b) == alive \cup {b}
\* It takes no writes before it has heard of its role.                          \* CHECK B35
RoleAfterRestart(b) == "Slave"
\* It learns the masterEpoch before it follows anybody, and no old one.         \* CHECK B31
KnownAfterRestart(b) == ctl.epoch
\* At start-up, entries beyond the end of the log go.                           \* CHECK B83
EpochsAfterRestart(b) == RecoverEpochs(epochs[b], Len(log[b]))

\* The broker comes back and registers (registerBroker): the controller learns its incarnation, it
\* learns the masterEpoch.  A member says whether it lost a part of its log, if it can know.
Restart(b) ==
  /\ Explored("Restart", b)
  /\ role[b] = "Down"

  /\ \E unfit \in {ctl.unfit \cup ({b} \cap ctl.sss)} \cup IF b \in torn THEN {} ELSE {ctl.unfit} :
       ctl' = [ctl EXCEPT !.master = MasterAfterRestart(b), !.inc[b] = inc[b], !.unfit = unfit]
  /\ alive' = AliveAfterRestart(b) /\ role' = [role EXCEPT ![b] = RoleAfterRestart(b)]
  /\ known' = [known EXCEPT ![b] = KnownAfterRestart(b)]
  /\ epochs' = [epochs EXCEPT ![b] = EpochsAfterRestart(b)] /\ torn' = torn \ {b}
  /\ UNCHANGED <<views, inc, log, masterVars, link, conn, alters, acked, seen>>

\* ---- Actions of a master ----

\* A producer's message is appended; a zombie does not know better (putMessage).
PutMessage(m) ==
  /\ Explored("PutMessage", m)
  /\ role[m] = "Master"

  /\ log' = [log EXCEPT ![m] = Append(@, known[m])]
  /\ UNCHANGED <<ctlVars, role, known, inc, epochs, torn, masterVars, link, conn, alters, acked,
                 seen>>

\* The master hears a report of a slave, perhaps of one that is gone.
ReceiveAck(m, s) ==
  /\ role[m] = "Master"
  /\ \E n \in (conn[m][s].ack + 1)..conn[m][s].reported :
       conn' = [conn EXCEPT ![m][s].ack = n]
  /\ UNCHANGED <<ctlVars, brokerVars, masterVars, link, alters, acked, seen>>

\* Who must have a message: the set,                                            \* CHECK W2
\* and whoever may be in it without the master having heard.                    \* CHECK B14
AckSet(m) == local[m].set \cup pend[m].set
\* Number of records that the replicas are sure to have; who is not connected has nothing for sure,
\* also where he alone is the set.                                              \* CHECK OneMember
AckOf(m, s) == IF s = m THEN Len(log[m]) ELSE conn[m][s].ack
Covered(m) ==
  LET Enough(n) == IF AllAckInSyncStateSet THEN \A s \in AckSet(m) : AckOf(m, s) >= n
                   ELSE Cardinality({s \in Broker : AckOf(m, s) >= n}) >= InSyncReplicas
      N == {n \in 0..Len(log[m]) : Enough(n)}
  IN IF N = {} THEN 0 ELSE MaxOf(N)

\* confirmOffset moves; who still waits is answered (GroupTransferService, computeConfirmOffset).
Acknowledge(m) ==
  /\ role[m] = "Master"
  /\ \E n \in (confirm[m] + 1)..Covered(m) :
       /\ confirm' = [confirm EXCEPT ![m] = n]
       /\ acked' = Longer(acked, Prefix(log[m], n))
  /\ UNCHANGED <<ctlVars, brokerVars, local, pend, link, conn, alters, seen>>

\* Consumers see what is confirmed, not what is merely written.                 \* CHECK W8
VisibleEnd(m) == confirm[m]

\* A consumer reads from a master, perhaps from a zombie.
Consume(m) ==
  /\ Explored("Consume", m)
  /\ role[m] = "Master"
  /\ Longer(seen, Prefix(log[m], VisibleEnd(m))) # seen

  /\ seen' = Prefix(log[m], VisibleEnd(m))
  /\ UNCHANGED <<ctlVars, brokerVars, masterVars, link, conn, alters, acked>>

\* One proposal at a time, so that AckSet has all of them.                      \* CHECK B79
MayPropose(m) == role[m] = "Master" /\ pend[m] = NoProposal
\* Who joins is the one that reported: the connection may be a dead one's.      \* CHECK HalfOpen
IncarnationOf(m, s) == conn[m][s].inc

Propose(m, set, new) ==
  LET r == [from |-> m, epoch |-> known[m], exp |-> local[m].epoch, set |-> set, new |-> new,
            inc |-> IF new = None THEN 0 ELSE IncarnationOf(m, new)]
  IN /\ pend' = [pend EXCEPT ![m] = r] /\ alters' = alters \cup {r}
     /\ UNCHANGED <<ctlVars, brokerVars, local, confirm, link, conn, acked, seen>>

\* A master stays in its own set.                                               \* CHECK B25
MayShrink(m, S) == S \subseteq local[m].set \ {m}

\* Members are behind for too long, or gone (maybeShrinkSyncStateSet).
MaybeShrink(m, S) ==
  /\ Explored("MaybeShrink", m) /\ MayPropose(m)
  /\ S # {} /\ MayShrink(m, S)
  /\ Propose(m, local[m].set \ S, None)

\* Who joins is compared when it is proposed, not before: it has reported,       \* CHECK B81
HasReported(m, s) == conn[m][s].ack # -1
\* has all that was promised,                                                 \* CHECK ExpandConfirm
HasConfirmed(m, s) == conn[m][s].ack >= confirm[m]
\* and the beginning of the master's epoch.                                     \* CHECK ExpandEpoch
HasEpochStart(m, s) == conn[m][s].ack >= epochs[m][Len(epochs[m])].s

MayJoin(m, s) ==
  /\ MayPropose(m) /\ s \notin local[m].set
  /\ HasReported(m, s) /\ HasConfirmed(m, s) /\ HasEpochStart(m, s)

\* A slave has caught up: test and proposal are one step (maybeExpandInSyncStateSet).
MaybeExpand(m, s) ==
  /\ Explored("MaybeExpand", m)
  /\ MayJoin(m, s)
  /\ Propose(m, local[m].set \cup {s}, s)

\* A master has done all that follows from a step, which was a report of s perhaps.
Settled(m, s) ==
  /\ role[m] = "Master" => confirm[m] >= Covered(m) /\ ~MayJoin(m, s)

  /\ UNCHANGED vars

\* A master's set changes by no answer that is older than the last one.         \* CHECK LateSet
NewSet(m, e) == e >= local[m].epoch
\* Nor by one of another masterEpoch, which it may not know yet.              \* CHECK OtherEpoch
OfItsEpoch(m, e) == views[e].epoch = known[m]
\* A proposal ends when the master knows a set epoch above the one that it expected.
\* The refusal of a copy does not end it,                                       \* CHECK Refusal
\* and silence does not end it.                                                 \* CHECK B82
Ends(r, e) == r.exp < e

\* The master hears a set of its own epoch, new or old, as an answer or not (changeSyncStateSet).
LearnSyncStateSet(m) ==
  \E e \in DOMAIN views :
    /\ role[m] = "Master"
    /\ views[e].master = m /\ OfItsEpoch(m, e)
    /\ NewSet(m, e)

    /\ local' = [local EXCEPT ![m] = [set |-> views[e].sss, epoch |-> e]]
    /\ pend' = [pend EXCEPT ![m] = IF @ # NoProposal /\ Ends(@, e) THEN NoProposal ELSE @]
    /\ UNCHANGED <<ctlVars, brokerVars, confirm, link, conn, alters, acked, seen>>

\* A broker knows what it has heard, be it old or new.
Heard(b, e) ==
  /\ e \in DOMAIN views /\ role[b] # "Down"
  /\ ~NewMasterEpoch(b, e)
  /\ role[b] = "Master" /\ views[e].master = b /\ OfItsEpoch(b, e) => e <= local[b].epoch

  /\ UNCHANGED vars

\* The master sees that a connection is broken, or breaks it; what is on its way is lost.
CloseConnection(m, s) ==
  /\ Explored("CloseConnection", s)
  /\ conn[m][s] # NoConn

  /\ conn' = [conn EXCEPT ![m][s] = NoConn]
  /\ link' = IF link[s] = m THEN [link EXCEPT ![s] = None] ELSE link
  /\ UNCHANGED <<ctlVars, brokerVars, masterVars, alters, acked, seen>>

\* ---- Actions of a slave ----

\* A slave follows no master that is older than what it knows.                  \* CHECK B11
MayFollow(s, m) == known[m] >= known[s]
\* It reports no more than it has.                                              \* CHECK B83
OwnEnd(s) == Len(log[s])
Reported(s, cp) == Min(cp, Len(log[s]))
\* What lies beyond the consistent point goes.                                  \* CHECK Truncate
LogAfterCut(s, cp) == Prefix(log[s], Min(cp, Len(log[s])))
\* So do the epochs of what goes,                                               \* CHECK KeptEpochs
\* and the last one that stays is open again.                                   \* CHECK B04
EpochsAfterCut(s, cp) == TruncateSuffixByOffset(epochs[s], cp)

\* A slave connects, cuts its log at the consistent point and reports its end.
Handshake(m, s) ==
  /\ Explored("Handshake", s)
  /\ role[m] = "Master" /\ role[s] = "Slave"
  /\ link[s] = None
  /\ MayFollow(s, m)

  /\ LET cp == ConsistentPoint(epochs[s], OwnEnd(s), Starts(epochs[m]), Len(log[m]))
     IN /\ log' = [log EXCEPT ![s] = LogAfterCut(s, cp)]
        /\ epochs' = [epochs EXCEPT ![s] = EpochsAfterCut(s, cp)]
        /\ conn' = [conn EXCEPT ![m][s] = [inc |-> inc[s], reported |-> Reported(s, cp),
                                           ack |-> -1]]
  /\ link' = [link EXCEPT ![s] = m]
  /\ known' = [known EXCEPT ![s] = MaxOf({@, known[m]})]
  /\ UNCHANGED <<ctlVars, role, inc, torn, masterVars, alters, acked, seen>>

\* The epoch of the slave's next record, at its master.
NextEntry(s) == EpochAt(epochs[link[s]], Len(log[s]))

\* A slave copies the next record, and reports its end.
Replicate(s) ==
  /\ link[s] # None /\ Len(log[s]) < Len(log[link[s]])

  /\ log' = [log EXCEPT ![s] = Append(@, log[link[s]][Len(@) + 1])]
  /\ epochs' = [epochs EXCEPT ![s] = WithEpoch(@, NextEntry(s))]
  /\ known' = [known EXCEPT ![s] = MaxOf({@, NextEntry(s).e})]
  /\ conn' = [conn EXCEPT ![link[s]][s].reported = MaxOf({@, Len(log'[s])})]
  /\ UNCHANGED <<ctlVars, role, inc, torn, masterVars, link, alters, acked, seen>>

\* A slave hears of an epoch before there is a record of it: in a heartbeat.
HearEpoch(s) ==
  /\ Explored("HearEpoch", s)
  /\ link[s] # None /\ NextEntry(s).e # LastEpoch(epochs[s])

  /\ epochs' = [epochs EXCEPT ![s] = WithEpoch(@, NextEntry(s))]
  /\ known' = [known EXCEPT ![s] = MaxOf({@, NextEntry(s).e})]
  /\ UNCHANGED <<ctlVars, role, inc, log, torn, masterVars, link, conn, alters, acked, seen>>

\* A slave loses its connection, or leaves it; its master may not know.
Disconnect(s) ==
  /\ Explored("Disconnect", s)
  /\ link[s] # None

  /\ link' = [link EXCEPT ![s] = None]
  /\ UNCHANGED <<ctlVars, brokerVars, masterVars, conn, alters, acked, seen>>

\* ---- What is answered to clients, and what is missed; all of it changes nothing ----

\* A producer or a consumer is refused (SERVICE_NOT_AVAILABLE): it has asked no master.
RefuseCall(b) ==
  /\ role[b] # "Master"

  /\ UNCHANGED vars

\* A producer still waits when a master is done with a step: its message, the last of n, is not safe.
Waiting(m, n) ==
  /\ role[m] = "Master" /\ confirm[m] < n

  /\ UNCHANGED vars

\* A producer has waited in vain (FLUSH_SLAVE_TIMEOUT), or its master is none any more.
TimeOut(m, n) ==
  /\ role[m] = "Master" => confirm[m] < n

  /\ UNCHANGED vars

\* A consumer is shown the log up to n.
Shown(m, n) ==
  /\ role[m] = "Master" /\ n = VisibleEnd(m)

  /\ UNCHANGED vars

\* A consumer is shown nothing, because it has seen n messages.
ShownNothing(m, n) ==
  /\ role[m] = "Master" /\ n >= VisibleEnd(m)

  /\ UNCHANGED vars

\* Something is missed of a broker: an answer to a client, a heartbeat, a query, its proposal anew.
Silent(b) ==
  /\ role[b] = "Down"

  /\ UNCHANGED vars

\* A master has let s be for long, with no connection to it.
KeepMember(m, s) ==
  /\ MayPropose(m) => s \notin local[m].set \/ conn[m][s] # NoConn

  /\ UNCHANGED vars

\* The controller has not looked for a master for long: it has one, or nobody can be it.
NoElection ==
  /\ NeedsElection => \A c \in Broker : ~Electable(c)

  /\ UNCHANGED vars

\* A run whose faults have ended comes to this: all have the master's log and are in the set that it
\* and the controller know, and a message of its epoch went through.
Healed ==
  /\ ctl.sss = Broker
  /\ \E m \in Broker :
       /\ ctl.master = m /\ role[m] = "Master" /\ known[m] = ctl.epoch
       /\ local[m] = [set |-> Broker, epoch |-> ctl.sssEpoch] /\ pend[m] = NoProposal
       /\ confirm[m] = Len(log[m]) /\ \A s \in Broker : log[s] = log[m]
  /\ EnableElectUncleanMaster \/ \A q \in {acked, seen} : q # <<>> /\ q[Len(q)] = ctl.epoch

  /\ UNCHANGED vars

-----------------------------------------------------------------------------
Next ==
  \/ \E b \in Broker :
       \/ ElectMaster(b) \/ DesignateMaster(b) \/ AlterSyncStateSet(b) \/ RefuseAlter(b)
       \/ BecomeMaster(b) \/ BecomeSlave(b) \/ LearnSyncStateSet(b) \/ Restart(b)
       \/ PutMessage(b) \/ Acknowledge(b) \/ Consume(b)
       \/ Replicate(b) \/ HearEpoch(b) \/ Disconnect(b) \/ Unnotified(b)
       \/ RefuseCall(b) \/ Silent(b)
  \/ \E b \in Broker, n \in Nat :
       \/ EvictBroker(b, n) \/ HearAgain(b, n) \/ Crash(b, n) \/ Heard(b, n)
       \/ Waiting(b, n) \/ TimeOut(b, n) \/ Shown(b, n) \/ ShownNothing(b, n)
  \/ CleanBrokerData \/ NoElection
  \/ \E m \in Broker, S \in SUBSET Broker : MaybeShrink(m, S)
  \/ \E m, s \in Broker :
       \/ ReceiveAck(m, s) \/ MaybeExpand(m, s) \/ Settled(m, s) \/ KeepMember(m, s)
       \/ CloseConnection(m, s) \/ Handshake(m, s)
  \/ Healed

Spec == Init /\ [][Next]_vars
=============================================================================
