----------------------------- MODULE ReplicaGroup -----------------------------
(* A whole broker group of RocketMQ 5 in Controller mode: does an acknowledged message survive?

   The controller elects a master and keeps the SyncStateSet: the brokers that have every
   acknowledged message, of which it elects the next master.  The master proposes to shrink or to
   expand the set, and answers a producer when every member, and every broker that it has proposed,
   has the message.  Brokers get back to one log as in EpochTruncation, whose operators are used
   here.  Without these rules a message that a producer was told is safe is on no later master, and
   a message that a consumer has seen disappears.

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
   Source: ReplicasInfoManager, ReplicasManager, AutoSwitchHAService, GroupTransferService and
   DefaultBrokerHeartbeatManager of apache/rocketmq at 8fc57f1468; published rule: RIP-44.        *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Broker,                    \* the brokers of one group
  None,                      \* stands for "no broker"
  AllAckInSyncStateSet,      \* whether a message waits for the whole SyncStateSet
  InSyncReplicas,            \* how many copies it waits for otherwise, the master's included
  EnableElectUncleanMaster   \* whether a broker outside of the SyncStateSet may be elected

ASSUME BrokerAssumption == IsFiniteSet(Broker) /\ Broker # {} /\ None \notin Broker
ASSUME ConfigAssumption ==
  AllAckInSyncStateSet \in BOOLEAN /\ InSyncReplicas \in 1..Cardinality(Broker)
  /\ EnableElectUncleanMaster \in BOOLEAN

VARIABLES
  \* the controller
  ctl,         \* what its log says, see Control
  views,       \* what it may have answered so far, by sssEpoch: sequence of [master, epoch, sss]
  alive,       \* set of brokers that it counts as alive
  \* each broker
  role,        \* broker -> "Master" (maybe a zombie), "Slave" or "Down"
  known,       \* broker -> highest masterEpoch learnt in this incarnation
  inc,         \* broker -> incarnation: number of crashes
  log,         \* broker -> sequence; element o + 1 is the epoch in which record o was first written
  epochs,      \* broker -> epoch cache: sequence of [e: epoch, s: start, end: end or -1]
  torn,        \* set of brokers that lost a part of their log and have not registered since
  local,       \* broker -> [set, epoch]: the SyncStateSet that it works with, as a master
  pend,        \* broker -> its proposal that is not decided, or NoProposal
  confirm,     \* broker -> confirmOffset of a master: up to there consumers see its log
  \* connections and messages
  link,        \* slave -> the master that it is connected to, or None
  conn,        \* master -> slave -> the master's end of the last connection, see Conn, or NoConn
  alters,      \* set of proposals that the controller may receive, at any time, any number of times
  \* history, read by no guard
  acked,       \* the longest log that a producer was told is safe, with all that is below
  seen         \* the longest log that a consumer has seen

ctlVars == <<ctl, views, alive>>
brokerVars == <<role, known, inc, log, epochs, torn>>
masterVars == <<local, pend, confirm>>
vars == <<ctlVars, brokerVars, masterVars, link, conn, alters, acked, seen>>

-----------------------------------------------------------------------------
\* ---- Types ----

Control == [master : Broker \cup {None},
            epoch : Nat,                      \* masterEpoch
            sss : SUBSET Broker,              \* SyncStateSet
            sssEpoch : Nat,                   \* number of decisions about it
            inc : [Broker -> Nat],            \* the registered incarnation of each broker
            unfit : SUBSET Broker]            \* members that registered with a torn log
View == [master : Broker \cup {None}, epoch : Nat, sss : SUBSET Broker]
Proposal == [from : Broker, epoch : Nat,      \* the master and its masterEpoch
             exp : Nat,                       \* the sssEpoch that it changes
             set : SUBSET Broker,
             new : Broker \cup {None}, inc : Nat]    \* who joins, in which incarnation
NoProposal == [from |-> None, set |-> {}]
NoSet == [set |-> {}, epoch |-> 0]
Conn == [inc : Nat,                           \* the slave's incarnation, from its handshake
         reported : Nat \cup {-1},            \* last end of its log that the slave has sent
         ack : Nat \cup {-1}]                 \* last one that the master has heard
NoConn == [inc |-> 0, reported |-> -1, ack |-> -1]

TypeOK ==
  /\ ctl \in Control
  /\ views \in Seq(View) /\ Len(views) = ctl.sssEpoch
  /\ alive \in SUBSET Broker
  /\ role \in [Broker -> {"Master", "Slave", "Down"}]
  /\ known \in [Broker -> Nat]
  /\ inc \in [Broker -> Nat]
  /\ log \in [Broker -> Seq(Nat)]
  /\ epochs \in [Broker -> Seq([e : Nat, s : Nat, end : Nat \cup {-1}])]
  /\ torn \in SUBSET Broker
  /\ local \in [Broker -> [set : SUBSET Broker, epoch : Nat]]
  /\ \A b \in Broker : pend[b] = NoProposal \/ pend[b] \in Proposal
  /\ confirm \in [Broker -> Nat]
  /\ link \in [Broker -> Broker \cup {None}]
  /\ conn \in [Broker -> [Broker -> Conn]]
  /\ \A r \in alters : r \in Proposal
  /\ acked \in Seq(Nat)
  /\ seen \in Seq(Nat)

-----------------------------------------------------------------------------
\* Logs and epoch caches are those of EpochTruncation; what it says of disks and packets is unused.
E == INSTANCE EpochTruncation WITH
       ctl <- [master |-> ctl.master, epoch |-> ctl.epoch],
       received <- [b \in Broker |-> 0],
       disk <- log,
       flushed <- [b \in Broker |-> 0],
       epochsDisk <- [b \in Broker |-> <<>>],
       link <- [b \in Broker |-> [peer |-> None]],
       ghostActed <- 0

\* ---- What the controller asks before it changes anything (ReplicasInfoManager) ----

Fit == {b \in ctl.sss : b \notin ctl.unfit /\ ctl.inc[b] = inc[b]}   \* members with a whole log
IsCurrent(m) == role[m] = "Master" /\ ctl.master = m /\ known[m] = ctl.epoch

\* The scan serves a group without a master, too, not only one whose master just died.  \* CHECK B29
NeedsElection == ctl.master = None \/ ctl.master \notin alive
\* A member that lost a part of its log is elected no more.                     \* CHECK W3
Whole(c) == c \notin ctl.unfit
\* A group without members has no master yet: its first one may be any broker. Else it is a member
\* when the election is applied.                                               \* CHECK LateElection
Electable(c) ==
  /\ c \in alive
  /\ ctl.sss = {} \/ (c \in ctl.sss /\ Whole(c)) \/ EnableElectUncleanMaster
\* No two reigns have one number.                                               \* CHECK NewEpoch
NextEpoch == ctl.epoch + 1
\* An entry of the heartbeat table goes with the channel that it came on.       \* CHECK B28
OwnsEntry(b, n) == n = ctl.inc[b]

\* Of a proposal, when it is applied, not when it came in: else another one came between. B36 omits
\* all of it.                                                                   \* CHECK B36
FromMaster(r) == r.from = ctl.master                                            \* CHECK B33
OfEpoch(r) == r.epoch = ctl.epoch                                               \* CHECK MasterEpoch
OfSet(r) == r.exp = ctl.sssEpoch                                                \* CHECK SetEpoch
HasMaster(r) == ctl.master \in r.set                                            \* CHECK HasMaster
\* Who joins has not restarted since the master saw it caught up.               \* CHECK B85
SameIncarnation(r) == r.new # None => r.inc = ctl.inc[r.new]
Fresh(r) == FromMaster(r) /\ OfEpoch(r) /\ OfSet(r)
MayAlter(r) == Fresh(r) /\ HasMaster(r) /\ SameIncarnation(r)
\* A refusal spends the set epoch, so that no copy is accepted later.           \* CHECK Spent
EpochAfterRefusal == ctl.sssEpoch + 1

\* A master that registers is none until it is elected again, with a new masterEpoch: it forgot its
\* proposals,                                                                   \* CHECK B84
\* and where its reign began.                                                   \* CHECK B10
MasterAfterRestart(b) == IF ctl.master = b THEN None ELSE ctl.master
\* A member that lost a part of its log says so; one that cannot know says so, too.
UnfitAfterRestart(b) ==
  {ctl.unfit \cup ({b} \cap ctl.sss)} \cup (IF b \in torn THEN {} ELSE {ctl.unfit})
\* A broker that registers is the one that it was, whatever its address.        \* CHECK B34
AliveAfterRestart(b) == alive \cup {b}
\* Removed data leave the masterEpoch: brokers remember it.                     \* CHECK B37
EpochAfterClean == ctl.epoch

\* ---- What a broker asks ----

\* It takes no writes before it has heard of its role.                          \* CHECK B35
RoleAfterRestart(b) == "Slave"
\* It learns the present masterEpoch before it follows anybody; the answer is not an old one.
\*                                                                              \* CHECK B31
KnownAfterRestart(b) == ctl.epoch
\* Of an answer: it changes a role only if its masterEpoch is a new one.        \* CHECK LateReign
NewReign(b, e) == views[e].epoch > known[b]
\* It changes a master's set only if it is of this reign and not an older one.  \* CHECK LateSet
NewSet(m, e) == e >= local[m].epoch
\* The cache of a new master; an epoch in which nothing was written gives way.  \* CHECK B38
EpochsOfMaster(b, epoch) ==
  E!AppendEpoch(E!TruncateSuffixByEpoch(epochs[b], epoch), epoch, Len(log[b]))
\* It works with the set that the controller has.                               \* CHECK B26
SetOfMaster(b, e) == views[e].sss
\* Its own promise begins with what it has: nobody else is in the set.
ConfirmOfMaster(b, e) == IF views[e].sss = {b} THEN Len(log[b]) ELSE 0

\* A slave follows no master that is older than what it knows.                  \* CHECK B11
MayFollow(s, m) == known[m] >= known[s]
\* At start-up, entries beyond the end of the log go; a slave reports no more than it has.
\*                                                                              \* CHECK B83
EpochsAfterRestart(b) == E!RecoverEpochs(epochs[b], Len(log[b]))
OwnEnd(s) == Len(log[s])
Reported(s, cp) == E!Min(cp, Len(log[s]))
\* What lies beyond the consistent point goes.                                  \* CHECK Truncate
LogAfterCut(s, cp) == E!Prefix(log[s], E!Min(cp, Len(log[s])))
\* So do the epochs of what goes,                                               \* CHECK KeptEpochs
\* and the last one that stays is open again.                                   \* CHECK B04
EpochsAfterCut(s, cp) == E!TruncateSuffixByOffset(epochs[s], cp)

\* Who must have a message: the set,                                            \* CHECK W2
\* and whoever may be in it without the master having heard.                    \* CHECK B14
AckSet(m) == local[m].set \cup pend[m].set
\* One proposal at a time, so that AckSet has all of them.                      \* CHECK B79
MayPropose(m) == role[m] = "Master" /\ pend[m] = NoProposal
\* A master stays in its own set.                                               \* CHECK B25
MayShrink(m, S) == S \subseteq local[m].set \ {m}
\* Who joins is compared when it is proposed, not before: it has reported,       \* CHECK B81
HasReported(m, s) == conn[m][s].ack # -1
\* has all that was promised,                                                 \* CHECK ExpandConfirm
HasConfirmed(m, s) == conn[m][s].ack >= confirm[m]
\* and the beginning of the reign,                                              \* CHECK ExpandEpoch
HasReign(m, s) == conn[m][s].ack >= epochs[m][Len(epochs[m])].s
\* as the incarnation that reported it: the connection may be a dead one's.     \* CHECK HalfOpen
IncarnationOf(m, s) == conn[m][s].inc
\* A proposal ends when the master knows a set epoch above the one that it expected.
\* The refusal of a copy does not end it,                                       \* CHECK Refusal
\* and silence does not end it.                                                 \* CHECK B82
Ends(r, e) == r.exp < e

\* Number of records that the replicas are sure to have; who is not connected has nothing for sure,
\* also where he alone is the set.                                              \* CHECK OneMember
AckOf(m, s) == IF s = m THEN Len(log[m]) ELSE conn[m][s].ack
Covered(m) ==
  LET Enough(n) == IF AllAckInSyncStateSet THEN \A s \in AckSet(m) : AckOf(m, s) >= n
                   ELSE Cardinality({s \in Broker : AckOf(m, s) >= n}) >= InSyncReplicas
      N == {n \in 0..Len(log[m]) : Enough(n)}
  IN IF N = {} THEN 0 ELSE E!MaxOf(N)
\* Consumers see what is confirmed, not what is merely written.                 \* CHECK W8
VisibleEnd(m) == confirm[m]
Longer(p, q) == IF E!IsPrefix(q, p) THEN p ELSE q

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, b) == TRUE

\* ---- Actions of the controller ----

\* What may be answered from now on.
NextViews ==
  IF ctl'.sssEpoch = ctl.sssEpoch THEN views
  ELSE Append(views, [master |-> ctl'.master, epoch |-> ctl'.epoch, sss |-> ctl'.sss])

Elect(c) ==
  /\ ctl' = [ctl EXCEPT !.master = c, !.epoch = NextEpoch, !.sss = {c}, !.sssEpoch = @ + 1,
                        !.unfit = {}]
  /\ views' = NextViews
  /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* The controller scans for groups whose master is gone (scanNeedReelectBrokerSets).
ElectMaster(c) ==
  /\ Explored("ElectMaster", c)
  /\ NeedsElection
  /\ Electable(c)

  /\ Elect(c)

\* An operator names a master (designateElect); the one before may be healthy, and not know.
DesignateMaster(c) ==
  /\ Explored("DesignateMaster", c)
  /\ ctl.master \notin {c, None}
  /\ Electable(c)

  /\ Elect(c)

\* A proposal of m arrives and is applied.  It may arrive again.
AlterSyncStateSet(m) ==
  \E r \in alters :
    /\ r.from = m
    /\ MayAlter(r)

    /\ ctl' = [ctl EXCEPT !.sss = r.set, !.sssEpoch = @ + 1, !.unfit = @ \cap r.set]
    /\ views' = NextViews
    /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* A proposal of m for the present set is refused, because of a member that is not alive, say.
RefuseAlter(m) ==
  \E r \in alters :
    /\ r.from = m
    /\ Fresh(r)

    /\ ctl' = [ctl EXCEPT !.sssEpoch = EpochAfterRefusal]
    /\ views' = NextViews
    /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* The heartbeats of incarnation n have ceased, or its channel is closed, perhaps late.
EvictBroker(b, n) ==
  /\ Explored("EvictBroker", b)
  /\ b \in alive
  /\ n < inc[b]
  /\ OwnsEntry(b, n)

  /\ alive' = alive \ {b}
  /\ UNCHANGED <<ctl, views, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* An operator removes all that the controller knows of a group without master (cleanBrokerData).
CleanBrokerData ==
  /\ Explored("CleanBrokerData", None)
  /\ NeedsElection
  /\ ctl.sss # {}

  /\ ctl' = [ctl EXCEPT !.master = None, !.epoch = EpochAfterClean, !.sss = {},
                        !.sssEpoch = @ + 1, !.unfit = {}]
  /\ views' = NextViews
  /\ UNCHANGED <<alive, brokerVars, masterVars, link, conn, alters, acked, seen>>

\* ---- Actions of any broker ----

\* What is left of the connections when b drops its own: its slaves are not served any more, a
\* master that it followed may not notice.
LinksWithout(b) == [s \in Broker |-> IF b \in {s, link[s]} THEN None ELSE link[s]]
ConnsWithout(b) == [conn EXCEPT ![b] = [s \in Broker |-> NoConn]]

\* A broker learns that it was elected, perhaps late (ReplicasManager.changeToMaster).
BecomeMaster(b) ==
  \E e \in DOMAIN views :
    /\ role[b] # "Down"
    /\ views[e].master = b
    /\ NewReign(b, e)

    /\ role' = [role EXCEPT ![b] = "Master"]
    /\ known' = [known EXCEPT ![b] = views[e].epoch]
    /\ epochs' = [epochs EXCEPT ![b] = EpochsOfMaster(b, views[e].epoch)]
    /\ local' = [local EXCEPT ![b] = [set |-> SetOfMaster(b, e), epoch |-> e]]
    /\ pend' = [pend EXCEPT ![b] = NoProposal]
    /\ confirm' = [confirm EXCEPT ![b] = ConfirmOfMaster(b, e)]
    /\ link' = LinksWithout(b)
    /\ conn' = ConnsWithout(b)
    /\ UNCHANGED <<ctlVars, inc, log, torn, alters, acked, seen>>

\* A broker learns of another master, or that there is none (ReplicasManager.changeToSlave); a
\* zombie stops here to be one.
BecomeSlave(b) ==
  \E e \in DOMAIN views :
    /\ Explored("BecomeSlave", b)
    /\ role[b] # "Down"
    /\ views[e].master # b
    /\ NewReign(b, e)

    /\ role' = [role EXCEPT ![b] = "Slave"]
    /\ known' = [known EXCEPT ![b] = views[e].epoch]
    /\ local' = [local EXCEPT ![b] = NoSet]
    /\ pend' = [pend EXCEPT ![b] = NoProposal]
    /\ confirm' = [confirm EXCEPT ![b] = 0]
    /\ link' = LinksWithout(b)
    /\ conn' = ConnsWithout(b)
    /\ UNCHANGED <<ctlVars, inc, log, epochs, torn, alters, acked, seen>>

\* The broker stops; k records of its log are left.
Crash(b, k) ==
  /\ Explored("Crash", b)
  /\ role[b] # "Down"
  /\ k \in 0..Len(log[b])

  /\ role' = [role EXCEPT ![b] = "Down"]
  /\ known' = [known EXCEPT ![b] = 0]
  /\ inc' = [inc EXCEPT ![b] = @ + 1]
  /\ log' = [log EXCEPT ![b] = E!Prefix(@, k)]
  /\ torn' = IF k < Len(log[b]) THEN torn \cup {b} ELSE torn
  /\ local' = [local EXCEPT ![b] = NoSet]
  /\ pend' = [pend EXCEPT ![b] = NoProposal]
  /\ confirm' = [confirm EXCEPT ![b] = 0]
  /\ link' = LinksWithout(b)
  /\ conn' = ConnsWithout(b)
  /\ UNCHANGED <<ctlVars, epochs, alters, acked, seen>>

\* The broker comes back and registers: the controller learns its incarnation and whether its log is
\* whole, the broker learns the masterEpoch (registerBroker).
Restart(b) ==
  /\ Explored("Restart", b)
  /\ role[b] = "Down"

  /\ \E unfit \in UnfitAfterRestart(b) :
       ctl' = [ctl EXCEPT !.master = MasterAfterRestart(b), !.inc[b] = inc[b], !.unfit = unfit]
  /\ alive' = AliveAfterRestart(b)
  /\ role' = [role EXCEPT ![b] = RoleAfterRestart(b)]
  /\ known' = [known EXCEPT ![b] = KnownAfterRestart(b)]
  /\ epochs' = [epochs EXCEPT ![b] = EpochsAfterRestart(b)]
  /\ torn' = torn \ {b}
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

\* Enough replicas have more of the log: confirmOffset moves and producers are answered; who gave up
\* before that does not know (GroupTransferService, computeConfirmOffset).
Acknowledge(m) ==
  /\ role[m] = "Master"
  /\ \E n \in (confirm[m] + 1)..Covered(m) :
       /\ confirm' = [confirm EXCEPT ![m] = n]
       /\ acked' = Longer(acked, E!Prefix(log[m], n))
  /\ UNCHANGED <<ctlVars, brokerVars, local, pend, link, conn, alters, seen>>

\* A consumer reads from a master, perhaps from a zombie.
Consume(m) ==
  /\ Explored("Consume", m)
  /\ role[m] = "Master"
  /\ Longer(seen, E!Prefix(log[m], VisibleEnd(m))) # seen

  /\ seen' = E!Prefix(log[m], VisibleEnd(m))
  /\ UNCHANGED <<ctlVars, brokerVars, masterVars, link, conn, alters, acked>>

Propose(m, set, new) ==
  LET r == [from |-> m, epoch |-> known[m], exp |-> local[m].epoch, set |-> set, new |-> new,
            inc |-> IF new = None THEN 0 ELSE IncarnationOf(m, new)]
  IN /\ pend' = [pend EXCEPT ![m] = r]
     /\ alters' = alters \cup {r}
     /\ UNCHANGED <<ctlVars, brokerVars, local, confirm, link, conn, acked, seen>>

\* Members are behind for too long, or gone (maybeShrinkSyncStateSet).
MaybeShrink(m, S) ==
  /\ Explored("MaybeShrink", m)
  /\ MayPropose(m)
  /\ S # {}
  /\ MayShrink(m, S)

  /\ Propose(m, local[m].set \ S, None)

\* A slave's report shows that it has caught up (maybeExpandInSyncStateSet); the test and the
\* proposal are one step.
MaybeExpand(m, s) ==
  /\ Explored("MaybeExpand", m)
  /\ MayPropose(m)
  /\ HasReported(m, s)
  /\ s \notin local[m].set
  /\ HasConfirmed(m, s)
  /\ HasReign(m, s)

  /\ Propose(m, local[m].set \cup {s}, s)

\* The master hears a set of its reign, as an answer or by asking: perhaps not the newest, perhaps
\* the one that it has (changeSyncStateSet).
LearnSyncStateSet(m) ==
  \E e \in DOMAIN views :
    /\ role[m] = "Master"
    /\ views[e].master = m
    /\ views[e].epoch = known[m]
    /\ NewSet(m, e)

    /\ local' = [local EXCEPT ![m] = [set |-> views[e].sss, epoch |-> e]]
    /\ pend' = IF pend[m] # NoProposal /\ Ends(pend[m], e) THEN [pend EXCEPT ![m] = NoProposal]
               ELSE pend
    /\ UNCHANGED <<ctlVars, brokerVars, confirm, link, conn, alters, acked, seen>>

\* The master sees that a connection is broken, or breaks it; what is on its way to the slave is
\* lost.
CloseConnection(m, s) ==
  /\ Explored("CloseConnection", s)
  /\ conn[m][s] # NoConn

  /\ conn' = [conn EXCEPT ![m][s] = NoConn]
  /\ link' = IF link[s] = m THEN [link EXCEPT ![s] = None] ELSE link
  /\ UNCHANGED <<ctlVars, brokerVars, masterVars, alters, acked, seen>>

\* ---- Actions of a slave ----

\* A slave connects, cuts its log at the consistent point and reports its end.
Handshake(m, s) ==
  /\ Explored("Handshake", s)
  /\ role[m] = "Master"
  /\ role[s] = "Slave"
  /\ link[s] = None
  /\ MayFollow(s, m)

  /\ LET cp == E!ConsistentPoint(epochs[s], OwnEnd(s), E!Starts(epochs[m]), Len(log[m]))
     IN /\ log' = [log EXCEPT ![s] = LogAfterCut(s, cp)]
        /\ epochs' = [epochs EXCEPT ![s] = EpochsAfterCut(s, cp)]
        /\ conn' = [conn EXCEPT ![m][s] = [inc |-> inc[s], reported |-> Reported(s, cp),
                                           ack |-> -1]]
  /\ link' = [link EXCEPT ![s] = m]
  /\ known' = [known EXCEPT ![s] = E!MaxOf({@, known[m]})]
  /\ UNCHANGED <<ctlVars, role, inc, torn, masterVars, alters, acked, seen>>

\* The epoch of the slave's next record, at its master; the slave notes it if it is new to it.
NextEntry(s) == E!EpochAt(epochs[link[s]], Len(log[s]))
Noted(s) == IF NextEntry(s).e = E!LastEpoch(epochs[s]) THEN epochs[s]
            ELSE E!AppendEpoch(epochs[s], NextEntry(s).e, NextEntry(s).s)

\* A slave copies the next record, and reports its end.
Replicate(s) ==
  /\ link[s] # None
  /\ Len(log[s]) < Len(log[link[s]])

  /\ log' = [log EXCEPT ![s] = Append(@, log[link[s]][Len(@) + 1])]
  /\ epochs' = [epochs EXCEPT ![s] = Noted(s)]
  /\ known' = [known EXCEPT ![s] = E!MaxOf({@, NextEntry(s).e})]
  /\ conn' = [conn EXCEPT ![link[s]][s].reported = E!MaxOf({@, Len(log'[s])})]
  /\ UNCHANGED <<ctlVars, role, inc, torn, masterVars, link, alters, acked, seen>>

\* A slave hears of an epoch before there is a record of it: in a heartbeat.
HearEpoch(s) ==
  /\ Explored("HearEpoch", s)
  /\ link[s] # None
  /\ NextEntry(s).e # E!LastEpoch(epochs[s])

  /\ epochs' = [epochs EXCEPT ![s] = Noted(s)]
  /\ known' = [known EXCEPT ![s] = E!MaxOf({@, NextEntry(s).e})]
  /\ UNCHANGED <<ctlVars, role, inc, log, torn, masterVars, link, conn, alters, acked, seen>>

\* A slave loses its connection, or leaves it; its master may not know.
Disconnect(s) ==
  /\ Explored("Disconnect", s)
  /\ link[s] # None

  /\ link' = [link EXCEPT ![s] = None]
  /\ UNCHANGED <<ctlVars, brokerVars, masterVars, conn, alters, acked, seen>>

-----------------------------------------------------------------------------
\* ---- Invariants: structure ----

\* Else nobody knows who may change the set.
MasterInSSS == ctl.master # None => ctl.master \in ctl.sss

\* Else two brokers write different messages under one epoch.
OneMasterPerEpoch ==
  \A a, b \in Broker : role[a] = "Master" /\ role[b] = "Master" /\ known[a] = known[b] => a = b

\* Else messages of a master count to an epoch that is not its own.
RoleAtomic == E!RoleAtomic

\* Else replicas are cut at wrong borders, or keep different messages (EpochTruncation).
EpochFaithful == E!EpochFaithful
LogMatching == E!LogMatching

\* Else a message counts as copied that the slave does not have, or to a broker that reigns no more.
ConnSound ==
  \A m, s \in Broker :
    /\ conn[m][s].ack <= conn[m][s].reported
    /\ link[s] = m => /\ conn[m][s].inc = inc[s]
                      /\ conn[m][s].reported = Len(log[s])
                      /\ role[s] = "Slave" /\ role[m] = "Master"

\* Else the master does not wait for a broker that may be elected.
SSSCoverage == \A m \in Broker : IsCurrent(m) => ctl.sss \subseteq AckSet(m)

\* ---- Invariants: safety ----

\* Else a broker may be elected that lacks an acknowledged message.
AckedInSSS == \A b \in Fit : E!IsPrefix(acked, log[b])

\* Else a producer was told that a message is safe, and it is not.
NoAckedLoss == \A m \in Broker : IsCurrent(m) => E!IsPrefix(acked, log[m])

\* Else a message that a consumer has seen disappears.
VisibleInSSS == \A b \in Fit : E!IsPrefix(seen, log[b])

\* Else a proposal of the past changes the set of the present.
AlterFenced ==
  [][ctl'.sss # ctl.sss /\ ctl'.master = ctl.master /\ ctl'.sss # {} =>
       \E r \in alters :
         /\ r.from = ctl.master /\ r.epoch = ctl.epoch /\ r.exp = ctl.sssEpoch
         /\ ctl.master \in r.set /\ r.set = ctl'.sss]_vars

\* Else old requests and old masters pass for new ones.
CtlEpochMonotone ==
  [][/\ ctl'.epoch >= ctl.epoch /\ ctl'.sssEpoch >= ctl.sssEpoch
     /\ ctl'.master \notin {ctl.master, None} => ctl'.epoch > ctl.epoch]_vars

\* Else a slave drops newer records for a master that was replaced.
FollowFencing ==
  [][\A s \in Broker : link[s] = None /\ link'[s] # None => known[link'[s]] >= known[s]]_vars

\* Else a healthy master is deposed.
NoSpuriousElect == [][\A b \in alive \ alive' : role[b] = "Down"]_vars

\* ---- Refinement ----

\* What a user sees of all this.
Serving == IF \E m \in Broker : IsCurrent(m)
           THEN [up |-> TRUE, log |-> log[ctl.master]]
           ELSE [up |-> FALSE, log |-> <<>>]
AL == INSTANCE AckedLog WITH serving <- Serving
Refinement == AL!Spec
\* The same as a state of AckedLog, for runs.
UserView == [acked |-> acked, seen |-> seen, serving |-> Serving]

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

NoZombie ==                 \* a master was replaced, does not know, and its successor acts
  Cardinality({b \in Broker : role[b] = "Master"}) <= 1
NoFailover ==               \* an acknowledged message outlives its master
  \A m \in Broker : IsCurrent(m) /\ acked # <<>> => acked[Len(acked)] = known[m]
NoAckedBySet ==             \* a message is acknowledged by more than one replica
  ~(acked # <<>> /\ Cardinality(Fit) > 1)
NoStaleProposal ==          \* a proposal of a past reign is under way
  \A r \in alters : r.epoch = ctl.epoch
NoUnfitMember ==            \* a member is back without an acknowledged message
  \A b \in ctl.unfit : E!IsPrefix(acked, log[b])
NoRefusal ==                \* a proposal was refused
  \A e \in 1..(Len(views) - 1) : views[e] # views[e + 1]
NoHalfOpen ==               \* a master hears a report of a slave that has restarted since
  \A m, s \in Broker : conn[m][s].ack < conn[m][s].reported => conn[m][s].inc = inc[s]

-----------------------------------------------------------------------------
Init ==
  /\ ctl = [master |-> None, epoch |-> 0, sss |-> {}, sssEpoch |-> 0,
            inc |-> [b \in Broker |-> 0], unfit |-> {}]
  /\ views = <<>>
  /\ alive = Broker
  /\ role = [b \in Broker |-> "Slave"]
  /\ known = [b \in Broker |-> 0]
  /\ inc = [b \in Broker |-> 0]
  /\ log = [b \in Broker |-> <<>>]
  /\ epochs = [b \in Broker |-> <<>>]
  /\ torn = {}
  /\ local = [b \in Broker |-> NoSet]
  /\ pend = [b \in Broker |-> NoProposal]
  /\ confirm = [b \in Broker |-> 0]
  /\ link = [b \in Broker |-> None]
  /\ conn = [b \in Broker |-> [s \in Broker |-> NoConn]]
  /\ alters = {}
  /\ acked = <<>>
  /\ seen = <<>>

Next ==
  \/ \E c \in Broker : ElectMaster(c)
  \/ \E c \in Broker : DesignateMaster(c)
  \/ \E m \in Broker : AlterSyncStateSet(m)
  \/ \E m \in Broker : RefuseAlter(m)
  \/ \E b \in Broker, n \in Nat : EvictBroker(b, n)
  \/ CleanBrokerData
  \/ \E b \in Broker : BecomeMaster(b)
  \/ \E b \in Broker : BecomeSlave(b)
  \/ \E b \in Broker, k \in Nat : Crash(b, k)
  \/ \E b \in Broker : Restart(b)
  \/ \E m \in Broker : PutMessage(m)
  \/ \E m, s \in Broker : ReceiveAck(m, s)
  \/ \E m \in Broker : Acknowledge(m)
  \/ \E m \in Broker : Consume(m)
  \/ \E m \in Broker, S \in SUBSET Broker : MaybeShrink(m, S)
  \/ \E m, s \in Broker : MaybeExpand(m, s)
  \/ \E m \in Broker : LearnSyncStateSet(m)
  \/ \E m, s \in Broker : CloseConnection(m, s)
  \/ \E m, s \in Broker : Handshake(m, s)
  \/ \E s \in Broker : Replicate(s)
  \/ \E s \in Broker : HearEpoch(s)
  \/ \E s \in Broker : Disconnect(s)

Spec == Init /\ [][Next]_vars

\* ---- Liveness ----

Fairness ==
  /\ WF_vars(\E c \in Broker : ElectMaster(c))
  /\ \A b \in Broker : WF_vars(BecomeMaster(b)) /\ WF_vars(\E n \in Nat : EvictBroker(b, n))
  /\ \A m \in Broker : WF_vars(AlterSyncStateSet(m) \/ RefuseAlter(m))
  /\ \A m \in Broker : WF_vars(LearnSyncStateSet(m))

FairSpec == Spec /\ Fairness

\* While a member with a whole log stays up, the group gets a master and keeps it, once operators
\* and crashes leave it alone.
ElectLive ==
  (\E b \in Broker : <>[](b \in Fit /\ role[b] # "Down")) => <>[](\E m \in Broker : IsCurrent(m))

\* While its master reigns, a proposal is decided, and the master hears of it.
ProposalEnds ==
  \A m \in Broker : <>[]IsCurrent(m) => []<>(pend[m] = NoProposal)

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ AckedInSSS /\ NoAckedLoss /\ VisibleInSSS /\ LogMatching)
=============================================================================
