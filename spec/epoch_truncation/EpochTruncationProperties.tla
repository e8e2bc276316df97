----------------------- MODULE EpochTruncationProperties -----------------------
(* What EpochTruncation promises: invariants, each with what happens else; situations that must be
   reachable; what a fair group comes to.                                                        *)
EXTENDS EpochTruncation

TypeOK ==
  /\ ctl \in [master : Broker \cup {None}, epoch : Nat]
  /\ role \in [Broker -> {"Master", "Slave", "Down"}]
  /\ known \in [Broker -> Nat]
  /\ inc \in [Broker -> Nat]
  /\ log \in [Broker -> Seq(Nat)]
  /\ epochs \in [Broker -> Seq(EpochEntry)]
  /\ received \in [Broker -> Nat]
  /\ disk \in [Broker -> Seq(Nat)]
  /\ flushed \in [Broker -> Nat]
  /\ epochsDisk \in [Broker -> Seq(EpochStart)]
  /\ \A s \in Broker : link[s] = NoLink \/ link[s] \in Link
  /\ acted \in Nat

-----------------------------------------------------------------------------
\* ---- Invariants: structure ----

Up == {b \in Broker : role[b] # "Down"}

\* Else an epoch has two starts, or an offset no epoch.
EpochWellFormed ==
  \A b \in Broker : \A i \in DOMAIN epochs[b] :
    IF i = Len(epochs[b]) THEN epochs[b][i].end = -1
    ELSE /\ epochs[b][i].e < epochs[b][i + 1].e
         /\ epochs[b][i].s < epochs[b][i + 1].s
         /\ epochs[b][i].end = epochs[b][i + 1].s

\* Else a slave claims records that it does not have; equality is an epoch without records yet.
EpochLeLog == \A b \in Up : epochs[b] # <<>> => epochs[b][Len(epochs[b])].s <= Len(log[b])

\* A master's records belong to the epoch that it ends its cache with.
RoleAtomic == \A b \in Broker : role[b] = "Master" => LastEpoch(epochs[b]) = known[b]

\* Else a restart brings back epochs that were cut off, or forgets one that has records.
EpochDurable == \A b \in Broker : epochsDisk[b] = Starts(epochs[b])

\* Else records that were cut off come back after a power cut, or written ones were never written.
TruncationDurable == \A b \in Broker : disk[b] = log[b]

FlushedLeLog == \A b \in Broker : flushed[b] <= Len(log[b])

\* Else a slave copies from, and reports to, a broker that is no master any more.
LinkRoles ==
  \A s \in Broker : link[s] # NoLink =>
    role[s] = "Slave" /\ (link[s].open => role[link[s].peer] = "Master")

\* Else a slave goes on copying from a master that it knows to be replaced.  One that was elected
\* again may hear of it later than its slave (LearnEpoch).
FollowsNoOlder ==
  \A s \in Broker : link[s] # NoLink =>
    (link[s].open /\ link[s].phase = "Transfer" =>
       \/ known[s] <= known[link[s].peer]
       \/ known[s] = ctl.epoch => ctl.master = link[s].peer)

\* Else a slave with records of one master epoch follows an older one, and cuts them.
KnownCoversEpochs == \A b \in Up : LastEpoch(epochs[b]) <= known[b]

\* Else a batch carries the border of an epoch that has ended, or the sender stalls.
SenderEntryFresh ==
  \A s \in Broker : link[s] # NoLink =>
    (link[s].open /\ link[s].next # -1 =>
       link[s].cur = EpochAt(epochs[link[s].peer], link[s].next))

\* Else the slave refuses a batch, and each one after it.
InFlightContinues ==
  \A s \in Broker : link[s] # NoLink => \A i \in DOMAIN link[s].down :
    LET p == link[s].down[i] IN p.type = "Transfer" =>
      p.offset = IF i = 1 THEN Len(log[s])
                 ELSE link[s].down[i - 1].offset + Len(link[s].down[i - 1].recs)

\* Else a message that the slave has is never counted.
ReportedIsEnd ==
  \A s \in Broker : link[s] # NoLink =>
    (link[s].phase = "Transfer" => link[s].reported = Len(log[s]))

\* ---- Invariants: safety ----

\* Else the consistent point is computed from wrong borders, and replicas keep different bytes.
EpochFaithful ==
  \A b \in Broker : \A o \in 0..(Len(log[b]) - 1) : EpochAt(epochs[b], o).e = log[b][o + 1]

\* Else one master epoch has two beginnings, and slaves that followed it are cut far below its
\* records.
EpochStartUnique ==
  \A a, b \in Broker : a # b => \A i \in DOMAIN epochs[a], j \in DOMAIN epochs[b] :
    epochs[a][i].e = epochs[b][j].e => epochs[a][i].s = epochs[b][j].s

\* Else two incarnations write different records under one epoch, and nothing tells them apart.
\* No incarnation acts twice on one epoch either.
EpochPerIncarnation == acted <= 1

\* Records of one epoch at one offset have one history.
LogMatching ==
  \A a, b \in Broker : a # b => \A o \in 1..Min(Len(log[a]), Len(log[b])) :
    log[a][o] = log[b][o] => Prefix(log[a], o) = Prefix(log[b], o)

\* Else master and slave keep different bytes at one offset although the slave is in sync.
PrefixAfterHandshake ==
  \A s \in Broker : link[s] # NoLink =>
    (link[s].open /\ link[s].phase = "Transfer" => IsPrefix(log[s], log[link[s].peer]))

\* Sound (<=), else something different is kept; maximal (>=), else something common is cut, which
\* may be acknowledged.
ConsistentPointExact ==
  \A a, b \in Up : a # b =>
    ConsistentPoint(epochs[a], Len(log[a]), Starts(epochs[b]), Len(log[b]))
      = CommonPrefix(log[a], log[b])

\* Else the slave's cache misses an epoch or begins it late.  A heartbeat may name an empty epoch that
\* was replaced meanwhile; AppendEpoch replaces it at the slave, too.
BatchOneEpoch ==
  \A s \in Broker : link[s] # NoLink =>
    \A i \in DOMAIN link[s].down : LET p == link[s].down[i] IN
      p.type = "Transfer" =>
        /\ \A k \in DOMAIN p.recs : p.recs[k] = p.epoch
        /\ link[s].open /\ p.recs # <<>> => \E x \in DOMAIN epochs[link[s].peer] :
             epochs[link[s].peer][x].e = p.epoch /\ epochs[link[s].peer][x].s = p.start

\* Else a message counts as replicated that the slave does not have.
AckSound ==
  \A s \in Broker : link[s] # NoLink =>
    /\ link[s].ack <= link[s].reported
    /\ link[s].reported <= Len(log[s])
    /\ link[s].open => link[s].ack <= Len(log[link[s].peer])

Handshaken(s) ==            \* an action: s completes a handshake
  /\ link[s] # NoLink /\ link'[s] # NoLink
  /\ link[s].phase = "Handshake" /\ link'[s].phase = "Transfer"

\* Else a slave in the SyncStateSet drops newer records for a master that was replaced.
FollowFencing ==
  [][\A s \in Broker : Handshaken(s) => Head(link[s].down).epoch >= known[s]]_vars

\* Else a slave cuts what both logs have, keeps what only one has, or forgets whom it follows.
HandshakeExact ==
  [][\A s \in Broker : Handshaken(s) =>
       /\ Head(link[s].down).epoch >= LastEpoch(epochs[s])
       /\ known'[s] = Head(link[s].down).epoch
       /\ link[s].open =>
            log'[s] = Prefix(log[s], CommonPrefix(log[s], log[link[s].peer]))]_vars

\* Else a broker forgets a master epoch, and follows a master that it had seen replaced.
RoleChangeLearns ==
  [][\A b \in Broker : role[b] # "Down" =>
       /\ inc'[b] = inc[b] => known'[b] >= known[b]
       /\ role'[b] \notin {"Down", role[b]} => known'[b] = ctl.epoch]_vars

-----------------------------------------------------------------------------
\* ---- Witnesses: interesting situations, each of which must be reachable ----

Follows(s) == link[s] # NoLink /\ link[s].phase = "Transfer"

NoLongTruncation ==
  \A s \in Broker : link[s] # NoLink =>
    (link[s].phase = "Handshake" /\ MayFollow(s, link[s].down[1].epoch) =>
       Len(log[s]) - ConsistentPoint(epochs[s], Len(log[s]), link[s].down[1].entries,
                                     link[s].down[1].offset) <= 1)
NoTwoMasters == Cardinality({b \in Broker : role[b] = "Master"}) <= 1
NoEmptyEpoch ==             \* an epoch known to one broker ended where it began for another
  \A a, b \in Broker : \A i \in DOMAIN epochs[a], j \in DOMAIN epochs[b] :
    epochs[a][i].s = epochs[b][j].s => epochs[a][i].e = epochs[b][j].e
NoSlaveFarBehind ==         \* a slave in transfer lacks three epochs of its master
  \A s \in Broker : Follows(s) =>
    Cardinality({i \in DOMAIN epochs[link[s].peer] :
                   epochs[link[s].peer][i].e > LastEpoch(epochs[s])}) < 3
NoReelectedMaster ==        \* a master was elected again under an open connection
  \A s \in Broker : Follows(s) => (link[s].open => known[link[s].peer] <= known[s])
NoSlaveAhead ==             \* a slave hears that its master was elected again before that one does
  \A s \in Broker : Follows(s) => (link[s].open => known[s] <= known[link[s].peer])
NoBatchCut ==               \* a batch ended at a border although the master had more
  \A s \in Broker : Follows(s) => ~ \E i \in DOMAIN link[s].down :
    LET p == link[s].down[i] IN
      link[s].open /\ p.recs # <<>> /\ p.offset + Len(p.recs) < Len(log[link[s].peer])
      /\ EpochAt(epochs[link[s].peer], p.offset + Len(p.recs)).e # p.epoch
NoEpochLostInCrash ==       \* a restart has to drop an entry beyond the log
  \A b \in Broker : role[b] = "Down" => \A i \in DOMAIN epochs[b] : epochs[b][i].s <= Len(log[b])

-----------------------------------------------------------------------------
\* ---- Liveness ----

\* The master is gone, or it answered before it knew what the slave knows: a slave closes these.
\*                                                                              \* CHECK NoticeUseless
Useless(s) ==
  link[s] # NoLink
  /\ \/ ~link[s].open
     \/ link[s].phase = "Handshake" /\ ~MayFollow(s, Head(link[s].down).epoch)

Fairness ==
  /\ \A b \in Broker : WF_vars(BecomeMaster(b)) /\ WF_vars(BecomeSlave(b)) /\ WF_vars(Restart(b))
  /\ \A s \in Broker : WF_vars(ReceiveHandshake(s)) /\ WF_vars(ReceiveTransfer(s))
  /\ \A s \in Broker : WF_vars(LearnEpoch(s))
  /\ \A m, s \in Broker :
       /\ WF_vars(ctl.master = m /\ Handshake(m, s))
       /\ WF_vars(ReceiveAck(m, s, link[s].reported) /\ link'[s].ack > link[s].ack)
       /\ SF_vars(\E n \in 1..Len(log[m]) : Transfer(m, s, n))   \* a heartbeat may fill a finite link
  /\ \A s \in Broker : WF_vars(Useless(s) /\ Disconnect(s))

FairSpec == Spec /\ Fairness

\* Once elections and power cuts end, every broker has the log of the elected one, unless that one
\* was cut down in its master epoch: then it waits for another election (KnownAtRestart).
RejoinLive ==
  \A m, s \in Broker : m # s =>
    (/\ <>[](ctl.master = m /\ (known[m] < ctl.epoch \/ role[m] = "Master"))
     /\ <>[][inc' = inc]_vars
     => <>[](log[s] = log[m]))

\* The main ones; the configurations have all of them.
THEOREM Spec => [](TypeOK /\ EpochFaithful /\ LogMatching /\ PrefixAfterHandshake)
=============================================================================
