--------------------------- MODULE EpochTruncation ---------------------------
(* Epoch-based log truncation and transfer of RocketMQ 5's AutoSwitchHAService.

   A broker group has one master at a time, but a master may be slow to learn that it was
   replaced, and elections may be unclean: any broker may be elected.  So logs diverge.  Every
   master has a masterEpoch of the controller and remembers where in the log that began: the epoch
   cache, a list of (epoch, start offset), kept in the epoch file.  A slave that connects compares
   caches with the master, cuts its log at the consistent point, and then copies batches that never
   cross an epoch, so that it learns each epoch with its first batch.
   Without it two replicas keep different bytes at one offset, and nobody notices.

   Modelled: an abstract controller, zombie masters, handshake, truncation, transfer and heartbeat
   packets in flight, acknowledgements, reconnects, power cuts that lose any part of the unflushed
   tail, flushed records that a broker loses while it is down, and the durable copies of log and cache.
   Not modelled: SyncStateSet and confirmOffset, file retention (every log starts at offset 0),
   asynchronous learners, start at the last file, records cut in two by a batch, duplicated or
   reordered bytes within a connection (TCP), several acknowledgements in flight (only the largest),
   late answers of the controller, an epoch file that is half written (replaced in one step; a mutant
   loses its last entry), the layout of packets.

   Conventions: offsets count records from 0, ranges are half-open, -1 is "no bound" or "not yet".
   Source: AutoSwitchHAService, AutoSwitchHAClient, AutoSwitchHAConnection, EpochFileCache and
   CheckpointFile of apache/rocketmq at 8fc57f1468; published rule: RIP-44, "log truncation".     *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Broker,      \* the brokers of one group
  None         \* stands for "no broker"

ASSUME BrokerAssumption == IsFiniteSet(Broker) /\ Broker # {} /\ None \notin Broker

VARIABLES
  \* the controller
  ctl,         \* [master: elected broker or None, epoch: its masterEpoch]
  \* each broker, in memory
  role,        \* broker -> "Master" (maybe a zombie), "Slave" or "Down"
  known,       \* broker -> highest masterEpoch learnt in this incarnation
  inc,         \* broker -> incarnation: number of crashes
  log,         \* broker -> sequence; element o + 1 is the epoch in which record o was first written
  epochs,      \* broker -> epoch cache: sequence of [e: epoch, s: start, end: end or -1]
  received,    \* broker -> currentReceivedEpoch: epoch of the last transfer header it has seen
  \* each broker, on disk
  disk,        \* broker -> what a recovery scan of the log files would find, flushed or not
  flushed,     \* broker -> number of records that survive any power cut
  epochsDisk,  \* broker -> epoch file: sequence of [e, s]
  \* connections
  link,        \* slave -> its connection, both ends of it (see Link), or NoLink
  \* history, read by no guard
  ghostActed   \* number of BecomeMaster steps that used ctl.epoch

vars == <<ctl, role, known, inc, log, epochs, received, disk, flushed, epochsDisk, link, ghostActed>>
logVars == <<log, disk, flushed>>
epochVars == <<epochs, epochsDisk>>

-----------------------------------------------------------------------------
\* ---- Types ----

Start == [e : Nat, s : Nat]
Entry == [e : Nat, s : Nat, end : Nat \cup {-1}]
NoEntry == [e |-> 0, s |-> 0, end |-> -1]

HandshakeReply == [type : {"Handshake"}, epoch : Nat, offset : Nat, entries : Seq(Start)]
TransferBatch == [type : {"Transfer"}, epoch : Nat, start : Nat, offset : Nat, recs : Seq(Nat)]

Link == [peer : Broker,                        \* the master
         open : BOOLEAN,                       \* the master has neither crashed nor changed its role
         phase : {"Handshake", "Transfer"},    \* HAConnectionState of the slave
         down : Seq(HandshakeReply \cup TransferBatch),   \* packets in flight to the slave
         reported : Nat \cup {-1},             \* last offset that the slave has acknowledged
         ack : Nat \cup {-1},                  \* last acknowledgement that the master has received
         next : Nat \cup {-1},                 \* next offset to send
         cur : Entry]                          \* epoch of that offset, as cached by the sender
NoLink == [peer |-> None]

TypeOK ==
  /\ ctl \in [master : Broker \cup {None}, epoch : Nat]
  /\ role \in [Broker -> {"Master", "Slave", "Down"}]
  /\ known \in [Broker -> Nat]
  /\ inc \in [Broker -> Nat]
  /\ log \in [Broker -> Seq(Nat)]
  /\ epochs \in [Broker -> Seq(Entry)]
  /\ received \in [Broker -> Nat]
  /\ disk \in [Broker -> Seq(Nat)]
  /\ flushed \in [Broker -> Nat]
  /\ epochsDisk \in [Broker -> Seq(Start)]
  /\ \A s \in Broker : link[s] = NoLink \/ link[s] \in Link
  /\ ghostActed \in Nat

-----------------------------------------------------------------------------
\* ---- Sequences and offsets ----

Min(a, b) == IF a <= b THEN a ELSE b
MaxOf(S) == CHOOSE x \in S : \A y \in S : y <= x
MinOf(S) == CHOOSE x \in S : \A y \in S : x <= y
Prefix(q, n) == SubSeq(q, 1, n)
IsPrefix(p, q) == Len(p) <= Len(q) /\ Prefix(q, Len(p)) = p
CommonPrefix(p, q) ==       \* length of the longest common prefix
  MaxOf({n \in 0..Min(Len(p), Len(q)) : Prefix(p, n) = Prefix(q, n)})

\* ---- The epoch cache (EpochFileCache) ----

LastEpoch(q) == IF q = <<>> THEN 0 ELSE q[Len(q)].e
Starts(q) == [i \in DOMAIN q |-> [e |-> q[i].e, s |-> q[i].s]]
WithEnds(q) ==              \* ends are not stored: each is the next start, the last has no bound
  [i \in DOMAIN q |-> [e |-> q[i].e, s |-> q[i].s, end |-> IF i < Len(q) THEN q[i + 1].s ELSE -1]]
EpochAt(q, o) ==            \* findEpochEntryByOffset
  LET I == {i \in DOMAIN q : q[i].s <= o /\ (q[i].end = -1 \/ o < q[i].end)}
  IN IF I = {} THEN NoEntry ELSE q[MaxOf(I)]

\* An epoch in which nothing was written gives way to the next one.             \* CHECK B03
\*                                                                              \* CHECK LateDispatch
AppendEpoch(q, e, s) ==
  WithEnds(SelectSeq(q, LAMBDA x : x.s < s) \o <<[e |-> e, s |-> s, end |-> -1]>>)
\* The new last entry has no bound again.                                       \* CHECK B04
TruncateSuffixByOffset(q, o) == WithEnds(SelectSeq(q, LAMBDA x : x.s < o))      \* CHECK KeptEpochs
TruncateSuffixByEpoch(q, e) == WithEnds(SelectSeq(q, LAMBDA x : x.e < e))
\* What the epoch file holds after the cache q is stored over the old content.  \* CHECK B06
StoredEpochs(old, q) == Starts(q)
\* What a power cut may leave of the epoch file.                                \* CHECK B86
SurvivingEpochs(file) == {file}
\* At start-up, entries beyond the end of the log go.                           \* CHECK B83
RecoverEpochs(q, end) == WithEnds(SelectSeq(q, LAMBDA x : x.s <= end))

EndAt(q, i, end) == IF i < Len(q) THEN q[i + 1].s ELSE end
SameStart(x, y) == x.e = y.e /\ x.s = y.s                                       \* CHECK StartCompared
NearerEnd(a, b) == Min(a, b)                                                    \* CHECK MinEnd
\* Compares two caches from back to front: where the two logs are sure to agree up to.
ConsistentPoint(own, ownEnd, others, othersEnd) ==
  LET I == {i \in DOMAIN own : \E j \in DOMAIN others : SameStart(own[i], others[j])}
      i == MaxOf(I)
      j == MaxOf({x \in DOMAIN others : SameStart(own[i], others[x])})
  IN IF I = {} THEN 0 ELSE NearerEnd(EndAt(own, i, ownEnd), EndAt(others, j, othersEnd))

\* ---- The log files (CommitLog) ----

\* Writing log q over files that hold d: what lies beyond the end of q stays where it is.
Written(d, q) == q \o SubSeq(d, Len(q) + 1, Len(d))
\* A truncation is on the disk before anybody is told of it.                    \* CHECK B07
TruncatedDisk(d, o) == Prefix(d, o)
\* A cut flushes up to it; without a cut the flush service may have run meanwhile.
TruncatedFlushed(b, o) == IF o < Len(log[b]) THEN {o} ELSE {flushed[b], Len(log[b])}

\* ---- Connections ----

Linked(s, m) == link[s].peer = m /\ link[s].open
WithoutLinksTo(b, own) ==    \* b is no longer the master that its slaves knew
  [s \in Broker |-> IF s = b THEN own
                    ELSE IF link[s].peer = b THEN [link[s] EXCEPT !.open = FALSE] ELSE link[s]]
\* A sender follows its master's cache when an epoch is appended to it.         \* CHECK B02
RefreshedLink(l, q) == IF l.next = -1 THEN l ELSE [l EXCEPT !.cur = EpochAt(q, l.next)]
\* The sender goes to the next epoch when it has sent the last record of this one.
\*                                                                              \* CHECK LateBorder
AdvancedEntry(cur, q, next) == IF cur.end = next THEN EpochAt(q, next) ELSE cur
\* A batch carries the epoch of its own records, not of those that follow.      \* CHECK B05
BatchEntry(m, cur, next, n) == cur
BatchLimit(m, cur) == IF cur.end = -1 THEN Len(log[m]) ELSE cur.end

\* After a handshake, a header is compared with the last entry of the cut cache. \* CHECK B01
ReceivedAfterHandshake(s, q) == LastEpoch(q)
\* A slave reports its own log end, never an offset that it only heard of.      \* CHECK ReportOwnEnd
ReportAfterTruncate(cp, end) == Min(cp, end)
\* A batch tells its slave of a master that was elected again under the open connection.
\*                                                                              \* CHECK KnownFollowsBatch
KnownAfterBatch(s, epoch) == MaxOf({known[s], epoch})
\* A slave follows no master that is older than what it knows.                  \* CHECK B11
MayFollow(s, epoch) == epoch >= known[s]
\* A broker that restarts remembers the last epoch it took part in.             \* CHECK B10
KnownAtRestart(q) == LastEpoch(q)
\* A master's epoch never begins beyond what its disk is sure to keep.          \* CHECK FlushBeforeEpoch
FlushedAtBecomeMaster(b) == Len(log[b])
\* A slave keeps its connection only if that goes to the master that was elected again.
\*                                                                              \* CHECK KeptLink
MayKeepLink(s) == link[s].peer \in {ctl.master, None}
\* Only a master answers handshakes.                                            \* CHECK MasterAnswers
MayAnswer(m) == role[m] = "Master"
\* A batch continues the slave's log exactly.                                   \* CHECK OffsetContinues
Continues(p, q) == p.offset = Len(q)

-----------------------------------------------------------------------------
\* Which steps are explored: all of them here, fewer where a finite model overrides this.
Explored(action, b) == TRUE

\* ---- Actions of the controller ----

\* The controller elects any broker, clean or unclean, with a new masterEpoch.
ElectMaster(b) ==
  /\ Explored("ElectMaster", b)
  /\ ctl' = [master |-> b, epoch |-> ctl.epoch + 1]
  /\ ghostActed' = 0
  /\ UNCHANGED <<role, known, inc, logVars, epochVars, received, link>>

\* The controller finds no candidate; the masterEpoch is spent (ReplicasInfoManager.handleElectMaster).
ElectNobody ==
  /\ Explored("ElectNobody", None)
  /\ ctl' = [master |-> None, epoch |-> ctl.epoch + 1]
  /\ ghostActed' = 0
  /\ UNCHANGED <<role, known, inc, logVars, epochVars, received, link>>

\* ---- Actions of any broker ----

\* An elected broker learns it (AutoSwitchHAService.changeToMaster, or
\* changeToMasterWhenLastRoleIsMaster, which keeps the connections of its slaves).
BecomeMaster(b) ==
  /\ role[b] # "Down"
  /\ ctl.master = b
  /\ known[b] < ctl.epoch

  /\ LET q == AppendEpoch(TruncateSuffixByEpoch(epochs[b], ctl.epoch), ctl.epoch, Len(log[b]))
     IN /\ epochs' = [epochs EXCEPT ![b] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![b] = StoredEpochs(@, q)]
        /\ link' = [s \in Broker |-> IF s = b THEN NoLink
                                     ELSE IF Linked(s, b) THEN RefreshedLink(link[s], q)
                                     ELSE link[s]]
  /\ role' = [role EXCEPT ![b] = "Master"]
  /\ known' = [known EXCEPT ![b] = ctl.epoch]
  /\ received' = [received EXCEPT ![b] = 0]
  /\ flushed' = [flushed EXCEPT ![b] = FlushedAtBecomeMaster(b)]
  /\ ghostActed' = ghostActed + 1
  /\ UNCHANGED <<ctl, inc, log, disk>>

\* A broker learns of a master that it is not (AutoSwitchHAService.changeToSlave): it drops its
\* connections; a master that was replaced stops here to be a zombie.  See LearnEpoch, too.
BecomeSlave(b) ==
  /\ Explored("BecomeSlave", b)
  /\ role[b] # "Down"
  /\ ctl.master \notin {b, None}     \* while there is none, brokers ask for one and change nothing
  /\ known[b] < ctl.epoch

  /\ role' = [role EXCEPT ![b] = "Slave"]
  /\ known' = [known EXCEPT ![b] = ctl.epoch]
  /\ received' = [received EXCEPT ![b] = 0]
  /\ link' = WithoutLinksTo(b, NoLink)
  /\ UNCHANGED <<ctl, inc, logVars, epochVars, ghostActed>>

\* The flush service writes the log through to the disk.
Flush(b) ==
  /\ Explored("Flush", b)
  /\ role[b] # "Down"
  /\ flushed[b] < Len(log[b])

  /\ flushed' = [flushed EXCEPT ![b] = Len(log[b])]
  /\ UNCHANGED <<ctl, role, known, inc, log, disk, epochVars, received, link, ghostActed>>

\* Power cut: of the unflushed tail any prefix survives; k records are left.
Crash(b, k) ==
  /\ Explored("Crash", b)
  /\ role[b] # "Down"
  /\ k \in flushed[b]..Len(disk[b])

  /\ \E file \in SurvivingEpochs(epochsDisk[b]) :
       /\ epochs' = [epochs EXCEPT ![b] = WithEnds(file)]
       /\ epochsDisk' = [epochsDisk EXCEPT ![b] = file]
  /\ log' = [log EXCEPT ![b] = Prefix(disk[b], k)]
  /\ disk' = [disk EXCEPT ![b] = Prefix(@, k)]
  /\ flushed' = [flushed EXCEPT ![b] = k]
  /\ role' = [role EXCEPT ![b] = "Down"]
  /\ known' = [known EXCEPT ![b] = 0]
  /\ received' = [received EXCEPT ![b] = 0]
  /\ inc' = [inc EXCEPT ![b] = @ + 1]
  /\ link' = WithoutLinksTo(b, NoLink)
  /\ UNCHANGED <<ctl, ghostActed>>

\* While a broker is down, an operator or its disk loses what was flushed, but for k records.
LoseLog(b, k) ==
  /\ Explored("LoseLog", b)
  /\ role[b] = "Down"
  /\ k \in 0..(Len(log[b]) - 1)

  /\ log' = [log EXCEPT ![b] = Prefix(@, k)]
  /\ disk' = [disk EXCEPT ![b] = Prefix(@, k)]
  /\ flushed' = [flushed EXCEPT ![b] = k]
  /\ UNCHANGED <<ctl, role, known, inc, epochVars, received, link, ghostActed>>

\* The broker comes back as a slave and makes its epoch cache fit its log.
Restart(b) ==
  /\ Explored("Restart", b)
  /\ role[b] = "Down"

  /\ LET q == RecoverEpochs(epochs[b], Len(log[b]))
     IN /\ epochs' = [epochs EXCEPT ![b] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![b] = StoredEpochs(@, q)]
        /\ known' = [known EXCEPT ![b] = KnownAtRestart(q)]
  /\ role' = [role EXCEPT ![b] = "Slave"]
  /\ UNCHANGED <<ctl, inc, logVars, received, link, ghostActed>>

\* ---- Actions of the master ----

\* A producer's message is appended (putMessage); a zombie does not know better.
PutMessage(m) ==
  /\ Explored("PutMessage", m)
  /\ role[m] = "Master"

  /\ log' = [log EXCEPT ![m] = Append(@, known[m])]
  /\ disk' = [disk EXCEPT ![m] = Written(@, log'[m])]
  /\ UNCHANGED <<ctl, role, known, inc, flushed, epochVars, received, link, ghostActed>>

\* The master answers a slave's handshake request with its epoch cache and its log end.
Handshake(m, s) ==
  /\ Explored("Handshake", s)
  /\ m # s
  /\ MayAnswer(m)
  /\ role[m] # "Down"
  /\ role[s] = "Slave"
  /\ link[s] = NoLink

  /\ LET reply == [type |-> "Handshake", epoch |-> LastEpoch(epochs[m]), offset |-> Len(log[m]),
                   entries |-> Starts(epochs[m])]
     IN link' = [link EXCEPT ![s] =
                   [peer |-> m, open |-> TRUE, phase |-> "Handshake", down |-> <<reply>>,
                    reported |-> -1, ack |-> -1, next |-> -1, cur |-> NoEntry]]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, ghostActed>>

\* The master hears that the slave has the log up to a; the first report starts the transfer.
ReceiveAck(m, s, a) ==
  /\ Linked(s, m)
  /\ link[s].phase = "Transfer"
  /\ a \in (IF link[s].ack = -1 THEN link[s].reported ELSE link[s].ack)..link[s].reported

  /\ link' = [link EXCEPT ![s] =
                IF @.next # -1 THEN [@ EXCEPT !.ack = a]
                ELSE [@ EXCEPT !.ack = a, !.next = a, !.cur = EpochAt(epochs[m], a)]]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, ghostActed>>

\* The master sends the next n records, all of one epoch; n = 0 is a heartbeat.
Transfer(m, s, n) ==
  /\ Explored("Transfer", s)
  /\ Linked(s, m)
  /\ link[s].next # -1
  /\ link[s].cur # NoEntry
  /\ n \in 0..(BatchLimit(m, link[s].cur) - link[s].next)

  /\ LET l == link[s]
         entry == BatchEntry(m, l.cur, l.next, n)
         batch == [type |-> "Transfer", epoch |-> entry.e, start |-> entry.s, offset |-> l.next,
                   recs |-> SubSeq(log[m], l.next + 1, l.next + n)]
     IN link' = [link EXCEPT ![s].down = Append(@, batch),
                             ![s].next = l.next + n,
                             ![s].cur = AdvancedEntry(@, epochs[m], l.next + n)]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, ghostActed>>

-----------------------------------------------------------------------------
\* ---- Actions of the slave ----

\* The slave cuts its log and its cache at the consistent point and reports its log end
\* (AutoSwitchHAClient.doTruncate).
ReceiveHandshake(s) ==
  /\ link[s] # NoLink
  /\ link[s].phase = "Handshake"
  /\ link[s].down # <<>>
  /\ MayFollow(s, Head(link[s].down).epoch)

  /\ LET reply == Head(link[s].down)
         cp == ConsistentPoint(epochs[s], Len(log[s]), reply.entries, reply.offset)
         q == TruncateSuffixByOffset(epochs[s], cp)
     IN /\ log' = [log EXCEPT ![s] = Prefix(@, Min(cp, Len(@)))]
        /\ disk' = [disk EXCEPT ![s] = IF cp < Len(log[s]) THEN TruncatedDisk(@, cp) ELSE @]
        /\ \E f \in TruncatedFlushed(s, cp) : flushed' = [flushed EXCEPT ![s] = f]
        /\ epochs' = [epochs EXCEPT ![s] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![s] = StoredEpochs(@, q)]
        /\ received' = [received EXCEPT ![s] = ReceivedAfterHandshake(s, q)]
        /\ known' = [known EXCEPT ![s] = reply.epoch]
        /\ link' = [link EXCEPT ![s].phase = "Transfer",
                                ![s].down = Tail(@),
                                ![s].reported = ReportAfterTruncate(cp, Len(log'[s]))]
  /\ UNCHANGED <<ctl, role, inc, ghostActed>>

\* The slave appends a batch, notes its epoch if that is new to it, and reports its log end.
ReceiveTransfer(s) ==
  /\ link[s] # NoLink
  /\ link[s].phase = "Transfer"
  /\ link[s].down # <<>>
  /\ Continues(Head(link[s].down), log[s])

  /\ LET batch == Head(link[s].down)
         q == IF batch.epoch = received[s] THEN epochs[s]
              ELSE AppendEpoch(epochs[s], batch.epoch, batch.start)
     IN /\ log' = [log EXCEPT ![s] = @ \o batch.recs]
        /\ disk' = [disk EXCEPT ![s] = Written(@, log'[s])]
        /\ epochs' = [epochs EXCEPT ![s] = q]
        /\ epochsDisk' = [epochsDisk EXCEPT ![s] = StoredEpochs(@, q)]
        /\ received' = [received EXCEPT ![s] = batch.epoch]
        /\ known' = [known EXCEPT ![s] = KnownAfterBatch(s, batch.epoch)]
        /\ link' = [link EXCEPT ![s].down = Tail(@), ![s].reported = Len(log'[s])]
  /\ UNCHANGED <<ctl, role, inc, flushed, ghostActed>>

\* The slave hears that its master was elected again, perhaps before that one does, and keeps its
\* connection, if it has one, even one that its master has closed meanwhile: it sees that later
\* (ReplicasManager.changeToSlave, AutoSwitchHAService.changeToSlaveWhenMasterNotChange).  Who
\* cannot tell that it is the same master drops it: BecomeSlave.
LearnEpoch(s) ==
  /\ Explored("LearnEpoch", s)
  /\ role[s] = "Slave"
  /\ ctl.master \notin {s, None}
  /\ known[s] < ctl.epoch
  /\ MayKeepLink(s)

  /\ known' = [known EXCEPT ![s] = ctl.epoch]
  /\ UNCHANGED <<ctl, role, inc, logVars, epochVars, received, link, ghostActed>>

\* The slave sees its connection closed, or closes it; what was in flight is lost.
Disconnect(s) ==
  /\ Explored("Disconnect", s)
  /\ link[s] # NoLink

  /\ link' = [link EXCEPT ![s] = NoLink]
  /\ UNCHANGED <<ctl, role, known, inc, logVars, epochVars, received, ghostActed>>

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
EpochPerIncarnation == ghostActed <= 1

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
Init ==
  /\ ctl = [master |-> None, epoch |-> 0]
  /\ role = [b \in Broker |-> "Slave"]
  /\ known = [b \in Broker |-> 0]
  /\ inc = [b \in Broker |-> 0]
  /\ log = [b \in Broker |-> <<>>]
  /\ epochs = [b \in Broker |-> <<>>]
  /\ received = [b \in Broker |-> 0]
  /\ disk = [b \in Broker |-> <<>>]
  /\ flushed = [b \in Broker |-> 0]
  /\ epochsDisk = [b \in Broker |-> <<>>]
  /\ link = [b \in Broker |-> NoLink]
  /\ ghostActed = 0

Next ==
  \/ \E b \in Broker : ElectMaster(b)
  \/ ElectNobody
  \/ \E b \in Broker : BecomeMaster(b)
  \/ \E b \in Broker : BecomeSlave(b)
  \/ \E b \in Broker : Flush(b)
  \/ \E b \in Broker, k \in Nat : Crash(b, k)
  \/ \E b \in Broker, k \in Nat : LoseLog(b, k)
  \/ \E b \in Broker : Restart(b)
  \/ \E m \in Broker : PutMessage(m)
  \/ \E m, s \in Broker : Handshake(m, s)
  \/ \E m, s \in Broker, a \in Nat : ReceiveAck(m, s, a)
  \/ \E m, s \in Broker, n \in Nat : Transfer(m, s, n)
  \/ \E s \in Broker : ReceiveHandshake(s)
  \/ \E s \in Broker : ReceiveTransfer(s)
  \/ \E s \in Broker : LearnEpoch(s)
  \/ \E s \in Broker : Disconnect(s)

Spec == Init /\ [][Next]_vars

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
